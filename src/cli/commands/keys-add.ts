import { keyStore } from '../../access/store.ts';
import { type KeyLimits, setKeyLimits, shownKeyLimits } from '../../budgets/key-limits.ts';
import { budgetStore } from '../../budgets/store.ts';
import { audited } from '../audit.ts';
import type { Command, Flag, Options } from '../command.ts';
import { usageError } from '../failure.ts';
import { iso } from '../text.ts';

const periods = ['day', 'week', 'month'] as const;

const limitFlags: readonly Flag[] = [
  { name: 'budget-usd', value: 'N', summary: 'USD that may be spent with it in a period' },
  {
    name: 'budget-period',
    value: 'PERIOD',
    choices: periods,
    summary: 'day, week (from Monday) or month, in UTC (default month)',
  },
  { name: 'rpm', value: 'N', kind: 'count', summary: 'requests a minute' },
  { name: 'tpm', value: 'N', kind: 'count', summary: 'tokens a minute, input and output' },
  {
    name: 'cache-ttl',
    value: 'SECONDS',
    kind: 'count',
    summary: 'for how long an answer may be given again to the same request (default: never)',
  },
];

export const keysAddCommand: Command = {
  arguments: [{ name: 'name', summary: 'what the key is for, e.g. laptop', required: true }],
  flags: [
    {
      name: 'models',
      value: 'LIST',
      summary: 'models it may use, comma separated; a trailing * matches any rest',
    },
    { name: 'expires', value: 'TIME', summary: 'when it stops working: ISO 8601, e.g. 2027-01-31' },
    ...limitFlags,
  ],
  needs: 'store',
  about: 'A running gateway accepts the key at once.',
  examples: [
    { command: 'gateway keys add laptop', does: 'a key for everything' },
    {
      command: 'gateway keys add ci --models "openai/*,demo/echo" --expires 2027-01-31',
      does: 'a narrow key',
    },
    {
      command: 'gateway keys add agent --budget-usd 5 --budget-period day --rpm 60',
      does: 'a key that spends at most 5 USD a day',
    },
  ],
  run: async (options, context) => {
    const name = (options.argument('name') ?? '').trim();
    if (name === '') throw usageError('A key needs a name, e.g. `gateway keys add laptop`');
    const models = modelList(options.text('models'));
    const expiresAt = expiry(options, context.now());
    const limits = limitsIn(options);
    const cacheTtlSeconds = options.count('cache-ttl') ?? null;
    if (cacheTtlSeconds === 0) throw usageError('--cache-ttl must be above 0: leave it out for no cache');
    const store = await context.store();
    const [keys, budgets] = [keyStore(store), budgetStore(store, context.now)];
    const input = { name, models, expires_at: iso(expiresAt), cache_ttl_seconds: cacheTtlSeconds, ...limits };
    const { record, key } = await audited(
      context,
      { action: 'keys.create', target: name, input },
      async () => {
        const made = await keys.add({ name, models, expiresAt, cacheTtlSeconds });
        await setKeyLimits(budgets, made.record.id, limits);
        return made;
      },
    );
    const document = {
      id: record.id,
      name: record.name,
      key,
      prefix: record.prefix,
      models: record.models,
      created_at: iso(record.createdAt),
      expires_at: iso(record.expiresAt),
      cache_ttl_seconds: record.cacheTtlSeconds,
      ...shownKeyLimits(await budgets.list(), record.id),
    };
    context.io.result(document, () => key);
    if (!context.io.json) context.io.note(`Key "${record.name}" made. It is shown this once only.`);
    return 0;
  },
};

function limitsIn(options: Options): KeyLimits {
  const usd = options.text('budget-usd');
  const amount = usd === undefined ? undefined : Number(usd);
  if (amount !== undefined && !(amount > 0 && Number.isFinite(amount)))
    throw usageError(`--budget-usd must be a number above 0, not "${usd}"`);
  const period = periods.find((one) => one === options.text('budget-period'));
  if (period !== undefined && amount === undefined)
    throw usageError('--budget-period needs --budget-usd beside it');
  const [rpm, tpm] = [options.count('rpm'), options.count('tpm')];
  if (rpm === 0 || tpm === 0)
    throw usageError('--rpm and --tpm must be above 0: leave out what is not limited');
  return {
    ...(amount === undefined
      ? {}
      : { budget_usd: amount, ...(period === undefined ? {} : { budget_period: period }) }),
    ...(rpm === undefined ? {} : { rpm }),
    ...(tpm === undefined ? {} : { tpm }),
  };
}

function modelList(text: string | undefined): string[] | null {
  if (text === undefined) return null;
  const models = text
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '');
  if (models.length === 0)
    throw usageError('--models names no model: give ids such as openai/gpt-4o or openai/*');
  return models;
}

function expiry(options: Options, now: number): number | null {
  const text = options.text('expires');
  if (text === undefined) return null;
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw usageError(`--expires must be an ISO 8601 time such as 2027-01-31, not "${text}"`);
  if (at <= now) throw usageError(`--expires must be in the future, and ${text} is past`);
  return at;
}
