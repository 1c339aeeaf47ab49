import { type Claim, type ClaimRefusal, reserveHere, reserveRepeatedly, type SharedClaims } from './claim.ts';
import {
  addUse,
  availableAt,
  type Counter,
  lapsedLeases,
  levelAt,
  limitOf,
  NANO,
  releaseIn,
  remainingAt,
  usageElsewhereAt,
} from './counter.ts';
import { type EndedRequests, endedRequests, type RequestUsage } from './ended-requests.ts';
import { type RemainingLimit, remainingLimits } from './rate-headers.ts';
import type { Refusal } from './refusal.ts';
import type { BudgetRecord, BudgetScope } from './schema.ts';

/** The request that budgets are charged for. */
export interface ChargedRequest {
  keyId: string;
  /** The combo through which it was resolved. */
  comboId: string | null;
  /** Its tags, those of its key included; absent for none. */
  tags?: readonly string[];
}

/** A threshold that was reached, notified once in a window. */
export interface BudgetEvent {
  kind: 'soft' | 'exceeded';
  budget: BudgetRecord;
  /** What it is about, by name where that is known. */
  subject: string | null;
  /** In USD, tokens or requests. */
  used: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Where an attempt goes. */
export interface ChargePath {
  connectionId: string;
  /** The combos on the way there within the one that was asked for. */
  innerCombos: readonly string[];
}

/** Where an attempt goes, and what it may use at most, as far as that is known before. */
export interface ChargeScope extends ChargePath {
  /** Input and output tokens. */
  tokens(): number;
  /** Null where no price is known. */
  usd(): number | null;
}

/** What one request has reserved in the budgets, from before its first attempt until its end. */
export interface BudgetReservation {
  /**
   * Reserves what an attempt may use, and releases what an earlier attempt had reserved. Either every budget has room, or nothing
   * is reserved. Null: there was room.
   * @param quietly sends no notification that a budget is exceeded, because the caller tries again before it refuses the request
   */
  reserve(scope: ChargeScope, quietly?: boolean): Refusal | null | Promise<Refusal | null>;
  /** Releases what was reserved and counts what was used; null only releases. Later calls do nothing. */
  settle(used: RequestUsage | null): void;
  /** What is left of the limits that the request is counted by, for what its answer says of them. */
  rates(): readonly RemainingLimit[];
}

/** Reservations of one kind, for requests to come. */
export interface AdvanceReservations {
  readonly count: number;
  /** What was left before they were made. */
  readonly rates: readonly RemainingLimit[];
  /** Settles some of them, as `BudgetReservation` does. */
  settle(ended: EndedRequests): void;
  /** Makes a reservation of its own of one of them, for a request that moves to another target. */
  takeOne(): BudgetReservation;
}

export interface ReservationContext {
  /** Milliseconds since the epoch. */
  now(): number;
  /** The name of what a budget is about; null when there is none of that id. */
  nameOf(scope: BudgetScope, subject: string): string | null;
  notify(event: BudgetEvent): void;
  /** Where several gateways share their limits. */
  shared: SharedClaims | null;
  /** All counters of a request, on its way to a target. */
  applying(request: ChargedRequest, path: ChargePath | null): Counter[];
}

/** What a request has reserved. */
interface ReservedClaims {
  claims: readonly Claim[];
  /** Null where nothing was reserved. */
  path: ChargePath | null;
}

/** @param times of how many requests */
function releaseAll({ shared }: ReservationContext, claims: readonly Claim[], times = 1): void {
  for (const { amount, bucket, counter } of claims) {
    releaseIn(counter, bucket, times * amount);
    shared?.onChange(counter);
  }
}

/** Releases what was reserved, the claims once for each of the requests, and counts what was used. */
function settleClaims(
  context: ReservationContext,
  request: ChargedRequest,
  { claims, path }: ReservedClaims,
  ended: EndedRequests,
): void {
  const { applying, now, shared } = context;
  releaseAll(context, claims, ended.count);
  if (ended.charged === 0) return;
  const time = now();
  for (const counter of applying(request, path)) {
    const claim = claims.find((one) => one.counter === counter);
    // Without a claim: the budget was made while the request was under way.
    const bucket = claim?.bucket ?? counter.window.bucketAt(time);
    addUse(counter, bucket, spendingOf(counter, ended, claim?.amount ?? 0));
    shared?.onChange(counter);
    notifyOfThreshold(context, counter, time);
  }
}

/** Reserves up to `count` times for requests to come, as often as there is room. What other gateways have to be asked for is not. */
export function reserveInAdvance(
  context: ReservationContext,
  request: ChargedRequest,
  scope: ChargeScope,
  count: number,
): AdvanceReservations {
  const { applying, now, shared } = context;
  const time = now();
  const counters = applying(request, scope);
  const mayReserve = shared === null && !counters.some((counter) => refusesUnpriced(counter, scope));
  const claims = counters.map((counter) => claimOf(counter, scope, time));
  const rates = remainingLimits(counters, time);
  const each: ReservedClaims = { claims, path: scope };
  return {
    count: mayReserve ? reserveRepeatedly(claims, count, time) : 0,
    rates,
    settle: (ended) => settleClaims(context, request, each, ended),
    takeOne: () => createReservation(context, request, each),
  };
}

export function createReservation(
  context: ReservationContext,
  request: ChargedRequest,
  initial: ReservedClaims = { claims: [], path: null },
): BudgetReservation {
  const { applying, now, shared } = context;
  /** The path of the last reservation that had room, and of the last one that was asked for. */
  const at = { reserved: initial.path, requested: initial.path };
  let claims = initial.claims;
  let closed = false;

  const release = () => {
    releaseAll(context, claims);
    claims = [];
  };
  const answerOf = (
    noRoom: ClaimRefusal | null,
    next: readonly Claim[],
    scope: ChargeScope,
    quietly: boolean,
  ): Refusal | null => {
    if (noRoom !== null) {
      if (!quietly) noteExceeded(context, noRoom, now());
      return refusalOf(context, noRoom.claim, now(), noRoom.kind);
    }
    claims = next;
    at.reserved = scope;
    // It ended while others were asked.
    if (closed) release();
    return null;
  };
  return {
    rates: () => remainingLimits(applying(request, at.requested), now()),
    reserve(scope, quietly = false) {
      const time = now();
      at.requested = scope;
      const counters = applying(request, scope);
      release();
      const unpriced = counters.find((counter) => refusesUnpriced(counter, scope));
      if (unpriced !== undefined)
        return refusalOf(context, { counter: unpriced, amount: 0 }, time, 'unpriced');
      const next = counters.map((counter) => claimOf(counter, scope, time));
      const answer = shared === null ? reserveHere(next, time) : shared.reserve(next);
      return answer instanceof Promise
        ? answer.then((noRoom) => answerOf(noRoom, next, scope, quietly))
        : answerOf(answer, next, scope, quietly);
    },
    settle(used) {
      if (closed) return;
      closed = true;
      settleClaims(context, request, { claims, path: at.reserved }, endedRequests(used));
      claims = [];
    },
  };
}

function refusesUnpriced({ budget }: Counter, scope: ChargeScope): boolean {
  return budget.metric === 'usd' && budget.unpriced === 'refuse' && scope.usd() === null;
}

export function claimOf(counter: Counter, scope: ChargeScope, at: number): Claim {
  const bucket = counter.window.bucketAt(at);
  switch (counter.budget.metric) {
    case 'usd':
      return { counter, bucket, amount: Math.ceil((scope.usd() ?? 0) * NANO) };
    case 'tokens':
      return { counter, bucket, amount: Math.ceil(scope.tokens()) };
    case 'requests':
    case 'concurrency':
      return { counter, bucket, amount: 1 };
  }
}

/** @param estimate what was set aside for each: it counts where the cost is not known, and the budget takes only what has a price */
function spendingOf(
  { budget }: Counter,
  { charged, nanoUsd, tokens, unpriced }: EndedRequests,
  estimate: number,
): { amount: number; unpriced: number } {
  switch (budget.metric) {
    case 'usd':
      return { amount: nanoUsd + (budget.unpriced === 'refuse' ? unpriced * estimate : 0), unpriced };
    case 'tokens':
      return { amount: tokens, unpriced: 0 };
    case 'requests':
      return { amount: charged, unpriced: 0 };
    case 'concurrency':
      return { amount: 0, unpriced: 0 };
  }
}

/** Tells of a budget that has no room, once in a while. */
function noteExceeded(
  context: ReservationContext,
  { claim: { amount, counter }, kind }: ClaimRefusal,
  at: number,
): void {
  if (kind !== 'full' || amount === 0 || counter.notifiedUntil.hard > at) return;
  const { held, spent } = levelAt(counter, at);
  counter.notifiedUntil.hard = quietUntil(counter, at);
  notifyOf(context, 'exceeded', counter, spent + usageElsewhereAt(counter, at) + held, at);
}

function refusalOf(
  context: ReservationContext,
  { amount, counter }: Pick<Claim, 'amount' | 'counter'>,
  at: number,
  reason: Refusal['reason'],
): Refusal {
  const { budget } = counter;
  const { held, spent } = levelAt(counter, at);
  const used = spent + usageElsewhereAt(counter, at);
  return {
    budget,
    subject: subjectOf(context, budget),
    spent: displayAmount(counter, used),
    reserved: displayAmount(counter, held + lapsedLeases(counter, at)),
    remaining: displayAmount(counter, remainingAt(counter, at)),
    requested: displayAmount(counter, amount),
    retryAt: retryAtOf(counter, amount, at, reason),
    at,
    reason,
  };
}

/** For how long a gateway that has lost the others is expected to be without them, in milliseconds. */
const OUTAGE_MS = 5_000;

function retryAtOf(counter: Counter, amount: number, at: number, reason: Refusal['reason']): number | null {
  switch (reason) {
    case 'unavailable':
      return at + OUTAGE_MS;
    case 'unpriced':
      return null;
    case 'full':
      return amount > limitOf(counter) ? null : availableAt(counter, amount, at);
  }
}

/** An amount in USD, tokens or requests. */
export function displayAmount({ budget }: Counter, amount: number): number {
  return budget.metric === 'usd' ? amount / NANO : amount;
}

const MOMENT_QUIET_MS = 60_000;

function quietUntil({ window }: Counter, at: number): number {
  return Math.min(
    window.endOf(window.bucketAt(at)),
    window.kind === 'moment' ? at + MOMENT_QUIET_MS : Infinity,
  );
}

function notifyOfThreshold(context: ReservationContext, counter: Counter, at: number): void {
  if (counter.budget.metric === 'concurrency') return;
  for (const kind of ['soft', 'hard'] as const) {
    if (counter.notifiedUntil[kind] > at || !isReached(counter, kind, at)) continue;
    counter.notifiedUntil[kind] = quietUntil(counter, at);
    const used = levelAt(counter, at).spent + usageElsewhereAt(counter, at);
    notifyOf(context, kind === 'soft' ? 'soft' : 'exceeded', counter, used, at);
  }
}

function isReached(counter: Counter, kind: 'soft' | 'hard', at: number): boolean {
  const percent = kind === 'soft' ? counter.budget.softPercent : 100;
  if (percent === null) return false;
  const used = levelAt(counter, at).spent + usageElsewhereAt(counter, at);
  return used * 100 >= limitOf(counter) * percent;
}

/** Marks thresholds that are reached already as notified: that was done before the gateway started again. */
export function markThresholdsReached(counter: Counter, at: number): void {
  if (counter.budget.metric === 'concurrency') return;
  for (const kind of ['soft', 'hard'] as const)
    if (isReached(counter, kind, at)) counter.notifiedUntil[kind] = quietUntil(counter, at);
}

function notifyOf(
  context: ReservationContext,
  kind: BudgetEvent['kind'],
  counter: Counter,
  used: number,
  at: number,
): void {
  const { budget } = counter;
  counter.reachedAt[kind] = at;
  const subject = subjectOf(context, budget);
  context.notify({ kind, budget, subject, used: displayAmount(counter, used), at });
}

function subjectOf({ nameOf }: ReservationContext, { scope, subject }: BudgetRecord): string | null {
  return subject === null ? null : nameOf(scope, subject);
}
