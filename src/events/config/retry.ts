import { parseDuration } from '../../lib/time/duration.ts';
import {
  RetryRule_BackoffPolicyType as Policy,
  type RetryRule,
} from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { type Checks, numberAtLeast } from './checks.ts';
import type { Retry } from './config.ts';

const mostRetries = 1_000_000;
const defaultDelayMs = 1_000;
const longestDelayMs = 86_400_000;

/** @param path of the rule. @returns null when there is none, or something was reported */
export function checkRetry(rule: RetryRule | undefined, path: string, checks: Checks): Retry | null {
  if (rule === undefined) return null;
  const max = numberAtLeast(rule.retryMax, 0, `${path}.retry_max`, checks);
  const delayMs = delayOf(rule.backOffDelay, `${path}.back_off_delay`, checks);
  const growth = growthOf(rule.backOffPolicyType);
  if (max !== null && max > mostRetries)
    checks.report.error(`${path}.retry_max`, `It must be at most ${mostRetries}`);
  if (growth === null)
    checks.report.error(
      `${path}.back_off_policy_type`,
      'There is no such kind of delay: it is linear (0) or exponential (1)',
    );
  return max === null || delayMs === null || growth === null ? null : { max, delayMs, growth };
}

function growthOf(policy: Policy): Retry['growth'] | null {
  switch (policy) {
    case Policy.BACK_OFF_POLICY_LINEAR:
      return 'linear';
    case Policy.BACK_OFF_POLICY_EXPONENTIAL:
      return 'exponential';
    default:
      return null;
  }
}

function delayOf(text: string, path: string, { lenient, report }: Checks): number | null {
  if (text === '') return defaultDelayMs;
  const parsed = parseDuration(text);
  // Seconds and hours without the T that they need: nothing else can be meant.
  const meant = /^P\d+(?:[.,]\d+)?[HS]$/.test(text) ? `PT${text.slice(1)}` : null;
  const other = meant === null ? parsed : parseDuration(meant);
  if (!parsed.ok && meant !== null && lenient && other.ok) {
    report.warning(path, `It is not an ISO 8601 duration, and is taken for ${meant}`);
    return other.milliseconds;
  }
  if (!parsed.ok) {
    const advice = meant === null ? parsed.reason : `did you mean ${meant}?`;
    report.error(path, `It is not an ISO 8601 duration such as PT6S or PT1M30S: ${advice}`);
    return null;
  }
  if (parsed.milliseconds <= longestDelayMs) return parsed.milliseconds;
  report.error(path, 'The delay must be at most a day, PT24H');
  return null;
}
