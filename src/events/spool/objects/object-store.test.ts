import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { hasPostgres, startPostgres } from '../../../../test/support/brokers/postgres.ts';
import type { PrivateBroker } from '../../../../test/support/brokers/server-process.ts';
import { numberedEvent } from '../../../../test/support/events/event-trigger.ts';
import { temporaryFolder } from '../../../../test/support/machine/folder.ts';
import { type S3Stub, startS3 } from '../../../../test/support/servers/s3.ts';
import { createLog } from '../../../lib/log.ts';
import { openEventDatabase } from '../../database/event-database.ts';
import { createDeadLetters } from '../../dead-letters/store.ts';
import { createTriggerLetters } from '../../dead-letters/trigger-letters.ts';
import { openObjects } from './open-objects.ts';

/** What every distributed storage does, and that dead letters can be kept in it. */

const log = createLog({ level: 'silent', write: () => {}, pretty: false });
const environment: Readonly<Record<string, string>> = {
  AWS_ACCESS_KEY_ID: 'stub-key',
  AWS_SECRET_ACCESS_KEY: 'stub-secret',
};
const folders = { mounted: temporaryFolder({ after }), postgres: temporaryFolder({ after }) };
let s3: S3Stub;
let postgres: PrivateBroker;
before(async () => {
  s3 = await startS3();
  if (hasPostgres) postgres = await startPostgres(folders.postgres);
});
after(() => s3.close());
after(() => postgres?.kill());

const kinds: Readonly<Record<string, { address(prefix: string): string; skip?: boolean }>> = {
  S3: { address: (prefix) => `s3://bucket/${prefix}?endpoint=${encodeURIComponent(s3.url)}` },
  'a folder': { address: (prefix) => `file://${folders.mounted}/${prefix}` },
  PostgreSQL: { address: (prefix) => `${postgres.url}?prefix=${prefix}`, skip: !hasPostgres },
};

for (const [name, { address, skip = false }] of Object.entries(kinds))
  describe(`a distributed storage: ${name}`, { skip }, () => {
    const open = async (t: { after(fn: () => unknown): void }, prefix: string) => {
      const variable = (text: string) => environment[text];
      const store = await openObjects(address(prefix), {
        listening: () => null,
        log,
        now: Date.now,
        variable,
      });
      t.after(() => store.close());
      return store;
    };

    it('creates an object only once, and writes and removes others', async (t) => {
      const store = await open(t, 'objects');
      assert.equal(await store.get('a/1'), null);
      assert.deepEqual(await store.list('a/'), []);
      const made = await Promise.all(['x', 'y', 'z'].map((text) => store.create('a/1', Buffer.from(text))));
      assert.deepEqual(made.toSorted(), ['created', 'exists', 'exists']);
      await store.put('a/2', Buffer.from([0, 255]));
      await store.put('a/2', Buffer.from([1, 0]));
      assert.deepEqual(await store.get('a/2'), Buffer.from([1, 0]));
      for (const key of ['a/4', 'a/3', 'a/10', 'b/1']) await store.create(key, Buffer.alloc(0));
      assert.deepEqual(await store.list('a/'), ['a/1', 'a/10', 'a/2', 'a/3', 'a/4']);
      await store.remove('a/10');
      await store.remove('a/none');
      assert.deepEqual(await store.list('a/'), ['a/1', 'a/2', 'a/3', 'a/4']);
      assert.deepEqual(await (await open(t, 'another')).list('a/'), []);
    });

    it('keeps dead letters that another gateway can list, replay and purge', async (t) => {
      const gateway = () => {
        const database = openEventDatabase(':memory:');
        t.after(() => database.close());
        const objects = open(t, 'letters');
        const store = createDeadLetters({ open: () => database, objects: () => objects, now: Date.now });
        const letters = createTriggerLetters({
          trigger: 'Würfel/1',
          strategy: {
            afterRetries: 1,
            store: { kind: 'storage', storage: { type: 'distributed', bytes: 1_500, whenFull: 'block' } },
          },
          store,
          channel: null,
        });
        return { store, letters };
      };
      const first = gateway();
      const facts = {
        trigger: 'Würfel/1',
        channel: 'main',
        reason: 'exhausted',
        attempts: 2,
        status: null,
        error: 'no\nanswer',
        at: 1_700_000_000_000,
        failures: [{ attempt: 2, at: 1_700_000_000_000, status: null, error: 'no\nanswer' }],
      } as const;
      for (const id of ['1', '2', '1']) await first.letters.keep(numberedEvent(id), facts, `m${id}`);
      const large = { ...numberedEvent('3'), data: Buffer.alloc(1_000) };
      assert.equal(await first.letters.keep(large, facts, 'm3'), 'full');
      const second = gateway();
      const { letters } = await second.store.list({ limit: 9 });
      assert.deepEqual(
        letters.map(({ error, event, failures, reason }) => [
          event?.attributes.id,
          reason,
          error,
          failures[0]?.error,
        ]),
        [
          ['2', 'exhausted', 'no\nanswer', 'no\nanswer'],
          ['1', 'exhausted', 'no\nanswer', 'no\nanswer'],
        ],
      );
      assert.equal(await second.letters.has('main', 'm2'), true);
      assert.deepEqual(
        (await second.store.counts()).map(({ count, trigger }) => [trigger, count]),
        [['Würfel/1', 2]],
      );
      const [one] = letters;
      assert.deepEqual(await first.store.get(one?.id ?? ''), one);
      await second.letters.replays.subscribe('Würfel/1');
      assert.equal(await second.store.replay([one?.id ?? '']), 1);
      assert.equal((await second.letters.replays.receive('Würfel/1', 9, 1_000)).length, 1);
      assert.equal(await first.store.purge({ trigger: 'Würfel/1' }), 1);
      assert.deepEqual(await second.store.counts(), []);
    });
  });
