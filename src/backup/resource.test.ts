import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { admin } from '../../test/support/management/caller.ts';
import { storageKey } from '../connections/credentials/seal.ts';
import type { Caller } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { openStore } from '../store/database.ts';
import { openBackups } from './resource.ts';
import { backupRow } from './schema.ts';
import { createBackupWork, type FailedWork, type NewWork } from './work.ts';

const caller: Caller = {
  ...admin,
  userId: '1',
  tokenId: 't',
  passwordAt: null,
  requestId: 'req',
};

describe('the backups resource', () => {
  it('makes, lists, checks and removes backups, and says how to restore one', async (test) => {
    const dataDir = temporaryFolder(test);
    await (await openStore(dataDir)).close();
    const sealing = await storageKey(dataDir, null);
    let time = Date.UTC(2026, 10, 21);
    const ends: string[] = [];
    const failures: FailedWork[] = [];
    const backups = openBackups({
      database: null,
      dataDir,
      storageKey: sealing,
      version: '1.2.3',
      now: () => time++,
      tasks: {
        begin: async () => 'task_1',
        progress: async () => {},
        finish: async (_id, status) => void ends.push(status),
      },
      onFailure: async (work) => void failures.push(work),
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
    const result = await actions['restore'].run(row, {}, caller);
    assert.equal(result.success, false);
    assert.ok(result.message.includes(`gateway restore ${row.id}`));

    const path = join(dataDir, 'backups', row.id);
    const bytes = readFileSync(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    const checked = await actions['verify'].run(row, {}, caller);
    assert.equal(checked.success, false);
    assert.equal(checked.message.includes(dataDir), false, 'paths of the machine stay there');
    assert.equal(checked.taskId, 'task_1');
    assert.deepEqual([ends.at(-1), failures], ['Error', []], 'its answer tells, and makes the record');
    await backups.settled();

    await remove.run(row, caller);
    assert.equal(await find(row.id, caller), null);
    await assert.rejects(remove.run(row, caller), /removed in the meantime/);
    symlinkSync(dataDir, join(dataDir, 'backups', 'link.tar.gz'));
    for (const id of ['../storage.key', 'x', '..', 'link.tar.gz', 'a/b.tar.gz', `${'x'.repeat(300)}.tar.gz`])
      assert.equal(await find(id, caller), null, id);
  });
});

describe('work on backups', () => {
  function working() {
    const notes: unknown[] = [];
    const work = createBackupWork({
      dataDir: '/data',
      tasks: {
        begin: async ({ message, name }) => `task ${notes.push([name, message])}`,
        progress: async (id, done, doing) => void notes.push([id, done, doing]),
        finish: async (id, status, message) => void notes.push([id, status, message]),
      },
      onFailure: async ({ action, caller: { name }, reason, target }) =>
        void notes.push([action, name, reason, target]),
      report: (error) => void notes.push(['reported', error]),
    });
    const begin = (run: NewWork['run'], wait: boolean) =>
      work.begin({ action: 'verify', id: 'x.tar.gz', caller, message: 'asked for', run }, wait);
    return { begin, notes, settled: work.settled };
  }

  it('that fails after its answer is recorded as failed', async () => {
    for (const [fault, message, reason] of [
      [new GatewayError('invalid_request', '/data/x is damaged'), 'x is damaged', 'invalid_request'],
      [new Error('the disk'), 'It failed; the log has the cause', 'internal_error'],
    ] as const) {
      const { begin, notes, settled } = working();
      assert.deepEqual(await begin(() => Promise.reject(fault), false), { taskId: 'task 1', end: null });
      await settled();
      assert.deepEqual(notes, [
        ['verify', 'asked for'],
        ...(reason === 'internal_error' ? [['reported', fault]] : []),
        ['task 1', 'Error', message],
        ['verify', 'admin', reason, 'x.tar.gz'],
      ]);
    }
  });

  it('that takes longer than a moment is left to its task, one at a time', async () => {
    const { begin, notes, settled } = working();
    const held = Promise.withResolvers<{ message: string; result: object }>();
    const { end } = await begin((progress) => {
      progress(0.5, 'Reading it');
      return held.promise as ReturnType<NewWork['run']>;
    }, true);
    assert.equal(end, null);
    await assert.rejects(
      begin(() => assert.fail('at once'), true),
      { code: 'conflict' },
    );
    held.reject(new GatewayError('not_found', 'it is gone'));
    await settled();
    assert.deepEqual(notes.at(-1), ['verify', 'admin', 'not_found', 'x.tar.gz']);
    const again = await begin(async () => ({ message: 'whole', result: {} }), true);
    assert.deepEqual(again.end, { success: true, message: 'whole' });
  });
});
