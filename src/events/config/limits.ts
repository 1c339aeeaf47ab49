import { TimeUnit } from '../gen/io/opensergo/proto/common/v1/common_pb.ts';
import {
  type CircuitBreakerStrategy,
  type ConcurrencyLimitStrategy,
  ConcurrencyLimitStrategy_LimitMode as ConcurrencyMode,
  RateLimitStrategy_MetricType as Metric,
  type RateLimitStrategy,
  RateLimitStrategy_LimitMode as RateMode,
  CircuitBreakerStrategy_Strategy as Strategy,
} from '../gen/io/opensergo/proto/fault_tolerance/v1/fault_tolerance_pb.ts';
import { type Checks, numberAtLeast } from './checks.ts';
import type { CircuitBreaker, ConcurrencyLimit, LimitScope, RateLimit } from './config.ts';

const longestNameBytes = 1_024;

export function checkRateLimit(
  message: RateLimitStrategy | undefined,
  path: string,
  checks: Checks,
): RateLimit | null {
  if (message === undefined) return null;
  const named = checkName(message.name, path, checks);
  const threshold = numberAtLeast(message.threshold, 0, `${path}.threshold`, checks);
  const periodMs = durationOf(
    message.statDuration,
    message.statDurationTimeUnit,
    `${path}.stat_duration`,
    TimeUnit.SECOND,
    checks,
  );
  const scope = scopeOf(message.limitMode, RateMode.MODE_GLOBAL);
  if (scope === null) checks.report.error(`${path}.limit_mode`, noSuchMode);
  const counted =
    message.metricType === Metric.TYPE_UNKNOWN || message.metricType === Metric.TYPE_REQUEST_AMOUNT;
  if (!counted) checks.report.error(`${path}.metric_type`, 'Only requests are counted: TYPE_REQUEST_AMOUNT');
  if (!named || !counted || threshold === null || periodMs === null || scope === null) return null;
  return { name: message.name, scope, threshold, periodMs };
}

export function checkConcurrency(
  message: ConcurrencyLimitStrategy | undefined,
  path: string,
  checks: Checks,
): ConcurrencyLimit | null {
  if (message === undefined) return null;
  const named = checkName(message.name, path, checks);
  const max = numberAtLeast(message.maxConcurrency, 0, `${path}.max_concurrency`, checks);
  const scope = scopeOf(message.limitMode, ConcurrencyMode.MODE_GLOBAL);
  if (scope === null) checks.report.error(`${path}.limit_mode`, noSuchMode);
  return !named || max === null || scope === null ? null : { name: message.name, scope, max };
}

const noSuchMode = 'There is no such mode: it is MODE_LOCAL (1) or MODE_GLOBAL (2)';

/** Unknown (0) is local. Both enums have the same values. */
function scopeOf(mode: number, global: number): LimitScope | null {
  if (mode === global) return 'global';
  return mode >= 0 && mode < global ? 'local' : null;
}

export function checkCircuitBreaker(
  message: CircuitBreakerStrategy | undefined,
  path: string,
  checks: Checks,
): CircuitBreaker | null {
  if (message === undefined) return null;
  const { name, recoveryTimeout, recoveryTimeoutTimeUnit, statDuration, statDurationTimeUnit } = message;
  const named = checkName(name, path, checks);
  const trips = tripsOf(message, path, checks);
  const minRequests = numberAtLeast(message.minRequestAmount, 1, `${path}.min_request_amount`, checks);
  const window = `${path}.stat_duration`;
  const windowMs = durationOf(statDuration, statDurationTimeUnit, window, TimeUnit.MILLISECOND, checks);
  const recovery = `${path}.recovery_timeout`;
  const recoveryMs = durationOf(
    recoveryTimeout,
    recoveryTimeoutTimeUnit,
    recovery,
    TimeUnit.MILLISECOND,
    checks,
  );
  const ratio = message.triggerRatio;
  const possible = ratio >= 0 && ratio <= 1;
  if (!possible) checks.report.error(`${path}.trigger_ratio`, 'It must be from 0 to 1');
  if (
    !named ||
    !possible ||
    trips === null ||
    minRequests === null ||
    windowMs === null ||
    recoveryMs === null
  )
    return null;
  return { name, trips, ratio, windowMs, recoveryMs, minRequests };
}

function tripsOf(
  message: CircuitBreakerStrategy,
  path: string,
  checks: Checks,
): CircuitBreaker['trips'] | null {
  switch (message.strategy) {
    case Strategy.ERROR_REQUEST_RATIO:
      return { on: 'errors' };
    case Strategy.SLOW_REQUEST_RATIO: {
      const { slowCondition } = message;
      if (slowCondition === undefined) {
        checks.report.error(
          `${path}.slow_condition`,
          'STRATEGY_SLOW_REQUEST_RATIO needs a slow_condition: what is slow',
        );
        return null;
      }
      const limit = `${path}.slow_condition.max_allowed_rt_millis`;
      const maxMs = numberAtLeast(slowCondition.maxAllowedRtMillis, 1, limit, checks);
      return maxMs === null ? null : { on: 'slowness', maxMs };
    }
    default:
      checks.report.error(
        `${path}.strategy`,
        'The strategy is missing: STRATEGY_SLOW_REQUEST_RATIO or STRATEGY_ERROR_REQUEST_RATIO',
      );
      return null;
  }
}

function checkName(name: string, path: string, { report }: Checks): boolean {
  if (Buffer.byteLength(name) <= longestNameBytes) return true;
  report.error(`${path}.name`, `A name has at most ${longestNameBytes} bytes`);
  return false;
}

const milliseconds: Readonly<Record<number, number>> = {
  [TimeUnit.MILLISECOND]: 1,
  [TimeUnit.SECOND]: 1_000,
  [TimeUnit.MINUTE]: 60_000,
  [TimeUnit.HOUR]: 3_600_000,
  [TimeUnit.DAY]: 86_400_000,
};

/** @param usual the unit that others take where none is given. @returns milliseconds, or null when it was reported */
function durationOf(
  value: bigint | number,
  unit: TimeUnit,
  path: string,
  usual: typeof TimeUnit.SECOND | typeof TimeUnit.MILLISECOND,
  checks: Checks,
): number | null {
  const number = numberAtLeast(value, 1, path, checks);
  const guessed = unit === TimeUnit.UNKNOWN && checks.lenient;
  const usualName = usual === TimeUnit.SECOND ? 'SECOND' : 'MILLISECOND';
  if (guessed)
    checks.report.warning(`${path}_time_unit`, `The time unit is missing, and is taken for ${usualName}`);
  const factor = milliseconds[guessed ? usual : unit];
  if (factor === undefined) {
    checks.report.error(
      `${path}_time_unit`,
      'The time unit is missing: MILLISECOND, SECOND, MINUTE, HOUR or DAY',
    );
    return null;
  }
  return number === null ? null : numberAtLeast(number * factor, 1, path, checks);
}
