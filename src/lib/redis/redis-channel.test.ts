import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { waitFor } from '../../../test/support/gateway/gateway.ts';
import { hasRedis, privateRedis } from '../../../test/support/servers/redis.ts';
import { delayedPort } from '../../../test/support/upstream/delayed-port.ts';
import { openRedisChannel } from './redis-channel.ts';

describe('a channel of Redis', { skip: !hasRedis }, () => {
  const redis = privateRedis();

  it('gives up a connection that answers no more, however much is sent on it', async (t) => {
    const ownPort = Number(new URL(redis.url).port);
    const port = await delayedPort(() => ownPort);
    t.after(port.close);
    const heard: string[] = [];
    let listening = 0;
    const open = (at: number, onMessage: (text: string) => void) =>
      openRedisChannel({
        url: `redis://127.0.0.1:${at}`,
        channel: 'test',
        onMessage,
        onListening() {
          listening += 1;
        },
        silenceMs: 1_000,
      });
    const sender = await open(port.port, () => {});
    t.after(sender.close);
    const hearer = await open(ownPort, (text) => void heard.push(text));
    t.after(hearer.close);
    await waitFor('both to listen', () => listening === 2);
    await waitFor('a first message', () => {
      sender.send('before');
      return heard.includes('before');
    });
    port.silence();
    await waitFor('a message after the silence', () => {
      sender.send('after');
      return heard.includes('after');
    });
    assert.equal(heard.at(-1), 'after');
  });
});
