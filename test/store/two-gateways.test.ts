import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { type RunningGateway, startGateway, waitFor } from '../support/gateway/gateway.ts';
import { postgresServer } from '../support/store/engines.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const demo = { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] };

describe('two gateways on one PostgreSQL database', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();

  it('serve the same keys, connections and ledger', async (test) => {
    const env = { DATABASE_URL: await postgres.database(), STORAGE_ENCRYPTION_KEY: SECRET };
    const start = async (keyName: string): Promise<RunningGateway> => {
      const gateway = await startGateway({ env, keyName });
      test.after(() => gateway.stop());
      return gateway;
    };
    const one = await start('first');
    const other = await start('second');
    const asked = (gateway: RunningGateway, key: string) =>
      gateway.ask('/v1/chat/completions', demo, { authorization: `Bearer ${key}` });
    assert.equal((await asked(one, one.key)).status, 200);
    assert.equal((await asked(other, one.key)).status, 200, 'made before its start');
    await waitFor('the key of the other', async () => (await asked(one, other.key)).status === 200);
    const reply = await one.manage('POST', '/api/keys', { name: 'third' });
    const [made] = (reply.json() as { results: { id: string; key: string }[] }).results;
    assert.ok(made, reply.text);
    await waitFor('a key made over there', async () => (await asked(other, made.key)).status === 200);
    await other.manage('DELETE', `/api/keys/${made.id}`);
    await waitFor('its removal', async () => (await asked(one, made.key)).status === 401);
    const rows = await other.entries();
    assert.ok(new Set(rows.map(({ key_name }) => key_name)).size >= 2, 'one ledger');
    const before = rows.length;
    await postgres.server().kill();
    for (const gateway of [one, other]) assert.equal((await asked(gateway, gateway.key)).status, 200);
    await waitFor('the outage', () => one.output().stderr.includes('the database does not answer'));
    const ready = await one.send({ method: 'GET', path: '/readyz' });
    assert.equal(ready.status, 200, ready.text);
    const measured = async () => (await one.manage('GET', '/metrics')).text;
    assert.match(await measured(), /^modelgate_store_up 0$/m);
    const refused = await one.manage('POST', '/api/keys', { name: 'fourth' });
    assert.deepEqual([refused.status, /database_unreachable/.test(refused.text)], [503, true], refused.text);
    await postgres.server().start();
    await waitFor('what was asked meanwhile', async () =>
      one.entries().then(
        (all) => all.length >= before + 2,
        () => false,
      ),
    );
    const ids = (await other.entries()).map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, 'each once');
    await waitFor('the end of the outage', async () =>
      [one, other].every((gateway) => gateway.output().stderr.includes('the database answers again')),
    );
    assert.match(await measured(), /^modelgate_store_up 1$/m);
    const everything = [one, other].map((gateway) => JSON.stringify(gateway.output())).join();
    assert.doesNotMatch(everything, new RegExp(SECRET));
  });
});
