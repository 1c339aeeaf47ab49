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
  /**
   * There is no room; nobody can say whether there is, because the other gateways cannot be asked; or the request has no
   * known price, and the budget takes only those that have one.
   */
  reason: 'full' | 'unavailable' | 'unpriced';
}

/**
 * A client that waits no longer than this is told to try again; one that would have to wait longer is told not to, since
 * the tools hold the request open meanwhile.
 */
const WORTH_WAITING_S = 60;

/**
 * The error of a refused request: 402 for money, 429 for the rest, naming the budget, what is used and when to come back.
 * @param model the provider's id and the model's, as prices are set for them
 */
export function refusalError(
  refusal: Refusal,
  model: string,
  headers: Readonly<Record<string, string>> = {},
): GatewayError {
  const { at, reason, retryAt } = refusal;
  const wait = retryAt === null ? null : Math.max(1, Math.ceil((retryAt - at) / 1000));
  const isMoney = refusal.budget.metric === 'usd' && reason !== 'unavailable';
  const final = wait === null || wait > WORTH_WAITING_S || isMoney;
  return new GatewayError(codeOf(refusal), messageOf(refusal, model), {
    ...(wait === null ? {} : { retryAfter: wait }),
    headers: final ? { ...headers, 'x-should-retry': 'false' } : headers,
  });
}

function codeOf({ budget, reason }: Refusal): ErrorCode {
  if (reason === 'unpriced') return 'unpriced_model';
  if (reason === 'unavailable') return 'budget_unavailable';
  return budget.metric === 'usd' ? 'budget_exceeded' : 'rate_limit_exceeded';
}

function messageOf(refusal: Refusal, model: string): string {
  const { asked, budget, reason, reserved, retryAt, spent, subject } = refusal;
  const name = `The ${describeBudget(budget, subject)}`;
  if (reason === 'unavailable')
    return `${name} is shared with other gateways through Redis, which does not answer, and what was granted to this gateway is used up. Try again in a few seconds. To go on without Redis, set "redis": {"failure_mode": "local"} in config.json`;
  if (reason === 'unpriced')
    return `${name} cannot count ${model}: no price is known for it. Give it one under "prices" in config.json, e.g. {"${model}": {"input": 1, "output": 4}} in USD per million tokens, or allow it with \`gateway budgets set ${flagsOf(budget)} --unpriced allow\``;
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

/** The flags of the command that set a budget in USD. */
function flagsOf({ limit, period, scope, subject }: BudgetRecord): string {
  const of = subject === null ? '' : `--${scope} ${subject} `;
  return `${of}--usd ${limit} --per ${period}`;
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
