import type { Limits } from '../../budgets/limits.ts';
import { rateHeaders } from '../../budgets/rate-headers.ts';
import { type Refusal, refusalError } from '../../budgets/refusal.ts';
import type { BudgetReservation, ChargeScope } from '../../budgets/reservation.ts';
import { costOf } from '../../catalog/cost.ts';
import type { ModelPrice } from '../../catalog/price.ts';
import { codecOf } from '../../codecs/index.ts';
import { noUsage, type Usage } from '../../codecs/wire-format.ts';
import { nameOf, type Target } from '../../combos/target.ts';
import type { Skip, Trace } from '../../combos/trace.ts';
import { pairs } from '../../http/flat-headers.ts';
import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { Snapshot } from '../../snapshot.ts';
import { estimateInput } from '../metering/meter.ts';
import type { TieredUsage } from '../request/answer-usage.ts';
import type { LedgerFacts, RequestReservation } from '../request/facts.ts';
import { requestedAnswers } from './requested-answers.ts';
import { requestedOutput } from './requested-output.ts';

/** Output that is expected of a request that sets no bound to it. */
const USUAL_OUTPUT = 4_096;

/** What decides whether the budgets have room. */
export interface AdmitContext {
  limits: Pick<Limits, 'reservationFor'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

export interface AdmitInput {
  facts: LedgerFacts;
  body: readonly Buffer[];
  targets: readonly [Target, ...Target[]];
  /** Called with the targets that there was no room for. */
  trace: Pick<Trace, 'skipped'>;
  snapshot: Snapshot;
}

/** A request that the budgets let in: its reservation, and the targets that are left. */
export interface Admitted {
  reservation: RequestReservation | null;
  targets: readonly [Target, ...Target[]];
}

/**
 * Reserves what a request may use, at the first of its targets for which the budgets have room. A request that no budget
 * counts is let in at once. `dispatch/finish.ts` settles the reservation.
 * @throws GatewayError `budget_exceeded`, `rate_limit_exceeded`, `unpriced_model`
 */
export function admit(context: AdmitContext, input: AdmitInput): Admitted | Promise<Admitted> {
  const { facts, targets } = input;
  const { comboId, principal, tags } = facts;
  const reservation = context.limits.reservationFor({ keyId: principal.keyId, comboId, tags });
  return reservation === null ? { reservation: null, targets } : reserve(context, reservation, input);
}

async function reserve(
  context: AdmitContext,
  reservation: BudgetReservation,
  input: AdmitInput,
): Promise<Admitted> {
  const { targets, trace } = input;
  const requestReservation = reservationFor(context, reservation, input);
  let firstRefusal: GatewayError | null = null;
  for (const [index, target] of targets.entries()) {
    const error = await requestReservation.moveTo(target);
    if (error === null)
      return { reservation: requestReservation, targets: [target, ...targets.slice(index + 1)] };
    trace.skipped.push(budgetSkip(target, error));
    firstRefusal ??= error;
  }
  throw firstRefusal;
}

/** The entry of the trace for a target that the budgets had no room for. */
export function budgetSkip(target: Target, { kind, message }: GatewayError): Skip {
  return { ...nameOf(target), reason: kind === 'billing' ? 'budget' : 'limit', detail: message };
}

function reservationFor(
  { now }: AdmitContext,
  reservation: BudgetReservation,
  input: AdmitInput,
): RequestReservation {
  const { facts, snapshot } = input;
  const dialect = facts.format === 'anthropic-messages' ? 'anthropic' : 'openai';
  // At once: what is made later keeps the request's bytes as long as the answer takes.
  const estimate = estimateOf(input);
  const chargeScopeAt = (target: Target): ChargeScope => ({
    connectionId: target.connection.id,
    innerCombos: target.innerCombos ?? [],
    tokens: () => tokensOf(estimate),
    usd: () => estimatedCost(snapshot, target, { usage: estimate, tier: facts.requestedTier }, now()),
  });
  const headers = () => rateHeaders(reservation.rates(), dialect, now());
  const errorOf = (refusal: Refusal | null, { model, provider }: Target) =>
    refusal === null
      ? null
      : refusalError(refusal, `${provider.id}/${model}`, Object.fromEntries(pairs(headers())));
  return {
    headers,
    moveTo(target) {
      const refusal = reservation.reserve(chargeScopeAt(target));
      return refusal instanceof Promise
        ? refusal.then((answer) => errorOf(answer, target))
        : errorOf(refusal, target);
    },
    settle(charge) {
      if (charge === null) return reservation.settle(null);
      const { costUsd: usd, usage } = charge;
      // An answer without any use, e.g. an error, costs nothing.
      reservation.settle(usage === null ? { tokens: 0, usd: 0 } : { tokens: tokensOf(usage), usd });
    },
  };
}

function tokensOf(usage: Usage): number {
  return inputTokens(usage) + outputTokens(usage);
}

/** What a request may use at most, by its size and by what it asks for. */
function estimateOf({ body, facts: { format } }: AdmitInput): Usage {
  const input = estimateInput(body);
  const usual = codecOf(format).usualUsage;
  const answers = requestedAnswers(format, body);
  if (usual !== undefined) return { ...noUsage, input, ...times(usual, answers) };
  return { ...noUsage, input, output: (requestedOutput(format, body) ?? USUAL_OUTPUT) * answers };
}

function times(usage: Partial<Usage>, answers: number): Partial<Usage> {
  if (answers === 1) return usage;
  return Object.fromEntries(Object.entries(usage).map(([bucket, amount]) => [bucket, amount * answers]));
}

/**
 * What a request may cost at most: the usual price, or that of the tier that it asks for where that is more. Which tier
 * serves it is known only afterwards. Null for a model without a price.
 */
function estimatedCost(
  { catalog }: Snapshot,
  { model, provider }: Target,
  { tier, usage }: TieredUsage & { usage: Usage },
  at: number,
): number | null {
  const usual = sumOfPriced(catalog.priceOf(provider, model, at), usage);
  const requestedTierCost =
    tier === null ? null : sumOfPriced(catalog.priceOf(provider, model, at, tier), usage);
  return usual === null || requestedTierCost === null ? usual : Math.max(usual, requestedTierCost);
}

/** The sum over what has a price; null for a model without any. */
function sumOfPriced(price: ModelPrice | null, usage: Usage): number | null {
  if (price === null) return null;
  const whole = costOf(price, usage);
  if (whole !== null) return whole;
  // A model that is priced by another unit than most: each kind of use for itself.
  let sum = 0;
  for (const [bucket, amount] of Object.entries(usage))
    sum += costOf(price, { ...noUsage, [bucket]: amount }) ?? 0;
  // A price for other uses alone is none for this one.
  return sum === 0 ? null : sum;
}
