import type { Grouping } from '../../ledger/groupings.ts';
import type { UsageRow } from '../../ledger/schema.ts';
import { isTimeZone, timeGroupingIn } from '../../ledger/time-buckets.ts';
import { usageRows } from '../../ledger/usage.ts';
import { defaultSince, groupingList, parseGroupings } from '../../ledger/usage-query.ts';
import type { Command } from '../command.ts';
import { usageError } from '../terminal/failure.ts';
import type { Column } from '../terminal/table.ts';
import { count, dollars } from '../terminal/text.ts';
import { timeOf } from '../terminal/time.ts';

export const usageCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'by',
      value: 'GROUPING',
      kind: 'list',
      summary:
        'hour, day, week, month, provider, model, connection, key, combo, owner, team, tag, label:NAME, format, outcome, tier, session or total; repeat it for groups within groups (default day)',
    },
    {
      name: 'since',
      value: 'TIME',
      summary: 'since this time: ISO 8601, or 6h, 30d ago (default 30d; by hour 2d, week 84d, month 365d)',
    },
    { name: 'until', value: 'TIME', summary: 'until this time, written likewise (default now)' },
    {
      name: 'time-zone',
      value: 'ZONE',
      summary: 'time zone of hours and days, e.g. Europe/Vienna (default UTC)',
    },
    { name: 'tag', value: 'TAG', summary: 'only requests with this tag, e.g. team=core' },
    {
      name: 'top',
      value: 'N',
      kind: 'count',
      summary: 'only the N groups that cost most, and the rest in one line',
    },
    { name: 'csv', summary: 'print comma-separated values with a header line' },
  ],
  needs: 'store',
  about:
    'Sums over the ledger. A request counts for each of its tags, so lines by tag are more than the total. A cost is the sum of the known ones; requests without a known price are counted beside it.',
  examples: [
    {
      command: 'gateway usage --by key --by model --since 7d',
      does: 'who used which model in the last week',
    },
    { command: 'gateway usage --by team --by label:app', does: 'which team spends how much on what' },
    { command: 'gateway usage --by day --by connection --csv', does: 'for a spreadsheet' },
  ],
  run: async (options, context) => {
    const now = context.now();
    const byFlags = options.texts('by');
    const by = byFlags.length === 0 ? (['day'] as const) : parseGroupings(byFlags.join(','));
    if (by === null)
      throw usageError(`--by takes ${groupingList}, each once, and one of hour, day, week and month`);
    const timeZone = options.text('time-zone') ?? 'UTC';
    if (!isTimeZone(timeZone))
      throw usageError(`--time-zone: "${timeZone}" is not a time zone such as Europe/Vienna`);
    const tag = options.text('tag');
    const before = timeOf(options, 'until', now) ?? now;
    const since = timeOf(options, 'since', now) ?? defaultSince(by, before, timeZone);
    const store = await context.existingStore();
    const query = { since, before, timeZone, only: tag === undefined ? {} : { tag } };
    const top = options.count('top') ?? null;
    const usage = store === null ? [] : await usageRows(store, { ...query, by, top }, now);
    if (options.on('csv') && !context.io.json) {
      context.io.result({ usage }, () => csvOf(usage));
      return 0;
    }
    if (usage.length === 0) context.io.note('No requests in that time.');
    // The sum of the lines is none where requests stand in several of them.
    const [total] =
      store === null || usage.length === 0 ? [] : await usageRows(store, { ...query, by: [] }, now);
    const unpriced = total?.unpriced ?? 0;
    if (unpriced > 0)
      context.io.note(
        `${count(unpriced, 'request')} had no known price: ${unpriced === 1 ? 'its cost is' : 'their costs are'} missing here`,
      );
    context.io.result({ usage }, () =>
      usage.length === 0
        ? ''
        : context.io.table([...by.map(groupColumn), ...figures], linesOf(usage, total ?? null)),
    );
    return 0;
  },
};

/** A row of sums, or the sum of all rows. */
type Line = UsageRow & { isTotal: boolean };

function groupColumn(by: Grouping, index: number): Column<Line> {
  const title = by.toUpperCase();
  return { title, cell: (row) => (row.isTotal ? (index === 0 ? 'all' : '') : groupName(row, by)) };
}

/** What a row is of, by one grouping. */
function groupName(row: UsageRow, by: Grouping): string {
  if (row.rest_groups > 0 && timeGroupingIn([by]) === null) return `${row.rest_groups} others`;
  switch (by) {
    case 'hour':
    case 'day':
    case 'week':
    case 'month':
      return row.period?.replace('T', ' ') ?? '-';
    case 'model':
      return row.model === null ? '-' : `${row.provider ?? '-'}/${row.model}`;
    case 'key':
      return nameOrId(row.key_name, row.key_id);
    case 'combo':
      return nameOrId(row.combo, row.combo_id);
    case 'provider':
    case 'connection':
    case 'owner':
    case 'team':
    case 'tag':
    case 'format':
    case 'outcome':
    case 'tier':
    case 'session':
      return row[by] ?? '-';
    default:
      return row.labels[by.slice('label:'.length)] ?? '-';
  }
}

/** Of what was removed before names were kept, the id is left. */
function nameOrId(name: string | null, id: string | null): string {
  return name ?? (id === null ? '-' : `${id} (removed)`);
}

const figures: readonly Column<Line>[] = [
  { title: 'REQUESTS', cell: (row) => String(row.requests), align: 'right' },
  {
    title: 'FAILED',
    cell: (row) => String(row.failed),
    align: 'right',
    style: (row) => (row.failed > 0 ? 'red' : null),
  },
  { title: 'INPUT', cell: (row) => String(row.input_tokens), align: 'right' },
  { title: 'OUTPUT', cell: (row) => String(row.output_tokens), align: 'right' },
  { title: 'COST', cell: (row) => money(row.cost_usd, row), align: 'right' },
  { title: 'SAVED BY CACHES', cell: (row) => money(row.cache_savings_usd, row), align: 'right' },
];

/** Unknown only where something was used: what failed before it cost anything has no amount. */
function money(amount: number | null, { unpriced }: Line): string {
  return amount === null && unpriced === 0 ? '-' : dollars(amount);
}

/** The rows, and all of them together where there are several. */
function linesOf(rows: readonly UsageRow[], total: UsageRow | null): Line[] {
  const lines = rows.map((row) => ({ ...row, isTotal: false }));
  return total === null || lines.length < 2 ? lines : [...lines, { ...total, isTotal: true }];
}

const csvColumns = [
  'from',
  'to',
  'provider',
  'model',
  'connection',
  'key_id',
  'key_name',
  'combo_id',
  'combo',
  'requests',
  'failed',
  'aborted',
  'estimated',
  'unpriced',
  'cost_usd',
  'billed_usd',
  'plan_usd',
  'routing_savings_usd',
  'cache_savings_usd',
  'input_tokens',
  'output_tokens',
  'mean_duration_ms',
  'mean_ttft_ms',
  'period',
  'owner',
  'team',
  'tag',
  'format',
  'outcome',
  'rest_groups',
  'tier',
  'session',
] as const satisfies readonly (keyof UsageRow)[];

/** RFC 4180. */
function csvOf(rows: readonly UsageRow[]): string {
  const labels = Object.keys(rows[0]?.labels ?? {});
  const lines = rows.map((row) =>
    [...csvColumns.map((column) => row[column]), ...labels.map((name) => row.labels[name] ?? null)]
      .map(csvCell)
      .join(','),
  );
  return [[...csvColumns, ...labels.map((name) => `label:${name}`)].join(','), ...lines].join('\r\n');
}

/** Null is empty. Text that a spreadsheet would take for a formula is kept from being one. */
function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
