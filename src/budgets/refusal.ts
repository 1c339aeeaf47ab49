import { type ErrorCode, GatewayError } from '../lib/error.ts';
import type { BudgetRecord } from './schema.ts';

/** Why a request does not fit. Amounts in USD, tokens or requests; times in milliseconds since the epoch. */
export interface Refusal {
  budget: BudgetRecord;
  /** What it is about, by name where that is known. */
  subject: string | null;
  spent: number;
  reserved: number;
  /** What is neither spent nor set aside. */
  remaining: number;
  /** What the request may use. */
  requested: number;
  /** When it will fit; null when it never will. */
  retryAt: number | null;
  at: number;
  /**
   * There is no room; it is unknown whether there is, because the other gateways cannot be asked; or the request has no
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
  const { requested, budget, reason, remaining, reserved, retryAt, spent, subject } = refusal;
  const what = describeBudget(budget, subject);
  if (reason === 'unavailable')
    return `The ${what} is shared with other gateways through Redis, which does not answer, and what was granted to this gateway is used up. Try again in a few seconds. To go on without Redis, set "redis": {"failure_mode": "local"} in config.json`;
  if (reason === 'unpriced')
    return `The ${what} cannot count ${model}: no price is known for it. Give it one under "prices" in config.json, e.g. {"${model}": {"input": 1, "output": 4}} in USD per million tokens, or allow it with \`${commandFor(refusal, budget.limit)} --unpriced allow\``;
  const show = (amount: number) => amountText(budget, amount);
  const raise = `raise the limit with \`${commandFor(refusal, 'N')}\``;
  if (budget.metric === 'concurrency')
    return `The ${what} is reached: ${reserved} ${reserved === 1 ? 'is' : 'are'} open, and 0 remain. Try again when one has ended, or ${raise}`;
  const open = reserved > 0 ? ` and ${show(reserved)} set aside for open requests` : '';
  const end = retryAt === null ? null : new Date(retryAt).toISOString().replace(/\.\d+Z$/, 'Z');
  const fewer = budget.metric === 'requests' ? '' : 'Ask for fewer output tokens, or ';
  if (end === null)
    return `This request does not fit in the ${what}: it may use ${show(requested)}, more than the whole limit; ${show(remaining)} remain. ${fewer === '' ? capitalized(raise) : `${fewer}${raise}`}`;
  const again = isCalendar(budget) ? `The window ends at ${end}` : `There is room again from ${end} on`;
  if (remaining > 0 && remaining < requested && budget.metric !== 'requests')
    return `This request does not fit in the ${what}: it may use ${show(requested)}, and ${show(remaining)} remain, with ${show(spent)} spent${open}. ${again}. Ask for fewer output tokens, wait until then, or ${raise}`;
  const state = spent < budget.limit ? 'is used up for now' : 'is used up';
  return `The ${what} ${state}: ${show(spent)} spent${open}, and ${show(remaining)} remain. ${again}. Wait until then, or ${raise}`;
}

function isCalendar({ period }: BudgetRecord): boolean {
  return period === 'day' || period === 'week' || period === 'month';
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The command that sets the limit of a budget. */
function commandFor(
  { budget: { metric, period, scope, subject: id }, subject }: Refusal,
  limit: number | 'N',
): string {
  const name = subject ?? id ?? '';
  const of =
    scope === 'global' ? '' : ` --${scope} ${/^[\w.@:/=+-]+$/.test(name) ? name : JSON.stringify(name)}`;
  const per = period === null ? '' : ` --per ${period}`;
  return `gateway budgets set${of} --${metric} ${limit}${per}`;
}

/** A budget in words: `limit of 60 requests per minute of the key "ci"`. */
export function describeBudget(budget: BudgetRecord, subject: string | null): string {
  const { limit, metric, period, scope } = budget;
  const noun = metric === 'usd' ? 'budget' : 'limit';
  const amount =
    metric === 'concurrency'
      ? `${limit} ${limit === 1 ? 'request' : 'requests'} at the same time`
      : amountText(budget, limit);
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
