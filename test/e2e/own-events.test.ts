import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { waitFor } from '../support/gateway.ts';
import { type HttpReceiver, startHttpReceiver } from '../support/http-receiver.ts';
import { firstResult, managed } from '../support/management.ts';

/** The gateway's own events, as a receiver of all of them gets them. */
const managing = managed({ env: { EVENTS_PRIVATE_NETWORKS: 'true' } });
const prompt = 'planted-prompt-that-stays-between-us';

let receiver: HttpReceiver;
before(async () => {
  receiver = await startHttpReceiver();
});
after(() => receiver?.close());

const ask = (model: string) =>
  managing.gateway.ask('/v1/chat/completions', { model, messages: [{ role: 'user', content: prompt }] });
const types = () => new Set(receiver.received.map(({ headers }) => headers['ce-type']));
const arrived = (name: string) => waitFor(`${name}`, () => types().has(`io.modelgate.${name}.v1`));

describe('the gateway’s own events', () => {
  it('cost a gateway nothing whose owner wants none', async () => {
    for (let n = 0; n < 5; n += 1) assert.equal((await ask('demo/echo')).status, 200);
    assert.equal(existsSync(join(managing.gateway.dataDir, 'events.db')), false);
  });

  it('are valid by the schemas that are served, and have no prompt, key, password or token', async () => {
    const { admin, call, gateway } = managing;
    const { token } = admin;
    const body = { kind: 'webhook', target: receiver.url, on: ['*'], digest_seconds: 0 };
    await call('POST', '/api/alerts', { token, body });
    const key = firstResult(await call('POST', '/api/keys', { token, body: { name: 'planted' } }));
    await arrived('key.created');
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    await gateway.ask(
      '/v1/chat/completions',
      { model: 'demo/echo', messages: [{ role: 'user', content: prompt }] },
      { traceparent },
    );
    await ask('demo/none-such');
    const path = `/api/keys/${key['id']}`;
    const rotated = await call('POST', path, { token, body: { action: 'rotate' } });
    await call('DELETE', path, { token });
    await call('GET', '/api/auth', { basic: ['admin', 'planted-wrong-password'] });
    await call('POST', '/api/budgets', {
      token,
      body: { metric: 'requests', limit: 12, period: 'day', soft_percent: 50 },
    });
    for (let n = 0; n < 12; n += 1) await ask('demo/echo');
    const wanted = ['key.created', 'key.rotated', 'key.revoked', 'request.completed', 'request.failed'];
    for (const name of [...wanted, 'auth.refused', 'budget.threshold', 'budget.exceeded'])
      await arrived(name);

    const ajv = new Ajv2020({ strict: true });
    addFormats.default(ajv);
    for (const { body: data, headers } of receiver.received) {
      const schema = await call('GET', `/api/events/schemas/${headers['ce-type']}`, { token });
      assert.equal(schema.status, 200, schema.text);
      const validate =
        ajv.getSchema(String(headers['ce-dataschema'])) ?? ajv.compile(JSON.parse(schema.text));
      assert.equal(validate(JSON.parse(data)), true, `${headers['ce-type']}: ${data}`);
    }
    assert.ok(receiver.received.some(({ headers }) => headers['ce-traceparent'] === traceparent));
    const all = JSON.stringify(receiver.received);
    const secrets = [prompt, gateway.key, String(key['key']), token, 'planted-wrong-password'];
    const fresh = /sk-[A-Za-z0-9]{32}/.exec(rotated.text)?.[0] ?? assert.fail(rotated.text);
    for (const secret of [...secrets, fresh]) assert.equal(all.includes(secret), false, secret);
  });
});
