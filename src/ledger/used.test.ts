import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ledgerOf, madeEntry } from '../../test/support/store/ledger.ts';
import { createRandom } from '../cli/demo-data/random.ts';
import { type BudgetUsageQuery, budgetUsageParts } from './used.ts';

const HOUR_MS = 3_600_000;
const start = Date.UTC(2026, 10, 1);
const before = start + 90 * HOUR_MS;

it('the usage of a budget is the same whatever slices it is added up in', async (test) => {
  const random = createRandom(4);
  const entries = Array.from({ length: 200 }, (_, index) =>
    madeEntry({
      id: `req_${String(index).padStart(3, '0')}`,
      startedAt: start + Math.floor(random.next() * 100 * HOUR_MS),
      keyId: random.pick(['key_1', 'key_2']),
      connectionId: random.pick(['con_1', 'con_2']),
      comboId: random.pick(['combo_1', null]),
      tags: random.pick([[], ['team=core']]),
      costUsd: random.pick([null, 0.25]),
      attempts: random.pick([0, 1, 2]),
      durationMs: 1_000,
    }),
  );
  const store = await ledgerOf(test, entries);
  const subjects: BudgetUsageQuery['only'][] = [
    {},
    { key_id: 'key_1' },
    { connection_id: 'con_2' },
    { combo_id: 'combo_1' },
    { tag: 'team=core' },
    { connection_id: 'nobody' },
  ];
  for (const only of subjects)
    for (const stepMs of [60_000, HOUR_MS, 24 * HOUR_MS]) {
      const query = { only, since: start + 7 * HOUR_MS, before, stepMs };
      const [whole, sliced, bySingleRows] = await Promise.all(
        [1_000, 7, 1].map((rows) => budgetUsageParts(store, query, rows)),
      );
      const label = JSON.stringify(query);
      assert.deepEqual(sliced, whole, label);
      assert.deepEqual(bySingleRows, whole, label);
      const counted = entries.filter(
        (entry) =>
          entry.startedAt >= query.since &&
          entry.startedAt + entry.durationMs <= before &&
          entry.attempts > 0 &&
          (only.key_id === undefined || entry.keyId === only.key_id) &&
          (only.connection_id === undefined || entry.connectionId === only.connection_id) &&
          (only.combo_id === undefined || entry.comboId === only.combo_id) &&
          (only.tag === undefined || entry.tags.includes(only.tag)),
      );
      assert.equal(
        whole?.reduce((sum, part) => sum + part.requests, 0),
        counted.length,
        label,
      );
    }
});
