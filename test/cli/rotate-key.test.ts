import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type RotateInput, rotateStorageKey } from '../../src/cli/storage/rotate-key.ts';
import { seal } from '../../src/connections/credentials/seal.ts';
import { existingStorageKey, usableStorageKey } from '../../src/connections/credentials/storage-key.ts';
import { connectionStore } from '../../src/connections/store.ts';
import { countKept } from '../../src/responses/kept.ts';
import { columns, contentOf, createSealing } from '../../src/responses/row.ts';
import { openStore } from '../../src/store/database.ts';
import { acquireDataDir } from '../../src/store/lock.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runScript } from '../support/process.ts';

const first = 'Zmlyc3Qgc2VjcmV0IG9mIHRoZSB0ZXN0';
const second = 'c2Vjb25kIHNlY3JldCBvZiB0aGUgdGVzdA';

/** A data directory with two credentials and thirty kept responses. */
async function filled(dataDir: string, secret: string | null): Promise<void> {
  const store = await openStore(dataDir);
  const key = await usableStorageKey(store, { dataDir, secret });
  const connections = connectionStore(store, key.key);
  for (const name of ['one', 'two'])
    await connections.add({
      provider: 'openai',
      name,
      baseUrl: null,
      defaultModel: null,
      apiKey: `sk-of-${name}`,
    });
  const sealing = createSealing(key.responses);
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
    store.insertMany('responses', columns, [columns.map((column) => row[column])]);
  }
  await store.db
    .insertInto('idempotency')
    .values({ user_id: 'u', name: 'n', fingerprint: 'f', answer: seal(key.key, '{}', 'x'), created_at: 1 })
    .execute();
  await store.close();
}

/** What can be opened, by a process that only reads. */
async function readable(dataDir: string, secret: string | null) {
  const store = await openStore(dataDir, { create: false });
  try {
    const { key, responses, source } = await existingStorageKey(store, { dataDir, secret });
    const open = await connectionStore(store, key).listOpen();
    const rows = await store.db.selectFrom('responses').selectAll().execute();
    const sealing = createSealing(responses);
    return {
      source,
      credentials: open.map(({ credential }) => credential).sort(),
      responses: rows.filter((row) => sealing.open(row) !== null).length,
      strange: (await countKept(store, responses.name)).unreadable,
    };
  } finally {
    await store.close();
  }
}

const all = { credentials: ['sk-of-one', 'sk-of-two'], responses: 30, strange: 0 };

function rotate(dataDir: string, more: Partial<RotateInput> = {}) {
  return rotateStorageKey({
    dataDir,
    secret: null,
    oldSecret: null,
    version: 'test',
    now: Date.now(),
    owner: () => null,
    progress: () => {},
    ...more,
  });
}

async function directory(test: TestContext, secret: string | null): Promise<string> {
  const dataDir = temporaryFolder(test);
  await filled(dataDir, secret);
  return dataDir;
}

describe('a change of the storage key', () => {
  it('killed at any step leaves one key that opens everything, and can be begun again', async (test) => {
    const dataDir = await directory(test, null);
    const file = join(dataDir, 'storage.key');
    for (const step of ['backup', 'key', 'encrypt', 'commit', 'place', 'done']) {
      const before = readFileSync(file, 'utf8');
      const script = runScript(
        test,
        import.meta.dirname,
        `const { rotateStorageKey } = await import('../../src/cli/storage/rotate-key.ts');
         await rotateStorageKey({
           dataDir: ${JSON.stringify(dataDir)}, secret: null, oldSecret: null, version: 'test', now: Date.now(),
           owner: () => null,
           async progress(step) { if (step === '${step}') { say(step); await new Promise(() => setInterval(() => {}, 1000)); } },
         });`,
      );
      assert.equal(await script.line(), step);
      await script.kill();
      assert.deepEqual(await readable(dataDir, null), { source: 'file', ...all }, step);
      // As the next start does, which holds the lock.
      const { backup, ...counts } = await rotate(dataDir);
      assert.deepEqual(counts, { source: 'file', credentials: 2, responses: 30 });
      assert.equal(existsSync(backup), true);
      assert.deepEqual(await readable(dataDir, null), { source: 'file', ...all });
      assert.notEqual(readFileSync(file, 'utf8'), before);
      assert.equal(existsSync(`${file}.next`), false);
    }
  });

  it('goes between the file and a secret, and from one secret to another', async (test) => {
    const dataDir = await directory(test, null);
    const file = join(dataDir, 'storage.key');
    await rotate(dataDir, { secret: first });
    assert.equal(existsSync(file), false, 'the old key is of no use');
    assert.deepEqual(await readable(dataDir, first), { source: 'environment', ...all });
    await rotate(dataDir, { secret: second, oldSecret: first });
    assert.deepEqual(await readable(dataDir, second), { source: 'environment', ...all });
    assert.deepEqual((await readable(dataDir, first)).credentials, [null, null]);
    await rotate(dataDir, { oldSecret: second });
    assert.deepEqual(await readable(dataDir, null), { source: 'file', ...all });
  });

  it('takes a weak secret as the old one', async (test) => {
    const dataDir = await directory(test, 'x');
    await rotate(dataDir, { secret: first, oldSecret: 'x' });
    assert.deepEqual(await readable(dataDir, first), { source: 'environment', ...all });
  });

  it('changes nothing with a wrong old key, without one, with the same one, and beside a gateway', async (test) => {
    const dataDir = await directory(test, first);
    const refused = async (code: string, more: Partial<RotateInput>) => {
      await assert.rejects(rotate(dataDir, more), { code });
      assert.deepEqual(await readable(dataDir, first), { source: 'environment', ...all });
      assert.equal(existsSync(join(dataDir, 'storage.key.next')), false);
    };
    await refused('conflict', { secret: null, oldSecret: second });
    await refused('invalid_request', { secret: second });
    await refused('invalid_request', { secret: first, oldSecret: first });
    const lock = await acquireDataDir(dataDir);
    await refused('invalid_request', { secret: second, oldSecret: first });
    lock.release();
    await rotate(dataDir, { secret: second, oldSecret: first });
  });
});
