import { z } from 'zod';
import { type ApiBody, pageOf, quoted } from '../api.ts';
import { time, tool } from '../tool.ts';

/** Sums that are read; a year of days fits. */
const MOST_ROWS = 1000;

const groupings = [
  'hour',
  'day',
  'week',
  'month',
  'provider',
  'model',
  'connection',
  'key',
  'combo',
  'owner',
  'team',
] as const;

export const costs = tool({
  name: 'costs',
  title: 'Costs and usage',
  description:
    'What requests cost and used, summed up by day, model, provider, connection, key, combo, owner or team, the most expensive first. Requests without a known price count in "unpriced" and not in the cost.',
  input: z.object({
    by: z.array(z.enum(groupings)).min(1).max(3).default(['model']),
    from: time.optional().describe('ISO 8601; default: 30 days ago'),
    to: time.optional().describe('ISO 8601; default: now'),
    limit: z.int().min(1).max(200).default(50),
  }),
  permission: 'usage:read',
  effect: 'reads',
  async run({ by, from, limit, to }, api) {
    const filters = [
      `by=${quoted(by.join(','))}`,
      ...(from === undefined ? [] : [`from>=${quoted(from)}`]),
      ...(to === undefined ? [] : [`to<=${quoted(to)}`]),
    ];
    const query = { filters, sortBy: 'cost_usd', descending: true, limit: MOST_ROWS };
    const { rows, total } = await pageOf(api, '/usage', query);
    return { total, sum: sumOf(rows), rows: rows.slice(0, limit).map(shown) };
  },
});

/** The sum of all rows; a cost that is not known adds nothing, and is counted by `unpriced`. */
function sumOf(rows: readonly ApiBody[]): ApiBody {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name] ?? 0), 0);
  return Object.fromEntries(summed.map((name) => [name, sum(name)]));
}

const summed = ['requests', 'failed', 'unpriced', 'cost_usd', 'input_tokens', 'output_tokens'] as const;

/** A row without the buckets of tokens and without what its grouping does not name. */
function shown({ usage: _usage, by: _by, ...row }: ApiBody): ApiBody {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null));
}
