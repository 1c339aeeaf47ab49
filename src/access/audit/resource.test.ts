import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { admin } from '../../../test/support/management/caller.ts';
import type { Caller, ListQuery } from '../../http/resource.ts';
import { openAudit } from './audit.ts';
import { auditResource } from './resource.ts';
import { auditRow } from './schema.ts';

const caller: Caller = {
  ...admin,
  userId: '1',
  tokenId: 't',
  passwordAt: null,
  requestId: 'req',
};

const query = (more: Partial<ListQuery> = {}): ListQuery => ({
  groups: [],
  sort: [],
  ignoreCase: false,
  limit: 1000,
  offset: 0,
  ...more,
});

async function filled(test: TestContext, months: readonly number[]) {
  const clock = { now: 0 };
  const log = openAudit({
    dataDir: temporaryFolder(test),
    retentionMonths: null,
    now: () => clock.now,
    onError: (error) => assert.fail(String(error)),
  });
  for (const [at, month] of months.entries()) {
    clock.now = Date.UTC(2026, month, 2, 0, 0, at);
    await log.writeNow({
      request_id: `req_${at + 1}`,
      actor: { id: String(at % 2), name: null, role: 'admin', via: 'basic', token_id: null },
      address: null,
      action: at % 3 === 0 ? 'keys.create' : 'auth.login',
      target: null,
      input: null,
      before: null,
      after: null,
      outcome: 'success',
      reason: null,
    });
  }
  const resource = auditResource(log);
  const page = async (more?: Partial<ListQuery>) =>
    (await resource.page?.(query(more), caller)) ?? assert.fail();
  return { page, resource };
}

describe('the audit resource', () => {
  it('shows records of all months, newest first, in pages', async (test) => {
    const { page } = await filled(test, [3, 3, 4, 5, 5, 5]);
    const all = await page();
    assert.deepEqual(
      all.rows.map(({ id }) => id),
      ['6', '5', '4', '3', '2', '1'],
    );
    for (const row of all.rows) auditRow.strict().parse(row);
    const some = await page({ limit: 2, offset: 3 });
    assert.deepEqual([some.rows.map(({ id }) => id), some.count, some.filtered], [['3', '2'], 6, 6]);
    assert.deepEqual((await page({ offset: 50 })).rows, []);
  });

  it('filters by time, actor and action', async (test) => {
    const { page } = await filled(test, [3, 3, 4, 5, 5, 5]);
    const records = await page({
      groups: [
        [
          { attribute: 'action', operator: '=', value: 'auth.*' },
          { attribute: 'actor.id', operator: '=', value: '1' },
          { attribute: 'time', operator: '>', value: '2026-05-01T00:00:00.000Z' },
        ],
      ],
      limit: 1,
    });
    assert.deepEqual([records.rows.map(({ id }) => id), records.filtered, records.count], [['6'], 1, 6]);
  });

  it('finds one by its number, and no other', async (test) => {
    const { resource } = await filled(test, [3, 4]);
    assert.equal((await resource.find('1', caller))?.['request_id'], 'req_1');
    for (const id of ['0', '3', '-1', '1.0', 'x', '99999999999999999999']) {
      assert.equal(await resource.find(id, caller), null, id);
    }
  });

  it('is empty before anything happened', async (test) => {
    const { page } = await filled(test, []);
    assert.deepEqual(await page(), { rows: [], count: 0, filtered: 0 });
  });
});
