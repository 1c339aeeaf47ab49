import { z } from 'zod';
import { keyStore } from '../../access/store.ts';
import { limitedKeys, newLimitedKeyInput } from '../../budgets/key-limits.ts';
import type { Row } from '../../http/resource.ts';
import { partsOf } from '../../lib/tags.ts';
import type { Flag, Options } from '../command.ts';
import type { Context } from '../context.ts';
import { failure, usageError } from '../terminal/failure.ts';
import { printable } from '../terminal/text.ts';

const periods = ['day', 'week', 'month'] as const;

/** What a key may be limited to. */
export const keyFlags: readonly Flag[] = [
  {
    name: 'models',
    value: 'LIST',
    summary: 'models it may use, comma separated; a trailing * matches any rest',
  },
  { name: 'expires', value: 'TIME', summary: 'when it stops working: ISO 8601, e.g. 2027-01-31' },
  { name: 'budget-usd', value: 'N', summary: 'limit in USD with it in a period' },
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
    summary: 'how long an answer may be reused for the same request (default: never)',
  },
  { name: 'owner', value: 'NAME', summary: 'whose it is: a user of this gateway, or any text' },
  { name: 'team', value: 'NAME', summary: 'the team that its requests count for' },
  {
    name: 'label',
    value: 'NAME=VALUE',
    kind: 'list',
    summary: 'a tag of each of its requests, e.g. env=ci; may be repeated',
  },
];

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
  owner: '--owner',
  team: '--team',
  labels: '--label',
};

/** The fields of a key that the flags set, as the management API calls them; undefined for those that were not given. */
function fieldsOf(options: Options): Record<string, unknown> {
  const [usd, models] = [options.text('budget-usd'), modelList(options.text('models'))];
  return {
    models,
    expires_at: options.text('expires'),
    cache_ttl_seconds: options.count('cache-ttl'),
    budget_usd: usd === undefined ? undefined : Number(usd),
    budget_period: options.text('budget-period'),
    budget_unpriced: options.text('unpriced'),
    rpm: options.count('rpm'),
    tpm: options.count('tpm'),
    owner: options.text('owner'),
    team: options.text('team'),
    labels: labelsIn(options.texts('label')),
  };
}

/** Labels as flags name them; undefined for none. @throws a usage error for what is no `NAME=VALUE` */
export function labelsIn(texts: readonly string[]): Record<string, string> | undefined {
  if (texts.length === 0) return undefined;
  return Object.fromEntries(
    texts.map((text) => {
      const { name, value } = partsOf(text);
      if (value === null) throw usageError(`--label takes NAME=VALUE, e.g. env=ci, not "${printable(text)}"`);
      return [name.trim(), value.trim()];
    }),
  );
}

/** What the flags of `keys add` ask for, by the rules of the management API. @throws a usage error that names the flag */
export function newKeyOf(options: Options): { name: string } & Record<string, unknown> {
  return checked({ name: options.argument('name') ?? '', ...fieldsOf(options) });
}

/** What `keys edit` can take away, and the fields that go with it. */
export const clearable: Readonly<Record<string, readonly string[]>> = {
  models: ['models'],
  expires: ['expires_at'],
  'budget-usd': ['budget_usd'],
  rpm: ['rpm'],
  tpm: ['tpm'],
  'cache-ttl': ['cache_ttl_seconds'],
  owner: ['owner'],
  team: ['team'],
};

/**
 * What the flags of `keys edit` change; null takes a limit away.
 * @param row the key as it is shown
 * @throws a usage error that names the flag, and when nothing is changed or one thing is both set and cleared
 */
export function keyChangeOf(options: Options, row: Row): Record<string, unknown> {
  const cleared = options.texts('clear').flatMap((text) => text.split(',').map((one) => one.trim()));
  const change: Record<string, unknown> = {};
  for (const [field, value] of Object.entries({ name: options.text('name'), ...fieldsOf(options) }))
    if (value !== undefined) change[field] = value;
  // A period or a rule alone is a change of the amount that is there.
  if (change['budget_period'] !== undefined || change['budget_unpriced'] !== undefined)
    change['budget_usd'] ??= row['budget_usd'] ?? undefined;
  const removed = options.texts('remove-label');
  if (change['labels'] !== undefined || removed.length > 0) {
    const { labels = {} } = z
      .object({ labels: z.record(z.string(), z.string()) })
      .partial()
      .parse(row);
    const remaining = Object.entries(labels).filter(([name]) => !removed.includes(name));
    change['labels'] = { ...Object.fromEntries(remaining), ...Object(change['labels']) };
    const missing = removed.find((name) => !Object.hasOwn(labels, name));
    if (missing !== undefined)
      throw usageError(`--remove-label: the key has no label "${printable(missing)}"`);
  }
  checked({ name: row['name'], ...change });
  for (const name of cleared) {
    const fields = clearable[name];
    if (fields === undefined)
      throw usageError(`--clear: there is no "${name}"; it takes ${Object.keys(clearable).join(', ')}`);
    if (fields.some((field) => change[field] !== undefined))
      throw usageError(`--clear ${name} and --${name} exclude each other`);
    for (const field of fields) change[field] = null;
  }
  if (Object.values(change).every((value) => value === undefined))
    throw usageError('Nothing to change: name a flag such as --models, --expires or --clear');
  return change;
}

function checked(input: Record<string, unknown>): { name: string } & Record<string, unknown> {
  const parsed = newLimitedKeyInput.safeParse(input);
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

/** A key that a command names, and what can be done to it. @throws a failure when there is none of that id or name */
export async function namedKey(options: Options, context: Context) {
  const selector = options.argument('key') ?? '';
  const store = await context.existingStore();
  const limited = store === null ? null : limitedKeys(store, context.now);
  const row = (await limited?.find(selector)) ?? null;
  if (store === null || limited === null || row === null) {
    const hint = '`gateway keys list` shows what there is';
    throw failure(1, 'not_found', `There is no key "${printable(selector)}": ${hint}`);
  }
  return { keys: keyStore(store, context.now), limited, row, name: String(row['name']) };
}

/** The failure of a change that came too late. */
export function keyNotFound(name: string): Error {
  return failure(1, 'not_found', `The key "${name}" was removed by someone else meanwhile.`);
}
