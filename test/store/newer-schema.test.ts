import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import postgres from 'postgres';
import { migrations } from '../../src/store/migrations/index.ts';
import { migratePostgres } from '../../src/store/postgres/migrate.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { startGateway, waitFor } from '../support/gateway/gateway.ts';
import { postgresServer } from '../support/store/engines.ts';

const SECRET = 'kJ8vQ2mX5nR7tY1wE4zA6bC9dF3gH0jL';
const demo = { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] };

/** What a next version does to the schema, as versions may: it adds. */
const next = {
  '9999-next': {
    async up(db) {
      await db.schema.alterTable('requests').addColumn('added', 'text').execute();
      await db.schema.alterTable('keys').addColumn('added', 'text').execute();
      await db.schema
        .createTable('added')
        .addColumn('id', 'text', (column) => column.primaryKey())
        .execute();
    },
  },
} satisfies typeof migrations;

describe('migrations', () => {
  it('only add, so that gateways of the version before go on beside them', () => {
    const folder = join(import.meta.dirname, '../../src/store/migrations');
    for (const file of readdirSync(folder).filter((name) => /^\d{4}-.*\.ts$/.test(name))) {
      const text = readFileSync(join(folder, file), 'utf8');
      assert.doesNotMatch(
        text,
        /\b(?:dropTable|dropColumn|renameColumn|renameTo)\b|\bdrop (?:table|column)\b|\brename (?:column|to)\b/i,
        file,
      );
    }
  });
});

describe('a gateway whose database a newer version has brought up to date', { skip: !hasPostgres }, () => {
  const server = postgresServer();

  it('goes on until it ends, and does not start again', async (test) => {
    const url = await server.database();
    const gateway = await startGateway({ env: { DATABASE_URL: url, STORAGE_ENCRYPTION_KEY: SECRET } });
    test.after(() => gateway.stop());
    assert.equal((await gateway.ask('/v1/chat/completions', demo)).status, 200);
    const sql = postgres(url, { max: 1, onnotice: () => {} });
    try {
      await migratePostgres({
        sql,
        place: 'the database of the test',
        now: Date.now(),
        create: false,
        migrations: { ...migrations, ...next },
      });
      const reply = await gateway.ask('/v1/chat/completions', demo);
      assert.equal(reply.status, 200, reply.text);
      const recorded = async () => {
        const rows = await sql`select outcome from requests where id = ${reply.header('x-request-id') ?? ''}`;
        return rows[0]?.['outcome'] === 'ok';
      };
      await waitFor('its record', recorded);
      const made = await gateway.manage('POST', '/api/keys', { name: 'later' });
      assert.equal(made.status, 200, made.text);
      const [{ key } = { key: '' }] = (made.json() as { results: { key: string }[] }).results;
      const authorization = `Bearer ${key}`;
      await waitFor(
        'the key',
        async () => (await gateway.ask('/v1/chat/completions', demo, { authorization })).status === 200,
      );
      const ready = await gateway.send({ method: 'GET', path: '/readyz' });
      assert.equal(ready.status, 200, ready.text);
      await gateway.stopServing();
      await assert.rejects(gateway.restart(), /written by a newer Modelgate.*9999-next/s);
      // As it has to be for the older version.
      await sql`delete from kysely_migration where name = '9999-next'`;
      await gateway.restart();
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
});
