import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type RotateInput, rotateStorageKey } from '../../src/cli/storage/rotate-key.ts';
import { createKeyFile, deriveKeys, seal, storageKey } from '../../src/connections/credentials/seal.ts';
import {
  existingStorageKey,
  noteKey,
  settleKeyChange,
  usableStorageKey,
} from '../../src/connections/credentials/storage-key.ts';
import { connectionStore } from '../../src/connections/store.ts';
import { countEncrypted } from '../../src/responses/encrypted-responses.ts';
import { columns, contentOf, createResponseEncryption } from '../../src/responses/row.ts';
import { acquireDataDir } from '../../src/store/lock.ts';
import { openStoreAt, type StorePlace } from '../../src/store/open.ts';
import { openOutbox } from '../../src/store/postgres/outbox.ts';
import { hasPostgres } from '../support/brokers/postgres.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { runScript } from '../support/machine/process.ts';
import { postgresServer } from '../support/store/engines.ts';

const first = 'Zmlyc3Qgc2VjcmV0IG9mIHRoZSB0ZXN0';
const second = 'c2Vjb25kIHNlY3JldCBvZiB0aGUgdGVzdA';

/** Two credentials and thirty kept responses. */
async function fill(place: StorePlace, secret: string | null): Promise<void> {
  const store = await openStoreAt(place, { follow: false });
  const key = await usableStorageKey(store, { dataDir: place.dataDir, secret });
  const connections = connectionStore(store, key.key);
  for (const name of ['one', 'two'])
    await connections.add({
      provider: 'openai',
      name,
      baseUrl: null,
      defaultModel: null,
      apiKey: `sk-of-${name}`,
    });
  const sealing = createResponseEncryption(key.responses);
  for (let number = 0; number < 30; number += 1) {
    const content = contentOf({
      id: `resp_${number}`,
      createdAt: 1,
      keyId: 'k',
      connectionId: 'c',
      model: 'm',
      previousId: null,
      input: [`question ${number}`],
      response: { text: 'answer' },
    });
    const row = sealing.seal(content);
    await store.insertMany('responses', columns, [columns.map((column) => row[column])]);
  }
  await store.db
    .insertInto('idempotency')
    .values({ user_id: 'u', name: 'n', fingerprint: 'f', answer: seal(key.key, '{}', 'x'), created_at: 1 })
    .execute();
  await store.close();
}

/** What can be opened, by a process that only reads. */
async function readable(place: StorePlace, secret: string | null) {
  const store = await openStoreAt(place, { create: false, follow: false });
  try {
    const { key, responses, source } = await existingStorageKey(store, { dataDir: place.dataDir, secret });
    const open = await connectionStore(store, key).listOpen();
    const rows = await store.db.selectFrom('responses').selectAll().execute();
    const sealing = createResponseEncryption(responses);
    return {
      source,
      credentials: open.map(({ credential }) => credential).sort(),
      responses: rows.filter((row) => sealing.open(row) !== null).length,
      strange: (await countEncrypted(store, responses.name)).unreadable,
    };
  } finally {
    await store.close();
  }
}

const all = { credentials: ['sk-of-one', 'sk-of-two'], responses: 30, strange: 0 };

function rotate(place: StorePlace, more: Partial<RotateInput> = {}) {
  return rotateStorageKey({
    ...place,
    secret: null,
    oldSecret: null,
    version: 'test',
    now: Date.now(),
    owner: () => null,
    progress: () => {},
    ...more,
  });
}

/** @param at makes the place of a state */
function changesOfTheKey(at: (test: TestContext) => Promise<StorePlace>): void {
  /** A key in a file, which gateways that share a database do not make. */
  async function withKeyFile(test: TestContext): Promise<StorePlace> {
    const place = await at(test);
    if (place.database !== null) await storageKey(place.dataDir, null);
    await fill(place, null);
    return place;
  }
  async function withSecret(test: TestContext, secret: string): Promise<StorePlace> {
    const place = await at(test);
    await fill(place, secret);
    return place;
  }

  it('leaves one key that decrypts everything when killed at any step, and can be repeated', async (test) => {
    const place = await withKeyFile(test);
    const file = join(place.dataDir, 'storage.key');
    for (const step of ['backup', 'key', 'encrypt', 'commit', 'place', 'done']) {
      const before = readFileSync(file, 'utf8');
      const script = runScript(
        test,
        import.meta.dirname,
        `const { rotateStorageKey } = await import('../../src/cli/storage/rotate-key.ts');
         await rotateStorageKey({
           ...${JSON.stringify(place)}, secret: null, oldSecret: null, version: 'test', now: Date.now(), owner: () => null,
           async progress(step) { if (step === '${step}') { say(step); await new Promise(() => setInterval(() => {}, 1000)); } },
         });`,
      );
      assert.equal(await script.line(), step);
      await script.kill();
      assert.deepEqual(await readable(place, null), { source: 'file', ...all }, step);
      // As the next start does, which holds the lock.
      const { backup, ...counts } = await rotate(place);
      assert.deepEqual(counts, { source: 'file', credentials: 2, responses: 30 });
      assert.equal(existsSync(backup), true);
      assert.deepEqual(await readable(place, null), { source: 'file', ...all });
      assert.notEqual(readFileSync(file, 'utf8'), before);
      assert.equal(existsSync(`${file}.next`), false);
    }
  });

  it('changes from the file to a secret and back, and from one secret to another', async (test) => {
    const place = await withKeyFile(test);
    const file = join(place.dataDir, 'storage.key');
    await rotate(place, { secret: first });
    assert.equal(existsSync(file), false, 'the old key is of no use');
    assert.deepEqual(await readable(place, first), { source: 'environment', ...all });
    await rotate(place, { secret: second, oldSecret: first });
    assert.deepEqual(await readable(place, second), { source: 'environment', ...all });
    assert.deepEqual((await readable(place, first)).credentials, [null, null]);
    await rotate(place, { oldSecret: second });
    assert.deepEqual(await readable(place, null), { source: 'file', ...all });
  });

  it('accepts a weak secret as the old one', async (test) => {
    const place = await withSecret(test, 'x');
    await rotate(place, { secret: first, oldSecret: 'x' });
    assert.deepEqual(await readable(place, first), { source: 'environment', ...all });
  });

  it('changes nothing with a wrong old key, without one, with the same one, and beside a gateway', async (test) => {
    const place = await withSecret(test, first);
    const refused = async (code: string, more: Partial<RotateInput>) => {
      await assert.rejects(rotate(place, more), { code });
      assert.deepEqual(await readable(place, first), { source: 'environment', ...all });
      assert.equal(existsSync(join(place.dataDir, 'storage.key.next')), false);
    };
    await refused('conflict', { secret: null, oldSecret: second });
    await refused('invalid_request', { secret: second });
    await refused('invalid_request', { secret: first, oldSecret: first });
    const lock = await acquireDataDir(place.dataDir);
    await refused('invalid_request', { secret: second, oldSecret: first });
    lock.release();
    await rotate(place, { secret: second, oldSecret: first });
  });
}

describe('a change of the storage key', () => {
  changesOfTheKey(async (test) => ({ dataDir: temporaryFolder(test), database: null }));
});

describe('a change of the storage key of a database on a server', { skip: !hasPostgres }, () => {
  const postgres = postgresServer();
  const at = async (test: TestContext) => ({
    dataDir: temporaryFolder(test),
    database: await postgres.database(),
  });
  changesOfTheKey(at);

  const change = { secret: second, oldSecret: first };
  const opened = async (test: TestContext, place: StorePlace) => {
    const store = await openStoreAt(place, { follow: false });
    test.after(() => store.close());
    return store;
  };

  it('is refused while a gateway runs, also one that started just before the change', async (test) => {
    const place = await at(test);
    await fill(place, first);
    const { db } = await opened(test, { ...place, dataDir: temporaryFolder(test) });
    const seen = { host: 'h', url: 'http://h:1', version: '1', started_at: 1, seen_at: Date.now() };
    const enter = () =>
      db
        .insertInto('nodes')
        .values({ id: 'n', ...seen })
        .execute();
    await enter();
    const expected = { code: 'conflict', message: /Gateways run on .*http:\/\/h:1/ };
    await assert.rejects(rotate(place, change), expected);
    await db.deleteFrom('nodes').execute();
    const late = async (step: string) => void (step === 'key' && (await enter()));
    await assert.rejects(rotate(place, { ...change, progress: late }), expected);
    assert.deepEqual(await readable(place, first), { source: 'environment', ...all });
  });

  it('keeps a gateway with the old key from starting, also one that starts meanwhile', async (test) => {
    const place = await at(test);
    await fill(place, first);
    const other = { dataDir: temporaryFolder(test), secret: first };
    const store = await opened(test, { ...place, dataDir: other.dataDir });
    const refusal = {
      code: 'invalid_request',
      message: /is not the key that the database is encrypted with/,
    };
    const starting: Promise<void>[] = [];
    const progress = (step: string) => {
      if (step === 'commit') starting.push(assert.rejects(usableStorageKey(store, other), refusal));
    };
    await rotate(place, { ...change, progress });
    assert.equal(starting.length, 1);
    await Promise.all(starting);
    await usableStorageKey(store, { ...other, secret: second });
  });

  it('completes when the connection was lost while the server committed its transaction', async (test) => {
    const place = await at(test);
    const { dataDir } = place;
    await storageKey(dataDir, null);
    await fill(place, null);
    const [store, other] = [await opened(test, place), await opened(test, place)];
    const next = `${first}${second}`;
    createKeyFile(join(dataDir, 'storage.key.next'), next);
    const held = Promise.withResolvers<void>();
    const noted = Promise.withResolvers<void>();
    const ending = other.db.transaction().execute(async (trx) => {
      await noteKey(trx, deriveKeys(next).responses.name);
      noted.resolve();
      await held.promise;
    });
    await noted.promise;
    const settling = settleKeyChange(store, dataDir);
    // As long as it would take without waiting.
    await existingStorageKey(store, { dataDir, secret: null });
    held.resolve();
    await ending;
    await settling;
    assert.equal(readFileSync(join(dataDir, 'storage.key'), 'utf8'), next);
  });

  it('is refused while records wait on the disk, which are encrypted with the old key', async (test) => {
    const place = await at(test);
    await fill(place, first);
    const outbox = openOutbox(place.dataDir);
    outbox.put({ table: 'responses', columns: ['id'], rows: [['a']] });
    outbox.close();
    await assert.rejects(rotate(place, change), { code: 'conflict', message: /wait in .*outbox\.db/ });
    assert.deepEqual(await readable(place, first), { source: 'environment', ...all });
  });
});
