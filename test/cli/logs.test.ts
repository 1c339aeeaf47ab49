import assert from 'node:assert/strict';
import { it, type TestContext } from 'node:test';
import type { LedgerEntry } from '../../src/ledger/schema.ts';
import { ledgerOf, madeEntry } from '../support/store/ledger.ts';
import { createSandbox } from './run.ts';

/** What `gateway logs` says of one request, behind its time. */
async function lineOf(test: TestContext, patch: Partial<LedgerEntry>): Promise<string> {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  await ledgerOf(test, [madeEntry(patch)], sandbox.dataDir);
  const { stdout } = await sandbox.run(['logs']);
  return stdout.trimEnd().replace(/^\S+ \S+ {2}/, '');
}

const nothing = { usage: null, costUsd: null, durationMs: 2 } as const;

it('logs show what a refused request asked for, without a cost', async (test) => {
  const refused = { connection: null, connectionId: null, provider: null, model: null, status: 429 } as const;
  const error = { outcome: 'failed', errorCode: 'rate_limit_exceeded', errorMessage: 'used up' } as const;
  assert.equal(
    await lineOf(test, { ...nothing, ...refused, ...error, requestedModel: 'demo/echo' }),
    '429  key_1  demo/echo  no usage  2 attempts  2 ms  req_1  [app=ide, batch]  rate_limit_exceeded: used up',
  );
});

it('logs mark answers whose cost is unknown', async (test) => {
  assert.equal(
    await lineOf(test, nothing),
    '200  key_1  auto → work/gpt-5  no usage  cost unknown  2 attempts  2 ms  req_1  [app=ide, batch]',
  );
});

it('logs name what came from the cache', async (test) => {
  const hit = { cached: true, usage: null, costUsd: 0, durationMs: 1, attempts: 0 } as const;
  assert.equal(
    await lineOf(test, { ...hit, tags: [], requestedModel: 'work/gpt-5' }),
    '200  key_1  work/gpt-5  from the cache  $0  1 ms  req_1',
  );
});

it('logs distinguish an empty result from an empty ledger', async (test) => {
  const sandbox = await createSandbox();
  test.after(() => sandbox.close());
  assert.equal((await sandbox.run(['logs'])).stderr, 'No requests yet.\n');
  await ledgerOf(test, [madeEntry()], sandbox.dataDir);
  assert.equal((await sandbox.run(['logs', '--search', 'elsewhere'])).stderr, 'No request fits.\n');
});
