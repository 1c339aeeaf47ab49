import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { admin } from '../../test/support/caller.ts';
import { temporaryFolder } from '../../test/support/folder.ts';
import { storageKey } from '../connections/seal.ts';
import type { Caller } from '../http/resource.ts';
import { openStore } from '../store/database.ts';
import { openBackups } from './resource.ts';
import { backupRow } from './schema.ts';

const caller: Caller = {
  ...{ ...admin, userId: '1', tokenId: 't', passwordAt: null, requestId: 'req' },
};

describe('the backups resource', () => {
  it('makes, lists, checks and removes backups, and says how to restore one', async (test) => {
    const dataDir = temporaryFolder(test);
    await (await openStore(dataDir)).close();
    const sealing = await storageKey(dataDir, null);
    let time = Date.UTC(2026, 10, 21);
    const ends: string[] = [];
    const backups = openBackups({
      ...{ dataDir, storageKey: sealing, version: '1.2.3', now: () => time++ },
      tasks: {
        begin: async () => 'task_1',
        progress: async () => {},
        finish: async (_id, status) => void ends.push(status),
      },
      report: (error) => assert.fail(String(error)),
    });
    const { create, list, find, actions, remove } = backups.resource;
    assert.ok(create && list && actions?.['verify'] && actions['restore'] && remove);
    assert.deepEqual(await list(caller), []);
    const both = await Promise.allSettled([create.run({}, caller), create.run({}, caller)]);
    assert.deepEqual(
      both.map(({ status }) => status),
      ['fulfilled', 'rejected'],
      'one at a time',
    );
    await backups.settled();
    const { row, taskId } = await create.run({ include_key: false }, caller);
    assert.equal(taskId, 'task_1');
    await backups.settled();
    assert.deepEqual(ends, ['Ok', 'Ok']);
    const rows = await list(caller);
    assert.deepEqual(
      rows.map((one) => one['includes_secret']),
      [false, true],
    );
    for (const one of rows) backupRow.strict().parse(one);
    assert.equal((await actions['verify'].run(row, {}, caller)).success, true);
    const told = await actions['restore'].run(row, {}, caller);
    assert.equal(told.success, false);
    assert.ok(told.message.includes(`gateway restore ${row.id}`));

    const path = join(dataDir, 'backups', row.id);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const checked = await actions['verify'].run(row, {}, caller);
    assert.equal(checked.success, false);
    assert.equal(checked.message.includes(dataDir), false, 'paths of the machine stay there');

    await remove.run(row, caller);
    assert.equal(await find(row.id, caller), null);
    await assert.rejects(remove.run(row, caller), /removed meanwhile/);
    symlinkSync(dataDir, join(dataDir, 'backups', 'link.tar.gz'));
    for (const id of ['../storage.key', 'x', '..', 'link.tar.gz', 'a/b.tar.gz', `${'x'.repeat(300)}.tar.gz`])
      assert.equal(await find(id, caller), null, id);
  });
});
