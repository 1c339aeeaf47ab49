import type { Claim, Shared, Spending } from './claim.ts';
import {
  type Counter,
  fits,
  foreignAt,
  holdIn,
  levelAt,
  limitOf,
  NANO,
  releaseIn,
  roomAt,
  spendIn,
} from './counter.ts';

import type { Refusal } from './refusal.ts';
import type { BudgetRecord, BudgetScope } from './schema.ts';

/** Whose request it is. */
export interface Asked {
  keyId: string;
  /** The combo through which it was resolved. */
  comboId: string | null;
}

/** A threshold that was reached, told once in a window. */
export interface BudgetEvent {
  kind: 'soft' | 'exceeded';
  budget: BudgetRecord;
  /** The key, combo or connection, by name where that is known. */
  subject: string | null;
  /** In USD, tokens or requests. */
  used: number;
}

/** Where an attempt goes. */
export interface Way {
  connectionId: string;
  /** The combos on the way there within the one that was asked for. */
  innerCombos: readonly string[];
}

/** Where an attempt goes, and what it may use at most, as far as that can be told before. */
export interface Place extends Way {
  /** Input and output tokens. */
  tokens(): number;
  /** Null where no price is known. */
  usd(): number | null;
}

/** What a request has used in the end. */
export interface Used {
  /** Input and output tokens. */
  tokens: number;
  /** Null where no price is known, or what was used is not. */
  usd: number | null;
}

/** What one request holds of the budgets, from before its first attempt until its end. */
export interface Hold {
  /**
   * Sets aside what an attempt may use, in the place of what an earlier attempt had set aside. Either all of it fits
   * and is held, or nothing is. Null: it fits.
   */
  take(place: Place): Refusal | null | Promise<Refusal | null>;
  /** Counts what was used instead of what was held; null gives everything back. Later calls do nothing. */
  settle(used: Used | null): void;
  /** The counters that the request is counted by, for what its answer says of them. */
  counters(): readonly Counter[];
}

export interface HoldContext {
  /** Milliseconds since the epoch. */
  now(): number;
  /** The name of a key, combo or connection; null when there is none of that id. */
  nameOf(scope: BudgetScope, subject: string): string | null;
  notify(event: BudgetEvent): void;
  /** Where several gateways share their limits. */
  shared: Shared | null;
  /** All counters of a request, on its way to a target. */
  applying(asked: Asked, way: Way | null): Counter[];
}

export function createHold(context: HoldContext, asked: Asked): Hold {
  const { applying, now, shared } = context;
  /** Where it was let in last, and where it asked for that last. */
  const at: { held: Way | null; asked: Way | null } = { held: null, asked: null };
  let claims: readonly Claim[] = [];
  let closed = false;

  const giveBack = () => {
    const given = claims;
    claims = [];
    release(given);
    shared?.settle(given, []);
  };
  const keep = (next: readonly Claim[], place: Place): null => {
    claims = next;
    at.held = place;
    // It ended while the others were asked.
    if (closed) giveBack();
    return null;
  };
  const holdHere = (next: readonly Claim[], place: Place, time: number): Refusal | null => {
    const refused = next.find(({ amount, counter }) => !fits(counter, amount, time));
    if (refused !== undefined) return refusalOf(context, refused, time);
    for (const { amount, bucket, counter } of next) holdIn(counter, bucket, amount);
    return keep(next, place);
  };
  return {
    counters: () => applying(asked, at.asked),
    take(place) {
      const time = now();
      at.asked = place;
      const counters = applying(asked, place);
      const unpriced = counters.find((counter) => refusesUnpriced(counter, place));
      if (unpriced !== undefined) {
        giveBack();
        return {
          ...refusalOf(context, { counter: unpriced, amount: 0 }, time),
          retryAt: null,
          unpriced: true,
        };
      }
      const next = counters.map((counter) => claimOf(counter, place, time));
      const answer = shared?.claim(claims, next, time) ?? null;
      release(claims);
      claims = [];
      if (answer === null) return holdHere(next, place, time);
      return answer.then((refused) => {
        if (refused === 'gone') return holdHere(next, place, time);
        if (refused !== null) return refusalOf(context, refused, time);
        for (const { amount, bucket, counter } of next) holdIn(counter, bucket, amount);
        return keep(next, place);
      });
    },
    settle(used) {
      if (closed) return;
      closed = true;
      if (used === null) return giveBack();
      const time = now();
      const given = claims;
      claims = [];
      release(given);
      const spent: Spending[] = [];
      for (const counter of applying(asked, at.held)) {
        const bucket = given.find((claim) => claim.counter === counter)?.bucket;
        const spending = spendingOf(counter, used, bucket ?? counter.window.bucketAt(time));
        spendIn(counter, spending.bucket, spending);
        spent.push(spending);
        tellOfThreshold(context, counter, time);
      }
      shared?.settle(given, spent);
    },
  };
}

function refusesUnpriced({ budget }: Counter, place: Place): boolean {
  return budget.metric === 'usd' && budget.unpriced === 'refuse' && place.usd() === null;
}

function claimOf(counter: Counter, place: Place, at: number): Claim {
  const bucket = counter.window.bucketAt(at);
  switch (counter.budget.metric) {
    case 'usd':
      return { counter, bucket, amount: Math.ceil((place.usd() ?? 0) * NANO) };
    case 'tokens':
      return { counter, bucket, amount: Math.ceil(place.tokens()) };
    case 'requests':
    case 'concurrency':
      return { counter, bucket, amount: 1 };
  }
}

function spendingOf(counter: Counter, used: Used, bucket: number): Spending {
  switch (counter.budget.metric) {
    case 'usd':
      return {
        ...{ counter, bucket },
        amount: Math.round((used.usd ?? 0) * NANO),
        unpriced: used.usd === null ? 1 : 0,
      };
    case 'tokens':
      return { counter, bucket, amount: Math.round(used.tokens), unpriced: 0 };
    case 'requests':
      return { counter, bucket, amount: 1, unpriced: 0 };
    case 'concurrency':
      return { counter, bucket, amount: 0, unpriced: 0 };
  }
}

function release(claims: readonly Claim[]): void {
  for (const { amount, bucket, counter } of claims) releaseIn(counter, bucket, amount);
}

function refusalOf(
  context: HoldContext,
  { amount, counter }: Pick<Claim, 'amount' | 'counter'>,
  at: number,
): Refusal {
  const { budget } = counter;
  const { held, spent } = levelAt(counter, at);
  const used = spent + foreignAt(counter, at);
  if (amount > 0 && counter.told.hard <= at) {
    counter.told.hard = quietUntil(counter, at);
    context.notify(eventOf(context, 'exceeded', counter, used + held));
  }
  return {
    budget,
    subject: subjectOf(context, budget),
    spent: shownAmount(counter, used),
    reserved: shownAmount(counter, held),
    asked: shownAmount(counter, amount),
    retryAt: amount > limitOf(counter) ? null : roomAt(counter, amount, at),
    at,
    unpriced: false,
  };
}

/** An amount in USD, tokens or requests. */
export function shownAmount({ budget }: Counter, amount: number): number {
  return budget.metric === 'usd' ? amount / NANO : amount;
}

const MOMENT_QUIET_MS = 60_000;

function quietUntil({ window }: Counter, at: number): number {
  return Math.min(
    window.endOf(window.bucketAt(at)),
    window.kind === 'moment' ? at + MOMENT_QUIET_MS : Infinity,
  );
}

function tellOfThreshold(context: HoldContext, counter: Counter, at: number): void {
  const { softPercent } = counter.budget;
  if (softPercent === null || counter.told.soft > at || counter.budget.metric === 'concurrency') return;
  const used = levelAt(counter, at).spent + foreignAt(counter, at);
  if (used * 100 < limitOf(counter) * softPercent) return;
  counter.told.soft = quietUntil(counter, at);
  context.notify(eventOf(context, 'soft', counter, used));
}

function eventOf(
  context: HoldContext,
  kind: BudgetEvent['kind'],
  counter: Counter,
  used: number,
): BudgetEvent {
  const { budget } = counter;
  return { kind, budget, subject: subjectOf(context, budget), used: shownAmount(counter, used) };
}

function subjectOf({ nameOf }: HoldContext, { scope, subject }: BudgetRecord): string | null {
  return subject === null ? null : nameOf(scope, subject);
}
