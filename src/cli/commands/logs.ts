import { setTimeout as delay } from 'node:timers/promises';
import { thresholdStore } from '../../budgets/thresholds.ts';
import { inputTokens, isCapped, outputTokens } from '../../ledger/buckets.ts';
import { type ShownRequest, shownRequests } from '../../ledger/entry-row.ts';
import { type LedgerRow, recentRequests } from '../../ledger/report.ts';
import { splitTags } from '../../lib/tags.ts';
import type { Store } from '../../store/database.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import type { Io } from '../terminal/io.ts';
import { dollars, localTime, printable } from '../terminal/text.ts';
import { sinceOf } from '../terminal/time.ts';
import { unknownCost } from '../terminal/unknown-cost.ts';

/** How often `--follow` looks for new rows. The writer flushes at most 50 ms after a request ended. */
const pollMs = 300;
/** Requests looked at in each turn of `--follow`, the newest: far more than can end between two turns. */
const followBatch = 1000;

export const logsCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'limit',
      short: 'n',
      value: 'N',
      kind: 'count',
      summary: 'show this many of the latest requests (default 50)',
    },
    {
      name: 'since',
      value: 'TIME',
      summary: 'only requests since this time: ISO 8601, or 90s, 30m, 6h, 2d ago',
    },
    {
      name: 'search',
      value: 'TEXT',
      summary: 'only requests with the text in an id, key, model, connection, error, tag or user agent',
    },
    {
      name: 'tag',
      value: 'TAG',
      kind: 'list',
      summary: 'only requests with this tag, e.g. team=core; repeat it for requests with all of them',
    },
    { name: 'follow', short: 'f', summary: 'keep showing new requests until interrupted' },
  ],
  needs: 'store',
  about:
    'Oldest first. Lines between the requests say when a budget reached its threshold or its limit. With --json, one JSON document per line (JSON Lines), requests only. Prompts and answers are never stored.',
  examples: [
    { command: 'gateway logs --since 6h --search claude', does: 'what happened to those' },
    { command: 'gateway logs --tag team=core --limit 10', does: 'the latest of one team' },
    { command: 'gateway logs --follow --json | jq .cost_usd', does: 'JSON Lines as they come' },
  ],
  run: async (options, context) => {
    const search = options.text('search');
    const since = sinceOf(options, context.now());
    const limit = options.count('limit') ?? 50;
    const tags = options.texts('tag').flatMap(splitTags);
    const filter = {
      ...(tags.length === 0 ? {} : { tags }),
      ...(search === undefined ? {} : { search }),
      ...(since === undefined ? {} : { since }),
    };
    if (options.on('follow')) return follow(filter, limit, context);
    await latest(await context.existingStore(), filter, limit, context.io);
    return 0;
  },
};

/**
 * Shows requests and, for people, when budgets reached a threshold between them. A JSON line is always a request.
 * @param since from when on thresholds are shown, in milliseconds since the epoch; null for none
 */
async function show(store: Store, rows: readonly LedgerRow[], since: number | null, io: Io): Promise<void> {
  const documents = await shownRequests(store, rows);
  const lines = rows.flatMap((row, index) => {
    const document = documents[index];
    if (document === undefined) return [];
    return [{ at: row.startedAt, print: () => io.record(document, () => line(row, document, io)) }];
  });
  if (since !== null && !io.json) {
    for (const { at, kind, what } of await thresholdStore(store).since(since)) {
      const text = `${localTime(at)}  ${io.paint(kind === 'soft' ? 'yellow' : 'red', 'budget')}  ${printable(what)}`;
      lines.push({ at, print: () => io.record({}, () => text) });
    }
  }
  for (const { print } of lines.toSorted((one, other) => one.at - other.at)) print();
}

/** Shows the latest requests and returns them. */
async function latest(store: Store | null, filter: Filter, limit: number, io: Io): Promise<LedgerRow[]> {
  const rows = store === null || limit === 0 ? [] : await recentRequests(store, { ...filter, limit });
  const first = rows[0]?.startedAt ?? null;
  if (store !== null) await show(store, rows, isNarrow(filter) ? null : (filter.since ?? first), io);
  if (rows.length === 0 && !io.json)
    io.note(Object.keys(filter).length > 0 ? 'No request fits.' : 'No requests yet.');
  return rows;
}

/** How long a request may take where the settings cannot be read. */
const DEFAULT_LONGEST_MS = 3_600_000;

/** Whether some requests are looked for: then budgets are none of it. */
function isNarrow({ search, tags = [] }: Filter): boolean {
  return search !== undefined || tags.length > 0;
}

interface Filter {
  tags?: readonly string[];
  search?: string;
  since?: number;
}

/**
 * Runs until the process is interrupted. A request is written when it ends and its id says when it began, so a
 * long one comes after shorter ones that began later: the ids of the last turn are remembered, not one last id.
 * What is not among the newest of one turn is never among those of a later one.
 */
async function follow(filter: Filter, limit: number, context: Context): Promise<never> {
  const store = await context.store();
  const longestMs = (await context.config().catch(() => null))?.timeouts.totalMs ?? DEFAULT_LONGEST_MS;
  const since = Math.max(filter.since ?? 0, context.now() - longestMs);
  const query = { ...filter, since, limit: followBatch };
  // In this order nothing is lost that is written between the two.
  let seen = [...(await recentRequests(store, query)), ...(await latest(store, filter, limit, context.io))];
  let lastOutputAt = context.now();
  for (;;) {
    const requestedAt = context.now();
    const shown = new Set(seen.map(({ id }) => id));
    seen = await recentRequests(store, query);
    const fresh = seen.filter(({ id }) => !shown.has(id));
    await show(store, fresh, isNarrow(filter) ? null : lastOutputAt, context.io);
    lastOutputAt = requestedAt;
    await delay(pollMs);
  }
}

function line(row: LedgerRow, { key_id, key_name, tags }: ShownRequest, io: Io): string {
  const status = io.paint(row.outcome === 'ok' ? 'green' : 'red', String(row.status));
  const error = row.errorCode === null ? '' : `  ${row.errorCode}: ${printable(row.errorMessage ?? '')}`;
  const attempts = row.attempts > 1 ? [`${row.attempts} attempts`] : [];
  const cells = [
    localTime(row.startedAt),
    status,
    printable(key_name ?? key_id ?? '-'),
    printable(modelCell(row)),
    usedCells(row),
    ...attempts,
    `${row.durationMs} ms`,
    row.id,
    ...(tags.length === 0 ? [] : [`[${printable(tags.join(', '))}]`]),
  ];
  return `${cells.join('  ')}${error}`;
}

/** What was asked for, and what answered where that is not the same. */
function modelCell({ connection, model, requestedModel }: LedgerRow): string {
  const modelText = requestedModel ?? '-';
  if (connection === null) return modelText;
  const served = `${connection}/${model ?? modelText}`;
  return modelText === served || modelText === model ? served : `${modelText} → ${served}`;
}

/** What was used, and what it cost where anything was sent or may have been. */
function usedCells(row: LedgerRow): string {
  const { cached, costUsd, estimated, outcome, servedTier, usage } = row;
  const tier = servedTier === null || servedTier === 'default' ? '' : ` (${servedTier})`;
  const cost = costUsd === null ? unknownCost(row) : `${dollars(costUsd)}${tier}`;
  if (cached) return `from the cache  ${cost}`;
  if (usage === null) return outcome === 'failed' && costUsd === null ? 'no usage' : `no usage  ${cost}`;
  const capped = isCapped(usage) ? ' (capped: the upstream reported more than any answer can use)' : '';
  return `${estimated ? '~' : ''}${usageCell(usage)}${capped}  ${cost}`;
}

/** Tokens, and whatever else was counted. */
function usageCell(usage: NonNullable<LedgerRow['usage']>): string {
  const input = inputTokens(usage);
  const output = outputTokens(usage);
  const units: readonly (readonly [amount: number, unit: string])[] = [
    [usage.images, 'images'],
    [usage.audioSeconds, 's of audio'],
    [usage.characters, 'characters'],
    [usage.searchUnits, 'search units'],
  ];
  const counted = units.filter(([amount]) => amount > 0).map(([amount, unit]) => `${amount} ${unit}`);
  if (counted.length > 0 && input + output === 0) return counted.join(', ');
  return [`${input} in, ${output} out`, ...counted].join(', ');
}
