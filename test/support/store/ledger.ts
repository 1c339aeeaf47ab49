import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { createLedger } from '../../../src/ledger/record.ts';
import { type LedgerEntry, ledgerEntry } from '../../../src/ledger/schema.ts';
import { openStore } from '../../../src/store/database.ts';
import { createWriter } from '../../../src/store/writer.ts';
import { temporaryFolder } from '../machine/folder.ts';

const usage = {
  input: 10,
  cacheRead: 200,
  cacheWrite5m: 3000,
  cacheWrite1h: 40_000,
  output: 5,
  reasoning: 60,
  audioInput: 700_000,
  audioOutput: 800,
  imageInput: 9_000_000,
  imageOutput: 10_000,
  webSearches: 1,
  images: 2,
  audioSeconds: 1.5,
  characters: 70,
  searchUnits: 3,
};

/** What the ledger keeps of a request that went well. */
export function madeEntry(patch: Partial<LedgerEntry> = {}): LedgerEntry {
  return ledgerEntry.parse({
    id: 'req_1',
    startedAt: 1000,
    keyId: 'key_1',
    connectionId: 'con_1',
    connection: 'work',
    provider: 'openai',
    format: 'openai-chat',
    requestedModel: 'auto',
    comboId: null,
    innerComboIds: [],
    dropped: ['seed', 'user'],
    model: 'gpt-5',
    status: 200,
    outcome: 'ok',
    errorCode: null,
    errorMessage: null,
    streamed: true,
    usage,
    estimated: false,
    cached: false,
    continued: 0,
    requestedTier: 'priority',
    servedTier: 'default',
    finishReason: 'stop',
    rawFinishReason: 'end_turn',
    costUsd: 0.25,
    priceSource: 'prices 2026-11-01',
    cacheSavingsUsd: 0.125,
    billing: 'metered',
    routingSavingsUsd: 0.0625,
    session: null,
    ttftMs: 12,
    durationMs: 345,
    attempts: 2,
    upstreamRequestId: 'up-1',
    userAgent: 'tool/1.0',
    tags: ['app=ide', 'batch'],
    ...patch,
  });
}

/** A store whose ledger holds `entries`, written as the gateway does it. */
export async function ledgerOf(
  test: TestContext,
  entries: readonly LedgerEntry[],
  dataDir = temporaryFolder(test),
) {
  const store = await openStore(dataDir);
  test.after(() => store.close());
  const lost: unknown[] = [];
  const writer = createWriter(store, { onError: (error) => lost.push(error) });
  const { record } = createLedger(writer);
  for (const one of entries) record(one);
  await writer.stop();
  assert.deepEqual(lost, []);
  return store;
}
