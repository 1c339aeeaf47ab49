import { GatewayError } from '../../lib/error.ts';

/** How many failures are let pass, and how long a subject then waits: doubled with every further failure. */
export interface ThrottleRule {
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
export const rules = {
  /** An account from one client. Other clients and every token go on, so that nobody can lock a user out. */
  account: { limit: 5, windowMs: MINUTE_MS, firstWaitMs: 30_000, maxWaitMs: 15 * MINUTE_MS },
  /** All accounts from one client. */
  client: { limit: 50, windowMs: 10 * MINUTE_MS, firstWaitMs: 30_000, maxWaitMs: 15 * MINUTE_MS },
  /** Unknown tokens from one client. They cannot be guessed; this is for the load. Valid ones are not asked about. */
  token: { limit: 100, windowMs: MINUTE_MS, firstWaitMs: 30_000, maxWaitMs: 30_000 },
} as const satisfies Record<string, ThrottleRule>;

export type RuleName = keyof typeof rules;

/** The failures of an account, a client or both. Times in milliseconds since the epoch. */
export interface FailureCount {
  rule: ThrottleRule;
  failures: number;
  firstAt: number;
  lastAt: number;
  blockedUntil: number;
  /** Tries whose outcome is not known yet. They count as failures until it is. */
  pending: number;
}

/** How long a subject that was blocked must be quiet until its failures are forgotten. */
export const FORGET_MS = 15 * MINUTE_MS;

/** Forgets failures that have expired. */
export function expireFailures(subject: FailureCount, now: number): FailureCount {
  const { blockedUntil, failures, firstAt, lastAt, rule } = subject;
  const over =
    failures < rule.limit
      ? now - firstAt >= rule.windowMs
      : now - Math.max(lastAt, blockedUntil) >= FORGET_MS;
  if (over && failures > 0) {
    subject.failures = 0;
    subject.firstAt = now;
    subject.blockedUntil = 0;
  }
  return subject;
}

/** False when the subject is blocked already: tries that were under way together are not punished one by one. */
export function addFailure(subject: FailureCount, now: number): boolean {
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

/** Nothing is known of the subject and nothing is under way. */
export function isIdle(subject: FailureCount | undefined): boolean {
  return subject?.failures === 0 && subject.pending === 0;
}

/** @throws GatewayError `too_many_logins` while the subject has to wait */
export function refuseBlocked({ blockedUntil }: FailureCount, now: number): void {
  if (blockedUntil > now) throw tooMany(Math.ceil((blockedUntil - now) / 1000));
}

/** @throws GatewayError `too_many_logins` when as many tries are under way as may still fail */
export function refuseConcurrent({ failures, pending, rule }: FailureCount): void {
  if (pending > 0 && failures + pending >= rule.limit) throw tooMany(1);
}

export function isRuleName(text: string): text is RuleName {
  return Object.hasOwn(rules, text);
}

function tooMany(retryAfter: number): GatewayError {
  return new GatewayError(
    'too_many_logins',
    `Too many logins failed: try again in ${retryAfter} s. Valid tokens keep working`,
    { retryAfter },
  );
}
