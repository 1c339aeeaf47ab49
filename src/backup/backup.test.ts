import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { runScript } from '../../test/support/machine/process.ts';
import { storageKey } from '../connections/credentials/seal.ts';
import { connectionStore } from '../connections/store.ts';
import { GatewayError } from '../lib/error.ts';
import { openStore } from '../store/database.ts';
import { acquireDataDir } from '../store/lock.ts';
import { createBackup } from './create.ts';
import { readManifest, unpackBackup } from './read.ts';
import { type RestoreInput, restoreBackup } from './restore.ts';
import { tarHeader, tarMembers, tarPadding } from './tar.ts';

const now = Date.UTC(2026, 10, 21, 10);
const nothing = { baseUrl: null, defaultModel: null };

async function filled(test: TestContext, name = 'first', secret: string | null = null) {
  const dataDir = temporaryFolder(test);
  const store = await openStore(dataDir);
  const sealing = await storageKey(dataDir, secret);
  const connections = connectionStore(store, sealing.key);
  await connections.add({ ...nothing, name, provider: 'openai', apiKey: `secret-of-${name}` });
  writeFileSync(join(dataDir, 'config.json'), `{"drain_ms":1${name.length}}`);
  test.after(() => store.close().catch(() => {}));
  const backup = (more: Partial<Parameters<typeof createBackup>[0]> = {}) =>
    createBackup({
      dataDir,
      database: null,
      output: null,
      storageKey: sealing,
      includeKey: true,
      version: '1.2.3',
      now,
      ...more,
    });
  return { dataDir, store, connections, backup };
}

const restore = (dataDir: string, file: string, more: Partial<RestoreInput> = {}) =>
  restoreBackup({
    dataDir,
    database: null,
    file,
    secret: null,
    now,
    owner: () => null,
    onProven: async () => {},
    ...more,
  });

async function connectionsOf(dataDir: string, secret: string | null = null) {
  const store = await openStore(dataDir, { create: false });
  try {
    const { key } = await storageKey(dataDir, secret);
    return (await connectionStore(store, key).listOpen()).map(({ credential, name }) => [name, credential]);
  } finally {
    await store.close();
  }
}

describe('a backup', () => {
  it('is one file for its owner only, that tar reads, with a manifest first', async (test) => {
    const { backup, dataDir } = await filled(test);
    const { bytes, manifest, path } = await backup();
    assert.equal(path, join(dataDir, 'backups', 'modelgate-2026-11-21T10-00-00-000Z.tar.gz'));
    assert.deepEqual([statSync(path).mode & 0o777, statSync(path).size], [0o600, bytes]);
    const names = execFileSync('tar', ['-tzf', path], { encoding: 'utf8' }).trim().split('\n');
    assert.deepEqual(names, ['manifest.json', 'modelgate.db', 'config.json', 'storage.key']);
    assert.deepEqual(await readManifest(path), manifest);
    assert.deepEqual(
      [manifest.modelgate, manifest.key.source, manifest.key.included],
      ['1.2.3', 'file', true],
    );
    assert.deepEqual(readdirSync(join(dataDir, 'backups')), ['modelgate-2026-11-21T10-00-00-000Z.tar.gz']);
  });

  it('is consistent while others write', async (test) => {
    const { backup, connections, dataDir } = await filled(test);
    let writing = true;
    const writer = (async () => {
      for (let n = 0; writing; n++) {
        await connections.add({ ...nothing, name: `more-${n}`, provider: 'openai', apiKey: 'x' });
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const { path } = await backup();
    writing = false;
    await writer;
    const place = temporaryFolder(test);
    await restore(place, path);
    assert.deepEqual((await connectionsOf(place))[0], ['first', 'secret-of-first']);
    assert.ok((await connectionsOf(dataDir)).length > 1);
  });

  it('overwrites nothing and leaves nothing half made', async (test) => {
    const { backup, dataDir } = await filled(test);
    const output = join(temporaryFolder(test), 'mine.tar.gz');
    writeFileSync(output, 'precious');
    await assert.rejects(backup({ output }), /exists already/);
    assert.equal(readFileSync(output, 'utf8'), 'precious');
    await assert.rejects(backup({ output: join(dataDir, 'nowhere', 'x.tar.gz') }), /There is no folder/);
    assert.equal(existsSync(`${output}.partial`), false);
  });

  it('leaves the key out on request, or when it comes from the environment', async (test) => {
    const { backup } = await filled(test);
    assert.equal((await backup({ includeKey: false })).manifest.key.included, false);
    const other = await filled(test, 'other', 'from the environment');
    const { key, members } = (await other.backup()).manifest;
    assert.deepEqual([key.source, key.included], ['environment', false]);
    assert.ok(members.every(({ name }) => name !== 'storage.key'));
  });
});

describe('a restore', () => {
  it('replaces the present state, which is kept', async (test) => {
    const source = await filled(test);
    const { path } = await source.backup();
    const target = await filled(test, 'second');
    await target.store.close();
    const { keyMatches, previous } = await restore(target.dataDir, path);
    assert.equal(keyMatches, true);
    assert.deepEqual(await connectionsOf(target.dataDir), [['first', 'secret-of-first']]);
    assert.equal(readFileSync(join(target.dataDir, 'config.json'), 'utf8'), '{"drain_ms":15}');
    assert.ok(previous !== null);
    assert.deepEqual(await connectionsOf(previous), [['second', 'secret-of-second']]);
    assert.deepEqual(
      readdirSync(target.dataDir).filter((name) => name.startsWith('.')),
      [],
    );
    for (const name of ['modelgate.db', 'config.json', 'storage.key'])
      assert.equal(statSync(join(target.dataDir, name)).mode & 0o777, 0o600, name);
  });

  it('is refused while a gateway runs, and while a command uses the database', async (test) => {
    const source = await filled(test);
    const { path } = await source.backup();
    const target = await filled(test, 'second');
    await assert.rejects(restore(target.dataDir, path), /Another command is using/);
    await target.store.close();
    const lock = await acquireDataDir(target.dataDir);
    await assert.rejects(restore(target.dataDir, path), /in use by another gateway/);
    lock.release();
    assert.deepEqual(await connectionsOf(target.dataDir), [['second', 'secret-of-second']]);
  });

  it('replaces a damaged database', async (test) => {
    const source = await filled(test);
    const { path } = await source.backup();
    const target = await filled(test, 'second');
    await target.store.close();
    truncateSync(join(target.dataDir, 'modelgate.db'), 5000);
    await restore(target.dataDir, path);
    assert.deepEqual(await connectionsOf(target.dataDir), [['first', 'secret-of-first']]);
  });

  it('says when the credentials cannot be decrypted here', async (test) => {
    const source = await filled(test, 'first', 'the right one');
    const { path } = await source.backup();
    const place = temporaryFolder(test);
    assert.equal((await restore(place, path, { secret: 'another one' })).keyMatches, false);
    assert.equal((await restore(place, path)).keyMatches, false);
    assert.equal((await restore(place, path, { secret: 'the right one' })).keyMatches, true);
    assert.deepEqual(await connectionsOf(place, 'the right one'), [['first', 'secret-of-first']]);
  });

  it('ends the logins in the backup and keeps its automation tokens', async (test) => {
    const source = await filled(test);
    const user = {
      id: 'u',
      name: 'admin',
      role: 'admin',
      password: 'x',
      created_at: 1,
      updated_at: 1,
    } as const;
    await source.store.db.insertInto('users').values(user).execute();
    for (const kind of ['api', 'ui', 'automation'] as const)
      await source.store.db
        .insertInto('tokens')
        .values({
          id: kind,
          user_id: 'u',
          kind,
          hash: kind,
          hint: 'x',
          credential_version: 1,
          created_at: 1,
          expires_at: now * 2,
          ttl_seconds: 600,
        })
        .execute();
    const { path } = await source.backup();
    const place = temporaryFolder(test);
    await restore(place, path);
    const store = await openStore(place);
    const left = await store.db.selectFrom('tokens').select('kind').execute();
    assert.deepEqual(
      left.map(({ kind }) => kind),
      ['automation'],
    );
    await store.close();
  });

  it('changes nothing when it is refused at the last question', async (test) => {
    const source = await filled(test);
    const { path } = await source.backup();
    const target = await filled(test, 'second');
    await target.store.close();
    const onProven = async () => Promise.reject(new GatewayError('conflict', 'no'));
    await assert.rejects(restore(target.dataDir, path, { onProven }), /no/);
    assert.deepEqual(await connectionsOf(target.dataDir), [['second', 'secret-of-second']]);
    assert.equal(existsSync(join(target.dataDir, 'backups')), false);
  });

  it('that is killed leaves a whole database, either the old one or that of the backup', async (test) => {
    const one = (await (await filled(test, 'first', 'a secret')).backup()).path;
    const other = (await (await filled(test, 'second', 'a secret')).backup()).path;
    const place = temporaryFolder(test);
    await restore(place, one, { secret: 'a secret' });
    for (let round = 0; round < 4; round++) {
      const script = runScript(
        test,
        import.meta.dirname,
        `const { restoreBackup } = await import('./restore.ts');
         say('ready');
         for (let n = 0; ; n++)
           await restoreBackup({
             dataDir: ${JSON.stringify(place)}, database: null, file: [${JSON.stringify(other)}, ${JSON.stringify(one)}][n % 2],
             secret: 'a secret', now: Date.now(), owner: () => null, onProven: async () => {},
           });`,
      );
      await script.line();
      await delay(150 + 70 * round);
      await script.kill();
      const [[name, credential] = []] = await connectionsOf(place, 'a secret');
      assert.ok(name === 'first' || name === 'second');
      assert.equal(credential, `secret-of-${name}`);
      await restore(place, one, { secret: 'a secret' });
      assert.deepEqual(await connectionsOf(place, 'a secret'), [['first', 'secret-of-first']]);
      assert.deepEqual(
        readdirSync(place).filter((file) => file.startsWith('.')),
        [],
      );
    }
  });

  it('refuses a newer schema', async (test) => {
    const source = await filled(test);
    await source.store.db.schema.createTable('later').addColumn('a', 'text').execute();
    await source.store.db
      .insertInto('kysely_migration' as never)
      .values({ name: '9999-later', timestamp: 'x' } as never)
      .execute();
    const { path } = await source.backup();
    await assert.rejects(restore(temporaryFolder(test), path), /written by a newer Modelgate/);
  });

  it('refuses a damaged file with a sentence, wherever the damage is', async (test) => {
    const { backup, dataDir } = await filled(test);
    const { path } = await backup();
    const whole = gunzipSync(readFileSync(path));
    const place = temporaryFolder(test);
    const damaged = join(dataDir, 'damaged.tar.gz');
    const tries: [string, Buffer][] = [
      ['not gzip', Buffer.from('hello')],
      ['empty', Buffer.alloc(0)],
      ['no tar', gzipSync(Buffer.alloc(4096, 'x'))],
      ['nothing in it', gzipSync(Buffer.alloc(1024))],
      ['cut gzip', readFileSync(path).subarray(0, -200)],
      ['cut tar', gzipSync(whole.subarray(0, 3000))],
      ['twice', gzipSync(Buffer.concat([whole.subarray(0, -1024), whole.subarray(-3072)]))],
    ];
    for (let at = 100; at < whole.length - 1100; at += 1777) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] ?? 0) ^ 0x41;
      tries.push([`a byte at ${at}`, gzipSync(flipped)]);
    }
    for (const [what, bytes] of tries) {
      writeFileSync(damaged, bytes);
      const outcome = await unpackBackup(damaged, null).then(
        () => 'taken',
        (error: unknown) => error,
      );
      // Padding and the fields of a header that nobody reads are covered by the header's own sum or by nothing.
      if (outcome === 'taken') assert.match(what, /^a byte at/);
      else
        assert.ok(
          outcome instanceof GatewayError && outcome.code === 'invalid_request',
          `${what}: ${outcome}`,
        );
    }
    await assert.rejects(restore(place, join(dataDir, 'none.tar.gz')), /There is no file/);
  });

  it('refuses an unreadable file, however many restores run at once', async (test) => {
    const folder = temporaryFolder(test);
    const none = join(folder, 'none.tar.gz');
    const failure = async (work: Promise<unknown>) => work.then(String, (error: unknown) => String(error));
    const each = Array.from({ length: 50 });
    const missing = await Promise.all(
      each.flatMap(() => [failure(readManifest(none)), failure(unpackBackup(none, null))]),
    );
    for (let time = 0; time < 300; time++) missing.push(await failure(readManifest(none)));
    for (const text of missing) assert.match(text, /There is no file .*none\.tar\.gz/);
    const folders = await Promise.all(
      each.flatMap(() => [failure(readManifest(folder)), failure(unpackBackup(folder, null))]),
    );
    for (const text of folders) assert.match(text, /cannot be used as a backup: EISDIR/);
  });

  it('refuses members that are no plain files of a backup', async (test) => {
    const { backup, dataDir } = await filled(test);
    const { path } = await backup();
    const whole = gunzipSync(readFileSync(path)).subarray(0, -1024);
    const evil = join(dataDir, 'evil.tar.gz');
    const link = tarHeader('config.json', 0, 0);
    link.write('2', 156);
    for (const header of [tarHeader('../../etc/passwd', 0, 0), tarHeader('owner.lock', 0, 0), link]) {
      writeFileSync(evil, gzipSync(Buffer.concat([whole, header, Buffer.alloc(1024)])));
      await assert.rejects(unpackBackup(evil, temporaryFolder(test)), /cannot be used as a backup/);
    }
  });
});

describe('an archive', () => {
  it('holds sizes beyond 8 GiB', async () => {
    const bytes = 20 * 1024 ** 3;
    const source = async function* () {
      yield tarHeader('big', bytes, 1);
    };
    const { value } = await tarMembers(source()).next();
    assert.equal(value?.bytes, bytes);
    assert.equal(tarPadding(513).length, 511);
  });
});
