import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { hasRedis, privateRedis } from '../../../test/support/servers/redis.ts';
import { delayedPort } from '../../../test/support/upstream/delayed-port.ts';
import { connectRedis, redisScript } from './redis.ts';

const script = redisScript('return 7');

describe('a connection to Redis', { skip: !hasRedis }, () => {
  const redis = privateRedis();

  it('is given up when nothing is answered on it, however much is sent', async (t) => {
    const ownPort = Number(new URL(redis.url).port);
    const port = await delayedPort(() => ownPort);
    t.after(port.close);
    const errors: string[] = [];
    let ready = 0;
    const connection = await connectRedis({
      url: `redis://127.0.0.1:${port.port}`,
      onError: ({ message }) => void errors.push(message),
      onReady() {
        ready += 1;
      },
      silenceMs: 1_000,
    });
    t.after(connection.close);
    assert.equal(await connection.run(script, [], []), 7);
    port.silence();
    let answered = 0;
    let failed = 0;
    await waitFor('an answer after the silence', async () => {
      connection.run(script, [], []).then(
        () => (answered += 1),
        () => (failed += 1),
      );
      await delay(50);
      return answered > 0;
    });
    assert.equal(ready, 2);
    assert.match(errors.join(), /has not answered for 1 s/);
    assert.ok(failed > 0, 'what was sent on the silent connection fails');
  });
});
