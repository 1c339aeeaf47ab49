import { rowOfBudget } from '../../../budgets/budget-row.ts';
import { type BudgetMetric, type BudgetScope, newBudgetInput } from '../../../budgets/schema.ts';
import { budgetUseCases } from '../../../budgets/use-cases.ts';
import { audited } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';

const metrics = ['usd', 'tokens', 'requests', 'concurrency'] as const satisfies readonly BudgetMetric[];
const scopes = [
  'key',
  'combo',
  'connection',
  'team',
  'owner',
  'tag',
] as const satisfies readonly BudgetScope[];

export const budgetsSetCommand: Command = {
  arguments: [],
  flags: [
    { name: 'usd', value: 'N', summary: 'limit in USD' },
    { name: 'tokens', value: 'N', summary: 'tokens, input and output' },
    { name: 'requests', value: 'N', summary: 'requests' },
    { name: 'concurrency', value: 'N', summary: 'requests at the same time' },
    {
      name: 'per',
      value: 'PERIOD',
      choices: ['minute', 'hour', 'day', 'week', 'month'],
      summary: 'period; minutes and hours are rolling, the others follow the calendar in UTC',
    },
    {
      name: 'key',
      names: 'key',
      value: 'KEY',
      summary: 'limit this key, by id or name (default: all requests together)',
    },
    { name: 'combo', names: 'combo', value: 'COMBO', summary: 'of this combo' },
    { name: 'connection', names: 'connection', value: 'NAME', summary: 'of this connection' },
    { name: 'team', value: 'NAME', summary: 'limit all keys of this team together' },
    { name: 'owner', value: 'NAME', summary: 'limit all keys of this owner together' },
    { name: 'tag', value: 'TAG', summary: 'limit all requests with this tag or label, e.g. env=ci' },
    {
      name: 'soft',
      value: 'PERCENT',
      summary: 'percentage of the limit at which the log warns (default 80; 0: never)',
    },
    {
      name: 'unpriced',
      value: 'RULE',
      choices: ['allow', 'refuse'],
      summary: 'what to do with models without a known price (default refuse)',
    },
  ],
  needs: 'store',
  about:
    'Changes the budget of the same subject, metric and period if there is one. A running gateway applies it at once.',
  examples: [
    {
      command: 'gateway budgets set --usd 100 --per month',
      does: 'everything together costs at most 100 USD a month',
    },
    { command: 'gateway budgets set --key ci --tokens 50000 --per minute', does: 'a limit for one key' },
    { command: 'gateway budgets set --team core --usd 20 --per day', does: 'what a team may spend together' },
    {
      command: 'gateway budgets set --connection home --concurrency 2',
      does: 'what a small machine can stand',
    },
  ],
  run: async (options, context) => {
    const input = inputOf(options);
    const store = await context.store();
    const budgets = budgetUseCases(store, context.now);
    const existing = await budgets.existing(input);
    const scope = String(input['scope'] ?? 'global');
    const action = existing === null ? 'budgets.create' : 'budgets.update';
    const record = await audited(context, { action, target: existing?.id ?? scope, input }, () =>
      budgets.set(input),
    );
    const subject = input['subject'] === undefined ? null : String(input['subject']);
    const {
      spent: _,
      reserved: __,
      remaining: ___,
      resets_at: ____,
      ...row
    } = rowOfBudget(record, subject, null, context.now());
    context.io.result(row, () => `${existing === null ? 'Set' : 'Changed'} the budget ${record.id}.`);
    return 0;
  },
};

function inputOf(options: Options): Record<string, unknown> {
  const metric = only(options, metrics, true);
  const scope = only(options, scopes, false);
  if (metric === null) throw usageError('Say what is limited: --usd, --tokens, --requests or --concurrency');
  const soft = options.text('soft');
  const period = options.text('per') ?? null;
  checkPeriod(metric, period);
  const parsed = newBudgetInput.safeParse({
    metric,
    limit: limitOf(metric, options),
    period,
    ...(scope === null ? {} : { scope, subject: options.text(scope) }),
    ...(soft === undefined ? {} : { soft_percent: softOf(soft) }),
    ...(options.text('unpriced') === undefined ? {} : { unpriced: options.text('unpriced') }),
  });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw usageError(`${issue?.path.join('.') ?? 'The budget'}: ${issue?.message ?? 'is not valid'}`);
}

function limitOf(metric: BudgetMetric, options: Options): number {
  const text = options.text(metric) ?? '';
  const limit = Number(text);
  if (limit > 0 && Number.isFinite(limit) && (metric === 'usd' || Number.isInteger(limit))) return limit;
  const kind = metric === 'usd' ? 'a number' : 'a whole number';
  throw usageError(`--${metric} must be ${kind} above 0, not "${text}"`);
}

function checkPeriod(metric: BudgetMetric, period: string | null): void {
  if (metric === 'concurrency' && period !== null)
    throw usageError('--concurrency takes no --per: it is counted at every moment');
  if (metric !== 'concurrency' && period === null)
    throw usageError(`--${metric} also needs --per: minute, hour, day, week or month`);
}

/** Per cent of the limit; null for never. */
function softOf(text: string): number | null {
  const percent = Number(text);
  if (text.trim() !== '' && Number.isInteger(percent) && percent >= 0 && percent <= 100)
    return percent === 0 ? null : percent;
  throw usageError(`--soft must be a whole number from 0 to 100, not "${text}"`);
}

/** The one flag of several that was given. */
function only<Name extends string>(options: Options, names: readonly Name[], required: boolean): Name | null {
  const givenFlags = names.filter((name) => options.text(name) !== undefined);
  const [first = null] = givenFlags;
  if (givenFlags.length > 1 || (required && first === null))
    throw usageError(`Give one of ${names.map((name) => `--${name}`).join(', ')}`);
  return first;
}
