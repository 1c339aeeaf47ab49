import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { startGateway, waitFor } from '../support/gateway/gateway.ts';
import { startHttpReceiver } from '../support/servers/http-receiver.ts';
import { hasRedis, privateRedis } from '../support/servers/redis.ts';
import { postgresServer } from '../support/store/engines.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';

describe('outages of what gateways share', { skip: !hasPostgres || !hasRedis }, () => {
  const postgres = postgresServer();
  const redis = privateRedis();

  it('reach an alert while they last, and when they are over', async (t) => {
    const receiver = await startHttpReceiver();
    t.after(() => receiver.close());
    const database = await postgres.database();
    const env = {
      DATABASE_URL: database,
      REDIS_URL: redis.url,
      STORAGE_ENCRYPTION_KEY: SECRET,
      EVENTS_PRIVATE_NETWORKS: 'true',
    };
    const gateway = await startGateway({ env });
    t.after(() => gateway.stop());
    const on = ['store.*', 'limits.*'];
    const alert = { kind: 'webhook', target: receiver.url, on, digest_seconds: 0 };
    const made = await gateway.manage('POST', '/api/alerts', alert);
    assert.equal(made.status, 200, made.text);
    const received = (name: string) =>
      receiver.received.find(({ headers }) => headers['ce-type'] === `io.modelgate.${name}.v1`);
    const seen = (name: string) => waitFor(name, () => received(name) !== undefined);
    const measured = async () => (await gateway.manage('GET', '/metrics')).text;

    await redis.kill();
    await seen('limits.degraded');
    assert.match(await measured(), /^modelgate_shared_limits_up 0$/m);
    await redis.start();
    await seen('limits.recovered');
    await postgres.server().kill();
    await seen('store.degraded');
    assert.match(await measured(), /^modelgate_store_up 0$/m);
    await postgres.server().start();
    await seen('store.recovered');

    const ajv = new Ajv2020({ strict: true });
    addFormats.default(ajv);
    for (const { body, headers } of receiver.received) {
      const schema = await gateway.manage('GET', `/api/events/schemas/${headers['ce-type']}`);
      const validate =
        ajv.getSchema(String(headers['ce-dataschema'])) ?? ajv.compile(JSON.parse(schema.text));
      assert.equal(validate(JSON.parse(body)), true, `${headers['ce-type']}: ${body}`);
    }
    const all = JSON.stringify(receiver.received);
    for (const secret of [SECRET, database, redis.url]) assert.equal(all.includes(secret), false, secret);
  });
});
