import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { noUsage } from '../../src/codecs/wire-format.ts';
import { comboStore, type NewCombo } from '../../src/combos/store.ts';
import type { LedgerEntry } from '../../src/ledger/schema.ts';
import { ledgerOf, madeEntry } from '../support/store/ledger.ts';
import { createSandbox } from './run.ts';

const MINUTE_MS = 60_000;
const usage = { ...noUsage, input: 10_000, output: 1_000 };

/** Two OpenAI accounts, a combo over them, and past requests that the first one served with its dearer model. */
async function past(test: TestContext, combo: NewCombo, entries: (id: string) => Partial<LedgerEntry>[]) {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  const added = await sandbox.run([
    'provider',
    'add',
    'openai',
    '--name',
    'work',
    '--api-key',
    'sk-upstream-0123456789abcdef',
    '--json',
  ]);
  const id = String(added.json()['id']);
  const rows = entries(id).map((patch, index) =>
    madeEntry({
      id: `req_${index}`,
      startedAt: Date.now() - (index + 1) * MINUTE_MS,
      usage,
      costUsd: 0.0225,
      connectionId: id,
      connection: 'work',
      model: 'gpt-5',
      attempts: 1,
      ttftMs: 400,
      durationMs: 10_400,
      ...patch,
    }),
  );
  const store = await ledgerOf(test, rows, sandbox.dataDir);
  await comboStore(store).add(combo);
  return sandbox;
}

describe('gateway combo simulate', () => {
  it('says what past requests would have cost elsewhere', async (test) => {
    const cheap: NewCombo = { name: 'cheap', targets: [{ target: 'work/gpt-5-mini', weight: 1 }] };
    const sandbox = await past(test, cheap, () => Array.from({ length: 20 }, () => ({})));
    const { code, json, stderr } = await sandbox.run(['combo', 'simulate', 'cheap', '--json']);
    assert.equal(code, 0, stderr);
    const { actual, requests, simulated, unchanged } = json<Document>();
    assert.deepEqual([requests, unchanged], [20, 0]);
    assert.equal(actual.cost_usd?.toFixed(4), '0.4500');
    // 20 requests of 10,000 tokens at $0.25 and 1,000 at $2 per million.
    assert.equal(simulated.cost_usd?.toFixed(4), '0.0900');
    assert.deepEqual([simulated.p50_ms, simulated.untimed], [null, 20], 'it never answered before');
    const text = await sandbox.run(['combo', 'simulate', 'cheap', '--since', '7d']);
    assert.match(text.stdout, /20 of 20 requests[\s\S]*AS IT WAS +CHEAP[\s\S]*work\/gpt-5-mini +20/);
  });

  it('keeps the outcome of requests with the same target, and ignores older requests', async (test) => {
    const same: NewCombo = { name: 'same', targets: [{ target: 'openai/gpt-5', weight: 1 }] };
    const failed = { outcome: 'failed', status: 503, usage: null, costUsd: null } as const;
    const sandbox = await past(test, same, () => [{}, {}, failed, { startedAt: Date.now() - 3 * 3_600_000 }]);
    const { json } = await sandbox.run(['combo', 'simulate', 'same', '--since', '1h', '--json']);
    const { actual, requests, simulated, unchanged } = json<Document>();
    assert.deepEqual(simulated, actual);
    assert.deepEqual([requests, unchanged, actual.failed], [3, 2, 1]);
  });

  it('says so when nothing would have been answered, instead of an empty table', async (test) => {
    const same: NewCombo = { name: 'same', targets: [{ target: 'openai/gpt-5', weight: 1 }] };
    const failed = { outcome: 'failed', status: 503, usage: null, costUsd: null } as const;
    const sandbox = await past(test, same, () => [failed, failed]);
    const { stdout } = await sandbox.run(['combo', 'simulate', 'same']);
    assert.match(stdout, /\nNo target of it would have answered any of them\.\n$/);
    assert.doesNotMatch(stdout, /KNOWN FROM/);
  });

  it('names the combos that there are when it does not know one, and says when there is nothing', async (test) => {
    const some: NewCombo = { name: 'some', targets: [{ target: 'demo/echo', weight: 1 }] };
    const sandbox = await past(test, some, () => []);
    const unknown = await sandbox.run(['combo', 'simulate', 'other']);
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /There is no combo "other": there are: some/);
    assert.match((await sandbox.run(['combo', 'simulate', 'some'])).stdout, /nothing to replay/);
  });
});

interface Outcome {
  failed: number;
  cost_usd: number | null;
  p50_ms: number | null;
  untimed: number;
}

interface Document {
  requests: number;
  unchanged: number;
  actual: Outcome;
  simulated: Outcome;
}
