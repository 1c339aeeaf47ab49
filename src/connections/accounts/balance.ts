import type { BalanceSource, Provider } from '../../providers/provider.ts';
import { upstreamUrl } from '../../providers/url.ts';
import type { OpenConnection } from '../schema.ts';
import { type AskOptions, ask } from '../testing/ask.ts';

/** Money that an account has left at its provider. */
export interface Balance {
  /** ISO 4217. */
  currency: string;
  remaining: number;
  /** Of how much; null where there is no such limit. */
  limit: number | null;
}

/**
 * Asks the provider of a connection how much money is left; null where it does not tell.
 * @throws Error when the answer is none, in words that hold no credential
 */
export async function fetchBalance(
  connection: OpenConnection,
  provider: Provider,
  options: AskOptions,
): Promise<Balance[] | null> {
  const { auth, balance } = provider;
  const baseUrl = connection.baseUrl ?? provider.baseUrl;
  if (balance === undefined || baseUrl === null) return null;
  const url = upstreamUrl(baseUrl, balance.path, Object.values(provider.formats));
  const question = { url, auth, body: null, headers: { accept: 'application/json', ...provider.headers } };
  const { statusCode, text } = await ask(question, connection, provider, options);
  if (statusCode !== 200)
    throw new Error(`${provider.name} answered ${statusCode} when asked for the balance`);
  const balances = balancesIn(text, balance);
  if (balances === null) throw new Error(`${provider.name} reported the balance in an unknown form`);
  return balances;
}

/** The balances of an answer; null when it is not such an answer. An account without a limit has none. */
function balancesIn(text: string, source: BalanceSource): Balance[] | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const entries = source.each === undefined ? [json] : at(json, source.each);
  if (!Array.isArray(entries)) return null;
  const balances: Balance[] = [];
  for (const entry of entries) {
    const remaining = at(entry, source.remaining);
    if (remaining === null) continue;
    const amount = amountOf(remaining);
    const currency = typeof source.currency === 'string' ? source.currency : at(entry, source.currency.at);
    if (amount === null || typeof currency !== 'string' || !/^[A-Za-z]{3}$/.test(currency)) return null;
    const limit = source.limit === undefined ? null : amountOf(at(entry, source.limit));
    balances.push({ currency: currency.toUpperCase(), remaining: amount, limit });
  }
  return balances;
}

function amountOf(value: unknown): number | null {
  const amount = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof amount === 'number' && Number.isFinite(amount) ? amount : null;
}

/** What a JSON pointer leads to; undefined when it leads nowhere. No pointer of ours has escapes. */
function at(json: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      json,
    );
}
