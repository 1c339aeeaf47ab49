import type { Grouping, UsageRow } from '../../ledger/schema.ts';
import { exact } from '../../ledger/sums.ts';
import { usageRows } from '../../ledger/usage.ts';
import { defaultSince, parseGroupings } from '../../ledger/usage-query.ts';
import type { Command } from '../command.ts';
import { usageError } from '../terminal/failure.ts';
import { type Column, count, dollars } from '../terminal/text.ts';
import { timeOf } from '../terminal/time.ts';

export const usageCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'by',
      value: 'GROUPING',
      kind: 'list',
      summary:
        'hour, day, provider, model, connection, key or combo; repeat it for groups within groups (default day)',
    },
    {
      name: 'since',
      value: 'TIME',
      summary: 'from then on: ISO 8601, or 6h, 30d ago (default 30d; by hour 2d)',
    },
    { name: 'until', value: 'TIME', summary: 'up to then, likewise (default now)' },
    { name: 'csv', summary: 'print comma-separated values with a header line' },
  ],
  needs: 'store',
  about:
    'Sums over the ledger. Days and hours are those of UTC. A cost is the sum of the known ones; requests without a known price are counted beside it.',
  examples: [
    {
      command: 'gateway usage --by key --by model --since 7d',
      does: 'who used which model in the last week',
    },
    { command: 'gateway usage --by day --by connection --csv', does: 'for a spreadsheet' },
  ],
  run: async (options, context) => {
    const now = context.now();
    const given = options.texts('by');
    const by = given.length === 0 ? (['day'] as const) : parseGroupings(given.join(','));
    if (by === null)
      throw usageError(
        '--by takes hour, day, provider, model, connection, key and combo, each once, and hour or day',
      );
    const before = timeOf(options, 'until', now) ?? now;
    const since = timeOf(options, 'since', now) ?? defaultSince(by, before);
    const store = await context.existingStore();
    const usage = store === null ? [] : await usageRows(store, { by, since, before }, now);
    if (options.on('csv') && !context.io.json) {
      context.io.result({ usage }, () => csvOf(usage));
      return 0;
    }
    if (usage.length === 0) context.io.note('No requests in that time.');
    const unpriced = usage.reduce((sum, row) => sum + row.unpriced, 0);
    if (unpriced > 0)
      context.io.note(
        `${count(unpriced, 'request')} had no known price: ${unpriced === 1 ? 'its cost is' : 'their costs are'} missing here`,
      );
    context.io.result({ usage }, () =>
      usage.length === 0 ? '' : context.io.table([...by.map(groupColumn), ...figures], withTotal(usage)),
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
  switch (by) {
    case 'hour':
      return row.from.slice(0, 13).replace('T', ' ');
    case 'day':
      return row.from.slice(0, 10);
    case 'provider':
      return row.provider ?? '-';
    case 'model':
      return row.model === null ? '-' : `${row.provider ?? '-'}/${row.model}`;
    case 'connection':
      return row.connection ?? '-';
    case 'key':
      return nameOrId(row.key_name, row.key_id);
    case 'combo':
      return nameOrId(row.combo, row.combo_id);
  }
}

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

function withTotal(rows: readonly UsageRow[]): Line[] {
  const lines = rows.map((row) => ({ ...row, isTotal: false }));
  const [first] = lines;
  if (first === undefined || lines.length === 1) return lines;
  const sum = (member: 'failed' | 'input_tokens' | 'output_tokens' | 'requests') =>
    rows.reduce((total, row) => total + row[member], 0);
  const money = (member: 'cache_savings_usd' | 'cost_usd') => {
    const known = rows.flatMap((row) => row[member] ?? []);
    return known.length === 0 ? null : exact(known.reduce((total, amount) => total + amount, 0));
  };
  return [
    ...lines,
    {
      ...first,
      isTotal: true,
      requests: sum('requests'),
      failed: sum('failed'),
      input_tokens: sum('input_tokens'),
      output_tokens: sum('output_tokens'),
      cost_usd: money('cost_usd'),
      cache_savings_usd: money('cache_savings_usd'),
    },
  ];
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
  'cache_savings_usd',
  'input_tokens',
  'output_tokens',
  'mean_duration_ms',
  'mean_ttft_ms',
] as const satisfies readonly (keyof UsageRow)[];

/** RFC 4180. */
function csvOf(rows: readonly UsageRow[]): string {
  const lines = rows.map((row) => csvColumns.map((column) => csvCell(row[column])).join(','));
  return [csvColumns.join(','), ...lines].join('\r\n');
}

/** Null is empty. Text that a spreadsheet would take for a formula is kept from being one. */
function csvCell(value: string | number | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
