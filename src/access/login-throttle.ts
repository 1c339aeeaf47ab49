import { hash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import type { Store } from '../store/database.ts';
import type { LoginFailureTable } from '../store/tables.ts';
import { clientOf } from './client-address.ts';
import { inTurn } from './in-turn.ts';

/** How many failures are let pass, and how long a subject then waits: doubled with every further failure. */
interface Rule {
  limit: number;
  /** Failures are counted together that happen within so long of the first. */
  windowMs: number;
  firstWaitMs: number;
  maxWaitMs: number;
}

const MINUTE_MS = 60_000;

/**
 * Only failures count, and none are forgiven for a success: on an address that several people share, the success of
 * one would give another new tries.
 */
const rules = {
  /** An account from one client. Other clients and every token go on, so that nobody can lock a user out. */
  account: { limit: 5, windowMs: MINUTE_MS, firstWaitMs: 30_000, maxWaitMs: 15 * MINUTE_MS },
  /** All accounts from one client. */
  client: { limit: 50, windowMs: 10 * MINUTE_MS, firstWaitMs: 30_000, maxWaitMs: 15 * MINUTE_MS },
  /** Unknown tokens from one client. They cannot be guessed; this is for the load. Valid ones are not asked about. */
  token: { limit: 100, windowMs: MINUTE_MS, firstWaitMs: 30_000, maxWaitMs: 30_000 },
} as const satisfies Record<string, Rule>;

type RuleName = keyof typeof rules;

interface Subject {
  rule: Rule;
  failures: number;
  firstAt: number;
  lastAt: number;
  blockedUntil: number;
  /** Tries whose outcome is not known yet. They count as failures until it is. */
  pending: number;
}

export interface LoginThrottle {
  /** Lets a login be tried, or not. @throws GatewayError `too_many_logins` with the seconds to wait */
  check(account: string, address: string): void;
  /**
   * Like `check`, and counts the try as a failure until it is released, so that guesses made all at once are not more
   * than guesses made in turn.
   */
  reserve(account: string, address: string): () => void;
  /** A login failed. */
  failed(account: string, address: string): void;
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
}

/** How long a subject that was blocked must be quiet until its failures are forgotten. */
const FORGET_MS = 15 * MINUTE_MS;

/**
 * Slows down guessing. Counted in memory and written a moment later, so that a failure costs the disk nothing and a
 * restart forgives nothing. Loopback is a client like any other: behind a tunnel or a proxy everybody comes from there.
 */
export async function openLoginThrottle(
  { db }: Pick<Store, 'db'>,
  options: ThrottleOptions = {},
): Promise<LoginThrottle> {
  const { flushMs = 1000, maxSubjects = 10_000, now = Date.now, onError = () => {} } = options;
  await db
    .deleteFrom('login_failures')
    .where('last_at', '<', now() - 2 * FORGET_MS)
    .execute();
  const subjects = new Map<string, Subject>();
  for (const row of await db.selectFrom('login_failures').selectAll().limit(maxSubjects).execute())
    restore(subjects, row, now());
  const dirty = new Set<string>();

  const subjectOf = (name: string, rule: Rule): Subject => {
    const known = subjects.get(name);
    if (known !== undefined) return lapse(known, now());
    if (subjects.size >= maxSubjects) makeRoom(subjects, now());
    const fresh = { rule, failures: 0, firstAt: now(), lastAt: 0, blockedUntil: 0, pending: 0 };
    subjects.set(name, fresh);
    return fresh;
  };
  const count = (name: string, rule: Rule): void => {
    const subject = subjectOf(name, rule);
    if (addFailure(subject, now())) dirty.add(name);
  };
  const flush = inTurn(async () => {
    for (const name of dirty) {
      dirty.delete(name);
      const subject = subjects.get(name);
      if (subject === undefined) continue;
      await write(db, name, subject).catch((error: unknown) => {
        dirty.add(name);
        throw error;
      });
    }
  });
  const timer = setInterval(() => void flush().catch(onError), flushMs).unref();
  const both = (account: string, address: string): [string, Rule][] => [
    [subjectName('account', `${account}\n${clientOf(address)}`), rules.account],
    [subjectName('client', clientOf(address)), rules.client],
  ];

  return {
    check(account, address) {
      for (const [name] of both(account, address)) {
        const subject = subjects.get(name);
        if (subject !== undefined) refuseBlocked(lapse(subject, now()), now());
      }
    },
    reserve(account, address) {
      const names = both(account, address);
      const held = names.map(([name, rule]) => subjectOf(name, rule));
      for (const subject of held) refuseBlocked(subject, now());
      for (const subject of held) refuseCrowd(subject);
      for (const subject of held) subject.pending += 1;
      return () => {
        for (const subject of held.splice(0)) subject.pending -= 1;
        for (const [name] of names) if (isIdle(subjects.get(name))) subjects.delete(name);
      };
    },
    failed(account, address) {
      for (const [name, rule] of both(account, address)) count(name, rule);
    },
    unknownToken(address) {
      const name = subjectName('token', clientOf(address));
      refuseBlocked(subjectOf(name, rules.token), now());
      count(name, rules.token);
    },
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}

/** A digest: what was typed as a name may have been a password, and is no text to be kept. */
function subjectName(rule: RuleName, text: string): string {
  return `${rule}:${hash('sha256', text, 'hex').slice(0, 32)}`;
}

/** Forgets failures whose time is over. */
function lapse(subject: Subject, now: number): Subject {
  const { blockedUntil, failures, firstAt, lastAt, rule } = subject;
  const over =
    failures < rule.limit
      ? now - firstAt >= rule.windowMs
      : now - Math.max(lastAt, blockedUntil) >= FORGET_MS;
  if (over && failures > 0) Object.assign(subject, { failures: 0, firstAt: now, blockedUntil: 0 });
  return subject;
}

/** False when the subject is blocked already: tries that were under way together are not punished one by one. */
function addFailure(subject: Subject, now: number): boolean {
  if (subject.blockedUntil > now) return false;
  const { rule } = subject;
  if (subject.failures === 0) subject.firstAt = now;
  subject.failures += 1;
  subject.lastAt = now;
  const beyond = subject.failures - rule.limit;
  if (beyond >= 0)
    subject.blockedUntil = now + Math.min(rule.firstWaitMs * 2 ** Math.min(beyond, 20), rule.maxWaitMs);
  return true;
}

function isIdle(subject: Subject | undefined): boolean {
  return subject?.failures === 0 && subject.pending === 0;
}

function refuseBlocked({ blockedUntil }: Subject, now: number): void {
  if (blockedUntil > now) throw tooMany(Math.ceil((blockedUntil - now) / 1000));
}

function refuseCrowd({ failures, pending, rule }: Subject): void {
  if (pending > 0 && failures + pending >= rule.limit) throw tooMany(1);
}

function tooMany(retryAfter: number): GatewayError {
  return new GatewayError(
    'too_many_logins',
    `Too many logins failed: try again in ${retryAfter} s. Valid tokens go on working`,
    { retryAfter },
  );
}

/** The oldest that is not blocked goes; where all of the oldest are, the first. */
function makeRoom(subjects: Map<string, Subject>, now: number): void {
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

function restore(subjects: Map<string, Subject>, row: Selectable<LoginFailureTable>, now: number): void {
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

function isRuleName(text: string): text is RuleName {
  return Object.hasOwn(rules, text);
}

async function write(db: Store['db'], subject: string, state: Subject): Promise<void> {
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
