import type { StrategyName } from '../../../combos/combo-schema.ts';
import type { Pool } from '../../../combos/pool/pool.ts';
import { comboOrder } from '../../../simulation/combo-order.ts';
import { historyOf } from '../../../simulation/history.ts';
import { pastRequests } from '../../../simulation/past-requests.ts';
import { type Replay, type ReplayOutcome, replay, type TargetShare } from '../../../simulation/replay.ts';
import { resultOf } from '../../../simulation/result.ts';
import type { Command } from '../../command.ts';
import type { Context } from '../../context.ts';
import { routesIn } from '../../resources/routes.ts';
import { failure } from '../../terminal/failure.ts';
import type { Io } from '../../terminal/io.ts';
import { dollars, iso, printable } from '../../terminal/text.ts';
import { sinceOf } from '../../terminal/time.ts';

const DAY_MS = 86_400_000;
/** Requests that are replayed at most, the latest: some seconds of work, and some hundred megabytes. */
const MOST = 100_000;

export const comboSimulateCommand: Command = {
  arguments: [{ name: 'combo', names: 'combo', summary: 'the combo to send them to', required: true }],
  flags: [
    {
      name: 'since',
      value: 'TIME',
      summary: 'requests since this time: ISO 8601, or 90m, 6h, 7d ago (default 7d)',
    },
    {
      name: 'model',
      names: 'model',
      value: 'ID',
      summary: 'only requests that asked for this model, combo or alias',
    },
    {
      name: 'limit',
      value: 'N',
      kind: 'count',
      summary: `at most so many, the latest (default ${MOST})`,
    },
  ],
  needs: 'store',
  about:
    'Replays recorded requests without sending anything. A request that would have gone to the same target counts as it was.\nOthers get the price of the target for the same tokens, and its failure rate and latency from the ledger.',
  examples: [
    { command: 'gateway combo simulate cheap --since 7d', does: 'cost, failures and time there' },
    { command: 'gateway combo simulate cheap --model smart --json', does: 'one document' },
  ],
  run: async (options, context) => {
    const name = options.argument('combo') ?? '';
    const since = sinceOf(options, context.now()) ?? context.now() - 7 * DAY_MS;
    const limit = options.count('limit') ?? MOST;
    const { catalog, pool } = await poolOf(name, context);
    const model = options.text('model');
    const past = await requestsOf(context, { since, limit });
    const result = replay({
      past: model === undefined ? past : past.filter(({ requestedModel }) => requestedModel === model),
      history: historyOf(past),
      order: comboOrder(pool, catalog),
      maxAttempts: pool.options.maxAttempts,
    });
    const about = { name, strategy: pool.strategy, since, cut: past.length >= limit };
    context.io.result({ combo: name, ...resultOf({ ...about, truncated: about.cut }, result) }, () =>
      textOf(about, result, context.io),
    );
    return 0;
  },
};

async function requestsOf(context: Context, query: { since: number; limit: number }) {
  const store = await context.existingStore();
  return store === null ? [] : pastRequests(store, query);
}

/** The combo as the gateway would use it now. */
async function poolOf(name: string, context: Context) {
  const { catalog, routes } = await routesIn(context);
  const pool: Pool | undefined = routes.combos.byName.get(name);
  if (pool !== undefined) return { catalog, pool };
  const comboNames = routes.combos.records.map((combo) => combo.name).join(', ');
  const hint = comboNames === '' ? 'make one with `gateway combo create`' : `there are: ${comboNames}`;
  throw failure(1, 'not_found', `There is no combo "${printable(name)}": ${hint}.`);
}

interface About {
  name: string;
  strategy: StrategyName;
  since: number;
  /** True when there may be more requests than were read. */
  cut: boolean;
}

const milliseconds = (ms: number | null): string =>
  ms === null ? '-' : `${Math.round(ms).toLocaleString('en-US')} ms`;

/** What is compared, and how it is shown. */
const lines: readonly { title: string; cell(outcome: ReplayOutcome): string }[] = [
  { title: 'cost', cell: ({ costUsd }) => dollars(costUsd) },
  { title: 'without a known price', cell: ({ unpriced }) => String(unpriced) },
  { title: 'failed', cell: ({ failed }) => String(failed) },
  { title: 'fallbacks', cell: ({ fallbacks }) => String(fallbacks) },
  { title: 'time, median', cell: ({ p50Ms }) => milliseconds(p50Ms) },
  { title: 'time, 95th percentile', cell: ({ p95Ms }) => milliseconds(p95Ms) },
  { title: 'first content, median', cell: ({ ttftP50Ms }) => milliseconds(ttftP50Ms) },
  { title: 'without a known time', cell: ({ untimed }) => String(untimed) },
];

function textOf({ cut, name, since, strategy }: About, result: Replay, io: Io): string {
  const { actual, leftOut, simulated, targets, unchanged } = result;
  const total = actual.requests + leftOut;
  if (total === 0) return `No requests since ${iso(since)}: there is nothing to replay.`;
  const notes = [
    `${actual.requests} of ${total} requests since ${iso(since)}, sent to "${name}" (${strategy}) on paper.`,
    `${unchanged} would have gone where they went.`,
    ...(leftOut > 0 ? [`${leftOut} are in a format that no target of it serves.`] : []),
    ...(cut ? ['There may be more: --limit says how many are read.'] : []),
  ];
  const compared = io.table(
    [
      { title: '', cell: ({ title }) => title },
      { title: 'AS IT WAS', cell: ({ cell }) => cell(actual), align: 'right' },
      { title: name.toUpperCase(), cell: ({ cell }) => cell(simulated), align: 'right' },
    ],
    lines,
  );
  const shares = io.table<TargetShare>(
    [
      { title: 'TARGET', cell: (share) => printable(`${share.connection}/${share.model}`) },
      { title: 'REQUESTS', cell: ({ requests }) => String(requests), align: 'right' },
      { title: 'COST', cell: ({ costUsd }) => dollars(costUsd), align: 'right' },
      {
        title: 'FAILED BEFORE',
        cell: ({ failureRate }) => (failureRate === null ? '-' : `${(100 * failureRate).toFixed(1)} %`),
        align: 'right',
      },
      { title: 'KNOWN FROM', cell: ({ basedOn }) => `${basedOn} requests`, align: 'right' },
    ],
    targets,
  );
  const where = targets.length > 0 ? shares : 'No target of it would have answered any of them.';
  return [notes.join('\n'), compared, where].join('\n\n');
}
