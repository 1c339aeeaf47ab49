import type { z } from 'zod';
import { limitedKeys, newLimitedKeyInput } from '../../budgets/key-limits.ts';
import { audited } from '../audit.ts';
import type { Command, Flag, Options } from '../command.ts';
import { usageError } from '../terminal/failure.ts';
import { offerToolSetup } from '../tools/offer.ts';

const periods = ['day', 'week', 'month'] as const;

const limitFlags: readonly Flag[] = [
  { name: 'budget-usd', value: 'N', summary: 'USD that may be spent with it in a period' },
  {
    name: 'budget-period',
    value: 'PERIOD',
    choices: periods,
    summary: 'day, week (from Monday) or month, in UTC (default month)',
  },
  {
    name: 'unpriced',
    value: 'RULE',
    choices: ['allow', 'refuse'],
    summary: 'what to do under that budget with models without a known price (default refuse)',
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
  about:
    'A running gateway accepts the key at once. On a terminal you are asked whether installed coding tools shall use it.',
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
    const input = inputOf(options);
    const store = await context.store();
    const entry = { action: 'keys.create', target: input.name, input };
    const { key, row } = await audited(context, entry, () => limitedKeys(store, context.now).create(input));
    const { id, name, ...rest } = row;
    context.io.result({ id, name, key, ...rest }, () => key);
    if (context.io.json) return 0;
    context.io.note(`Key "${input.name}" made. It is shown this once only.`);
    await offerToolSetup(key, context);
    return 0;
  },
};

/** The flag of each field, for what is said of it. */
const flagOf: Readonly<Record<string, string>> = {
  name: 'the name',
  models: '--models',
  expires_at: '--expires',
  cache_ttl_seconds: '--cache-ttl',
  budget_usd: '--budget-usd',
  budget_period: '--budget-period',
  budget_unpriced: '--unpriced',
  rpm: '--rpm',
  tpm: '--tpm',
};

/** What the management API takes for a new key, by the same rules. */
function inputOf(options: Options): z.infer<typeof newLimitedKeyInput> {
  const [usd, models] = [options.text('budget-usd'), modelList(options.text('models'))];
  const given = {
    name: options.argument('name') ?? '',
    models,
    expires_at: options.text('expires'),
    cache_ttl_seconds: options.count('cache-ttl'),
    budget_usd: usd === undefined ? undefined : Number(usd),
    budget_period: options.text('budget-period'),
    budget_unpriced: options.text('unpriced'),
    rpm: options.count('rpm'),
    tpm: options.count('tpm'),
  };
  const parsed = newLimitedKeyInput.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const flag = flagOf[String(issue?.path[0])] ?? 'The key';
  throw usageError(`${flag}: ${issue?.message ?? 'is not valid'}`);
}

function modelList(text: string | undefined): string[] | undefined {
  return text
    ?.split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '');
}
