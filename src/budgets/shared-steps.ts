import type { Claim, Spending } from './claim.ts';
import { type Counter, hear, levelAt, limitOf } from './counter.ts';
import type { RunScript } from './redis.ts';

export interface StepsInput {
  run: RunScript;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A new id for this gateway, unlike any other. */
  newId(): string;
  /** What a counter has counted here, by its buckets, and is still to be told. */
  untold(counter: Counter): ReadonlyMap<number, number>;
}

/** What one step does: what is asked for, given back and counted. */
interface Step {
  asked?: readonly Claim[];
  released?: readonly Claim[];
  spent?: readonly Spending[];
}

/** Steps over counters that are kept in Redis. */
export interface Steps {
  /** The first claim that does not fit; null when all do. */
  take(step: Step): Promise<Claim | null>;
  /** The same claims under other names, for when these are no longer held there. */
  disown(claims: readonly Claim[]): Claim[];
  /** Forgets what was used of a counter, or says no more than that this gateway is alive. */
  clear(counter: Counter | null): Promise<unknown>;
  /** Begins anew under another id. */
  renew(): void;
}

/** One counter's part of a step; see the script. */
interface Op {
  rb?: number;
  ra?: number;
  sb?: number;
  sa?: number;
  b?: number;
  a?: number;
  lo: number;
  hi: number;
  old: number;
  limit: number;
  ttl: number;
  seed?: [bucket: number, amount: number][];
}

const PREFIX = '{modelgate}:budget:';
const ALIVE = '{modelgate}:gateways';
const DAY_MS = 86_400_000;
const MAX_TTL_MS = 70 * DAY_MS;
/** A bucket that is later than any. */
const FOREVER = 1e15;

export function createSteps({ newId, now, run, untold }: StepsInput): Steps {
  let me = newId();
  /** Under which id a claim is held. */
  const owners = new WeakMap<Claim, string>();
  /** Counters that have been begun under this id. */
  let seeded = new Set<Counter>();

  const send = (ops: ReadonlyMap<Counter, Op>) =>
    run([ALIVE, ...[...ops.keys()].map(keyOf)], JSON.stringify({ me, ops: [...ops.values()] }));
  const opsOf = ({ asked = [], released = [], spent = [] }: Step, at: number): Map<Counter, Op> => {
    const ops = new Map<Counter, Op>();
    const add = (counter: Counter, more: Partial<Op>) =>
      ops.set(counter, { ...(ops.get(counter) ?? newOp(counter, at)), ...more });
    for (const { amount, bucket, counter } of asked) add(counter, { b: bucket, a: amount });
    for (const { amount, bucket, counter } of spent)
      add(counter, amount === 0 ? {} : { sb: bucket, sa: amount });
    for (const claim of released) {
      if (owners.get(claim) === me && claim.amount > 0)
        add(claim.counter, { rb: claim.bucket, ra: claim.amount });
    }
    for (const counter of ops.keys())
      if (!seeded.has(counter)) add(counter, { seed: seedOf(counter, untold(counter), spent) });
    return ops;
  };
  return {
    async take(step) {
      const { asked = [] } = step;
      const ops = opsOf(step, now());
      if (ops.size === 0) return null;
      for (const claim of asked) owners.set(claim, me);
      const [refused, ...totals] = await send(ops);
      const counters = [...ops.keys()];
      const at = now();
      for (const [index, counter] of counters.entries()) {
        seeded.add(counter);
        learn(counter, Number(totals[index]), at);
      }
      const full = counters[Number(refused) - 1];
      return asked.find(({ counter }) => counter === full) ?? null;
    },
    disown(claims) {
      return claims.map((claim) => {
        const copy = { ...claim };
        const owner = owners.get(claim);
        if (owner !== undefined) owners.set(copy, owner);
        owners.delete(claim);
        return copy;
      });
    },
    clear(counter) {
      const ops = new Map<Counter, Op>();
      if (counter !== null) ops.set(counter, { ...newOp(counter, now()), old: FOREVER });
      return send(ops);
    },
    renew() {
      me = newId();
      seeded = new Set();
    },
  };
}

/** What the others have of a counter: its sum without what is counted here. */
function learn(counter: Counter, total: number, at: number): void {
  const { held, spent } = levelAt(counter, at);
  hear(counter, Math.max(0, total - spent - held), at);
}

function newOp(counter: Counter, at: number): Op {
  const { window } = counter;
  const hi = window.bucketAt(at);
  return {
    ...{ lo: window.from(at), hi, limit: limitOf(counter) },
    old: Math.max(0, hi - Math.min(window.keepMs, MAX_TTL_MS)),
    ttl: Math.min(MAX_TTL_MS, Math.max(DAY_MS, window.keepMs)),
  };
}

/** What a counter begins with that is not there yet: what is counted here, without what is told now or later. */
function seedOf(
  { buckets }: Counter,
  untold: ReadonlyMap<number, number>,
  telling: readonly Spending[],
): NonNullable<Op['seed']> {
  return [...buckets].flatMap(([start, bucket]): NonNullable<Op['seed']> => {
    const now = telling.filter((one) => one.bucket === start && one.counter.buckets === buckets);
    const later = untold.get(start) ?? 0;
    const told = now.reduce((spent, { amount }) => spent - amount, bucket.spent - later);
    return told > 0 ? [[start, told]] : [];
  });
}

/** The same for every gateway that shares its keys and connections with this one. */
function keyOf({ budget: { metric, period, scope, subject } }: Counter): string {
  return `${PREFIX}${scope}:${subject ?? ''}:${metric}:${period ?? ''}`;
}
