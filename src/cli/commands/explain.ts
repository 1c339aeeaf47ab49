import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import { shownRequest } from '../../ledger/entry-row.ts';
import { requestById } from '../../ledger/page.ts';
import type { LedgerEntry, TraceRow } from '../../ledger/schema.ts';
import { traceOf } from '../../ledger/traces.ts';
import type { Command } from '../command.ts';
import { failure } from '../terminal/failure.ts';
import { dollars, printable } from '../terminal/text.ts';
import { unknownCost } from '../terminal/unknown-cost.ts';

export const explainCommand: Command = {
  arguments: [
    { name: 'request', summary: 'the id of a request, as `x-request-id` tells it', required: true },
  ],
  flags: [],
  needs: 'store',
  about:
    'Shows how the requested model was resolved, which targets could have answered, which were skipped and why, every attempt, and the fields of the request that the model did not get. Kept for 30 days.',
  examples: [
    { command: 'gateway explain req_0mwq1x2y3zA', does: 'why that request went where it went' },
    { command: 'gateway explain req_0mwq1x2y3zA --json', does: '{"request","trace"}' },
  ],
  run: async (options, context) => {
    const id = options.argument('request') ?? '';
    const store = await context.existingStore();
    const entry = store === null ? null : await requestById(store, id);
    if (store === null || entry === null)
      throw failure(
        1,
        'not_found',
        `There is no request ${printable(id)} in the ledger: \`gateway logs\` shows what there is`,
      );
    const trace = await traceOf(store, entry, context.now());
    const request = await shownRequest(store, entry);
    context.io.result({ request, trace }, () =>
      [
        `${request.id}  ${request.started_at}  ${request.status} ${request.outcome}  ${request.duration_ms} ms`,
        ...used(entry),
        ...tierLine(entry),
        ...finishLine(entry),
        ...(trace === null ? ['No trace of it is kept.'] : prose(trace)),
        ...(request.dropped.length === 0 ? [] : [`Not sent to the model: ${request.dropped.join(', ')}`]),
      ]
        .map(printable)
        .join('\n'),
    );
    return 0;
  },
};

/** What was used and what it cost, in lines for a person. */
function used(entry: LedgerEntry): string[] {
  const { cacheSavingsUsd, costUsd, usage } = entry;
  if (usage === null) return [];
  const { cacheRead, cacheWrite1h, cacheWrite5m } = usage;
  const stored = cacheWrite5m + cacheWrite1h;
  const cost = costUsd === null ? unknownCost(entry) : dollars(costUsd);
  return [
    `Used ${inputTokens(usage)} tokens of input and ${outputTokens(usage)} of output: ${cost}`,
    ...(cacheRead + stored === 0
      ? []
      : [
          `Prompt cache: ${cacheRead} tokens read from it, ${stored} stored in it: ${savings(cacheSavingsUsd)}`,
        ]),
  ];
}

/** Why the answer ended, in the ledger's word and, where it is another, in the provider's. */
function finishLine({ finishReason, rawFinishReason }: LedgerEntry): string[] {
  if (finishReason === null) return [];
  const own =
    rawFinishReason === null || rawFinishReason === finishReason ? '' : ` (the provider: ${rawFinishReason})`;
  return [`Finish reason: ${finishReason}${own}`];
}

/** The tier that was asked for and the one that served, where either was named and is not the usual one. */
function tierLine({ requestedTier, servedTier }: LedgerEntry): string[] {
  const named = [requestedTier, servedTier].filter((tier) => tier !== null && tier !== 'default');
  if (named.length === 0) return [];
  return [
    `Service tier: asked for ${requestedTier ?? 'none'}, served by ${servedTier ?? 'one that the answer does not name'}`,
  ];
}

function savings(usd: number | null): string {
  if (usd === null) return 'savings unknown';
  return usd < 0 ? `${dollars(-usd)} more than without it` : `${dollars(usd)} saved`;
}

/** The trace in lines for a person. */
function prose(trace: TraceRow): string[] {
  const { affinity, attempts, candidates, combo, requested, skipped, strategy, via } = trace;
  const names = via.map(({ by, name }) => `${name} (${by})`);
  return [
    `Asked for "${requested}"${names.length === 0 ? '' : `: ${names.join(', then ')}`}`,
    ...(combo === null ? [] : [`Combo ${combo}${strategy === null ? '' : `, by ${strategy}`}`]),
    `Could be answered by ${candidates.map(nameOf).join(', ') || 'nobody'}`,
    ...(affinity === null ? [] : [`Preferred ${nameOf(affinity)}: it answered this session before`]),
    ...skipped.map((one) => `Passed over ${nameOf(one)}: ${one.reason}, ${one.detail}`),
    ...attempts.map((one, index) => {
      const begun = one.begun_with === undefined ? '' : `, going on after ${one.begun_with} characters,`;
      const status = one.status === null ? '' : ` ${one.status}`;
      const error = one.error === null ? '' : `, ${one.error.code}: ${one.error.message}`;
      const effect = one.effect === null ? '' : `; the account: ${one.effect}`;
      return `${index + 1}. ${nameOf(one)}${begun} after ${one.started_ms} ms:${status} ${one.outcome} in ${one.duration_ms} ms${error}${effect}`;
    }),
  ];
}

function nameOf({ connection, model }: { connection: string; model: string }): string {
  return `${connection}/${model}`;
}
