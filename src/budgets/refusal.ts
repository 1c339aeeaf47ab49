import { type ErrorCode, GatewayError } from '../lib/error.ts';
import type { BudgetRecord } from './schema.ts';

/** Why a request does not fit. Amounts in USD, tokens or requests; times in milliseconds since the epoch. */
export interface Refusal {
  budget: BudgetRecord;
  /** The key, combo or connection, by name where that is known. */
  subject: string | null;
  spent: number;
  reserved: number;
  /** What the request may use. */
  asked: number;
  /** When it will fit; null when it never will. */
  retryAt: number | null;
  at: number;
  /** It has no known price, which this budget does not take. */
  unpriced: boolean;
}

/**
 * A client that waits no longer than this is told to try again; one that would have to wait longer is told not to, since
 * the tools hold the request open meanwhile.
 */
const WORTH_WAITING_S = 60;

/** The error of a refused request: 402 for money, 429 for the rest, naming the budget, what is used and when to come back. */
export function refusalError(refusal: Refusal, headers: Readonly<Record<string, string>> = {}): GatewayError {
  const { at, retryAt } = refusal;
  const wait = retryAt === null ? null : Math.max(1, Math.ceil((retryAt - at) / 1000));
  const final = wait === null || wait > WORTH_WAITING_S || refusal.budget.metric === 'usd';
  return new GatewayError(codeOf(refusal), messageOf(refusal), {
    ...(wait === null ? {} : { retryAfter: wait }),
    headers: final ? { ...headers, 'x-should-retry': 'false' } : headers,
  });
}

function codeOf({ budget, unpriced }: Refusal): ErrorCode {
  if (unpriced) return 'unpriced_model';
  return budget.metric === 'usd' ? 'budget_exceeded' : 'rate_limit_exceeded';
}

function messageOf(refusal: Refusal): string {
  const { asked, budget, reserved, retryAt, spent, subject, unpriced } = refusal;
  const name = `The ${describeBudget(budget, subject)}`;
  if (unpriced)
    return `${name} takes no request whose price is unknown: set a price under "prices" in config.json, or set the budget to unpriced: allow`;
  const show = (amount: number) => amountText(budget, amount);
  if (retryAt === null)
    return `${name} is smaller than this one request, which may use ${show(asked)}: ask for fewer output tokens, or raise the limit`;
  const until = new Date(retryAt).toISOString().replace(/\.\d+Z$/, 'Z');
  if (budget.metric === 'concurrency')
    return `${name} is reached: ${reserved} are open; try again when one has ended`;
  const open = reserved > 0 ? ` and ${show(reserved)} set aside for open requests` : '';
  const need = budget.metric === 'requests' ? '' : `; this request may use ${show(asked)}`;
  return `${name} is used up: ${show(spent)} spent${open}${need}. There is room again from ${until} on`;
}

/** A budget in words: `limit of 60 requests per minute of the key "ci"`. */
export function describeBudget(budget: BudgetRecord, subject: string | null): string {
  const { limit, metric, period, scope } = budget;
  const noun = metric === 'usd' ? 'budget' : 'limit';
  const amount = metric === 'concurrency' ? `${limit} requests at the same time` : amountText(budget, limit);
  const per = period === null ? '' : ` per ${period}`;
  const whose = scope === 'global' ? 'this gateway' : `the ${scope} "${subject ?? budget.subject ?? ''}"`;
  return `${noun} of ${amount}${per} of ${whose}`;
}

function amountText({ metric }: BudgetRecord, amount: number): string {
  switch (metric) {
    case 'usd':
      return `${Number(amount.toFixed(6))} USD`;
    case 'tokens':
      return `${amount} tokens`;
    case 'requests':
    case 'concurrency':
      return amount === 1 ? '1 request' : `${amount} requests`;
  }
}
