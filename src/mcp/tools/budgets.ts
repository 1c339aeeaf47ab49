import { z } from 'zod';
import { type ApiBody, pageOf, withoutLinks } from '../api.ts';
import { tool } from '../tool.ts';

export const listBudgets = tool({
  name: 'list_budgets',
  title: 'List budgets',
  description:
    'Limits on money, tokens, requests and concurrency, with what is used of them and when they begin anew.',
  input: z.object({}),
  permission: 'budgets:read',
  effect: 'reads',
  async run(_, api) {
    const { rows, total } = await pageOf(api, '/budgets', { limit: 500 });
    return { total, budgets: rows };
  },
});

export const setBudget = tool({
  name: 'set_budget',
  title: 'Set a budget',
  description:
    'Limits what everybody, one key, combo, connection, team or owner of keys, or requests with one tag may use in a period. A limit of the same kind is replaced.',
  input: z.object({
    scope: z.enum(['global', 'key', 'combo', 'connection', 'team', 'owner', 'tag']).default('global'),
    subject: z
      .string()
      .max(300)
      .optional()
      .describe('id or name of the key, combo or connection, name of the team or owner, or the tag'),
    metric: z.enum(['usd', 'tokens', 'requests', 'concurrency']).default('usd'),
    limit: z.number().positive(),
    period: z.enum(['minute', 'hour', 'day', 'week', 'month']).optional().describe('not for concurrency'),
  }),
  permission: 'budgets:update',
  effect: 'replaces',
  async run(input, api) {
    const { rows } = await pageOf(api, '/budgets', { limit: 1000 });
    const row = rows.find((row) => isSame(row, input));
    if (row !== undefined) {
      const body = { action: 'edit', limit: input.limit };
      return withoutLinks(await api.post(`/budgets/${encodeURIComponent(String(row['id']))}`, body));
    }
    const { results } = await api.post('/budgets', input);
    const [made] = Array.isArray(results) ? (results as ApiBody[]) : [];
    return withoutLinks(made ?? {});
  },
});

interface BudgetInput {
  scope: string;
  subject?: string | undefined;
  metric: string;
  period?: string | undefined;
}

function isSame(row: ApiBody, { metric, period, scope, subject }: BudgetInput): boolean {
  return (
    row['scope'] === scope &&
    row['metric'] === metric &&
    row['period'] === (period ?? null) &&
    (subject === undefined
      ? row['subject'] === null
      : [row['subject'], row['subject_name']].includes(subject))
  );
}
