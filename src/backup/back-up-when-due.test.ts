import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { storageKey } from '../connections/credentials/seal.ts';
import { openStore } from '../store/database.ts';
import { backUpWhenDue } from './back-up-when-due.ts';
import { createBackup } from './create.ts';
import { listBackups } from './list.ts';
import { unpackBackup } from './read.ts';

const hour = 3_600_000;
const start = Date.UTC(2026, 10, 22);

describe('scheduled backups', () => {
  it('are made when they are due, and the oldest are removed', async (test) => {
    const dataDir = temporaryFolder(test);
    await (await openStore(dataDir)).close();
    const common = { dataDir, server: null, storageKey: await storageKey(dataDir, null), version: '1.2.3' };
    const run = (hours: number) =>
      backUpWhenDue({ ...common, everyMs: 24 * hour, keep: 2, now: start + hours * hour });
    const first = await run(0);
    assert.match(first ?? '', /^scheduled-2026-11-22T00-00-00-000Z\.tar\.gz$/);
    assert.equal(await run(23), null, 'it is not due');
    const second = await run(24);
    const manual = await createBackup({
      ...common,
      database: null,
      output: null,
      includeKey: true,
      now: start,
    });
    writeFileSync(join(dataDir, 'backups', 'scheduled-broken.tar.gz'), 'no backup');
    const third = await run(49);
    const names = (await listBackups(dataDir)).map(({ name }) => name);
    assert.deepEqual(
      names.toSorted(),
      [String(second), String(third), manual.path.split('/').at(-1), 'scheduled-broken.tar.gz'].toSorted(),
    );
    const { members } = await unpackBackup(join(dataDir, 'backups', String(third)), null);
    assert.ok(members.some(({ name }) => name === 'modelgate.db'));
  });

  it('remove nothing when the new one cannot be made', async (test) => {
    const dataDir = temporaryFolder(test);
    await (await openStore(dataDir)).close();
    const common = {
      dataDir,
      server: null,
      storageKey: await storageKey(dataDir, null),
      version: '1',
      everyMs: hour,
      keep: 1,
    };
    const first = await backUpWhenDue({ ...common, now: start });
    writeFileSync(join(dataDir, 'modelgate.db'), 'no database any more');
    await assert.rejects(backUpWhenDue({ ...common, now: start + hour }));
    assert.deepEqual(
      (await listBackups(dataDir)).map(({ name }) => name),
      [first],
    );
  });
});
