import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { createSchedule, type Schedule } from '../../lib/time/schedule.ts';
import type { Store } from '../../store/database.ts';
import type { LoginFailureTable } from '../../store/tables.ts';
import { clientOf } from '../client-address.ts';
import { serialized } from '../serialized.ts';
import {
  addFailure,
  expireFailures,
  type FailureCount,
  FORGET_MS,
  isIdle,
  isRuleName,
  type RuleName,
  refuseBlocked,
  refuseConcurrent,
  rules,
  type ThrottleRule,
} from './failures.ts';

export interface LoginThrottle {
  /** Lets a login be tried, or not. @throws GatewayError `too_many_logins` with the seconds to wait */
  check(account: string, address: string): void;
  /**
   * Like `check`, and counts the try as a failure until it is released, so that guesses made all at once are not more
   * than guesses made in turn.
   */
  reserve(account: string, address: string): () => void;
  /** A login failed. */
  noteFailure(account: string, address: string): void;
  /** An unknown token was presented. @throws GatewayError `too_many_logins` when there were too many */
  unknownToken(address: string): void;
  /** Writes what changed since the last time. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface ThrottleOptions {
  /** Milliseconds since the epoch. */
  now?: () => number;
  flushMs?: number;
  /** Subjects kept in memory; the oldest beyond it that are not blocked are forgotten. */
  maxSubjects?: number;
  onError?: (error: unknown) => void;
  /** Runs the writing. Default: one of its own. */
  schedule?: Pick<Schedule, 'every'>;
}

/** How often what is forgotten is removed from the store too. */
const PRUNE_MS = 60 * 60_000;

/**
 * Slows down guessing. Counted in memory and written a moment later, so that a failure costs the disk nothing and a
 * restart forgives nothing. Loopback is a client like any other: behind a tunnel or a proxy everybody comes from there.
 */
export async function openLoginThrottle(
  { db }: Pick<Store, 'db'>,
  options: ThrottleOptions = {},
): Promise<LoginThrottle> {
  const { flushMs = 1000, maxSubjects = 10_000, now = Date.now, onError = () => {} } = options;
  const { schedule = createSchedule(now) } = options;
  await forgetOld(db, now());
  let pruned = now();
  const subjects = new Map<string, FailureCount>();
  for (const row of await db.selectFrom('login_failures').selectAll().limit(maxSubjects).execute())
    restore(subjects, row, now());
  const dirty = new Set<string>();

  const subjectOf = (name: string, rule: ThrottleRule): FailureCount => {
    const subject = subjects.get(name);
    if (subject !== undefined) return expireFailures(subject, now());
    if (subjects.size >= maxSubjects) makeRoom(subjects, now());
    const fresh = { rule, failures: 0, firstAt: now(), lastAt: 0, blockedUntil: 0, pending: 0 };
    subjects.set(name, fresh);
    return fresh;
  };
  const count = (name: string, rule: ThrottleRule): void => {
    const subject = subjectOf(name, rule);
    if (addFailure(subject, now())) dirty.add(name);
  };
  const flush = serialized(async () => {
    for (const name of dirty) {
      dirty.delete(name);
      const subject = subjects.get(name);
      if (subject === undefined) continue;
      await write(db, name, subject).catch((error: unknown) => {
        dirty.add(name);
        throw error;
      });
    }
    if (now() - pruned < PRUNE_MS) return;
    pruned = now();
    await forgetOld(db, now());
  });
  const stop = schedule.every({ name: 'failed logins', everyMs: flushMs, run: flush, onError });

  return {
    check(account, address) {
      for (const [name] of both(account, address)) {
        const subject = subjects.get(name);
        if (subject !== undefined) refuseBlocked(expireFailures(subject, now()), now());
      }
    },
    reserve(account, address) {
      const names = both(account, address);
      const subjectStates = names.map(([name, rule]) => subjectOf(name, rule));
      for (const subject of subjectStates) refuseBlocked(subject, now());
      for (const subject of subjectStates) refuseConcurrent(subject);
      for (const subject of subjectStates) subject.pending += 1;
      return () => {
        for (const subject of subjectStates.splice(0)) subject.pending -= 1;
        for (const [name] of names) if (isIdle(subjects.get(name))) subjects.delete(name);
      };
    },
    noteFailure(account, address) {
      for (const [name, rule] of both(account, address)) count(name, rule);
    },
    unknownToken(address) {
      const name = subjectName('token', clientOf(address));
      refuseBlocked(subjectOf(name, rules.token), now());
      count(name, rules.token);
    },
    flush,
    async close() {
      stop();
      await flush();
    },
  };
}

/** What a login is counted under. */
function both(account: string, address: string): [string, ThrottleRule][] {
  return [
    [subjectName('account', `${account}\n${clientOf(address)}`), rules.account],
    [subjectName('client', clientOf(address)), rules.client],
  ];
}

/** A digest: what was typed as a name may have been a password, and is no text to be kept. */
function subjectName(rule: RuleName, text: string): string {
  return `${rule}:${hash('sha256', text, 'hex').slice(0, 32)}`;
}

/** The oldest that is not blocked goes; where all of the oldest are, the first. */
function makeRoom(subjects: Map<string, FailureCount>, now: number): void {
  let looked = 0;
  let first: string | null = null;
  for (const [name, { blockedUntil, pending }] of subjects) {
    if (pending > 0) continue;
    first ??= name;
    if (blockedUntil <= now) {
      subjects.delete(name);
      return;
    }
    looked += 1;
    if (looked >= 100) break;
  }
  if (first !== null) subjects.delete(first);
}

function restore(subjects: Map<string, FailureCount>, row: Selectable<LoginFailureTable>, now: number): void {
  const name = row.subject.split(':', 1)[0] ?? '';
  if (!isRuleName(name)) return;
  const rule = rules[name];
  subjects.set(row.subject, {
    rule,
    failures: row.failures,
    firstAt: Math.min(row.first_at, now),
    lastAt: Math.min(row.last_at, now),
    // A clock that was set back since must not block anybody for longer than the rule says.
    blockedUntil: Math.min(row.blocked_until, now + rule.maxWaitMs),
    pending: 0,
  });
}

async function write(db: Store['db'], subject: string, state: FailureCount): Promise<void> {
  const values = {
    failures: state.failures,
    first_at: state.firstAt,
    last_at: state.lastAt,
    blocked_until: state.blockedUntil,
  };
  await db
    .insertInto('login_failures')
    .values({ subject, ...values })
    .onConflict((conflict) => conflict.column('subject').doUpdateSet(values))
    .execute();
}

async function forgetOld(db: Store['db'], now: number): Promise<void> {
  await db
    .deleteFrom('login_failures')
    .where('last_at', '<', now - 2 * FORGET_MS)
    .execute();
}
