import type { EventRuntimeStrategy } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import type { FaultToleranceRule } from '../gen/io/opensergo/proto/fault_tolerance/v1/fault_tolerance_pb.ts';
import { ingestResource } from '../strategies/resources.ts';
import type { Checks } from './checks.ts';
import type { ComponentKind } from './components.ts';
import type { FaultTolerance, RuntimeStrategy, StrategyKind } from './config.ts';
import { checkCircuitBreaker, checkConcurrency, checkRateLimit } from './limits.ts';
import { checkRetry } from './retry.ts';

/** Without a strategy there are no retries and no limits. */
const none: RuntimeStrategy = {
  retry: null,
  rateLimit: null,
  circuitBreaker: null,
  concurrency: null,
  faultTolerance: null,
};

export function checkRuntime(
  message: EventRuntimeStrategy | undefined,
  path: string,
  ids: ReadonlyMap<string, ComponentKind>,
  checks: Checks,
): RuntimeStrategy {
  if (message === undefined) return none;
  return {
    retry: checkRetry(message.retryRule, `${path}.retry_rule`, checks),
    rateLimit: checkRateLimit(message.rateLimitStrategy, `${path}.rate_limit_strategy`, checks),
    circuitBreaker: checkCircuitBreaker(
      message.circuitBreakerStrategy,
      `${path}.circuit_breaker_strategy`,
      checks,
    ),
    concurrency: checkConcurrency(
      message.concurrencyLimitStrateg,
      `${path}.concurrency_limit_strateg`,
      checks,
    ),
    faultTolerance: checkRule(message, `${path}.fault_tolerance_rule`, ids, checks),
  };
}

/** Kinds as rules name them, compared without case, `_` and `-` → the strategy. */
const kinds: Readonly<Record<string, StrategyKind>> = {
  ratelimitstrategy: 'rate-limit',
  circuitbreakerstrategy: 'circuit-breaker',
  concurrencylimitstrategy: 'concurrency-limit',
};

function checkRule(
  message: EventRuntimeStrategy,
  path: string,
  ids: ReadonlyMap<string, ComponentKind>,
  checks: Checks,
): FaultTolerance | null {
  const rule = message.faultToleranceRule;
  if (rule === undefined) return null;
  for (const [index, { targetResourceName: name }] of rule.targets.entries()) {
    const problem = targetProblem(name, ids);
    if (problem !== null) checks.report.error(`${path}.targets[${index}].target_resource_name`, problem);
  }
  const strategies = strategiesOf(rule, message, path, checks);
  if (rule.strategies.length === 0)
    checks.report.warning(`${path}.strategies`, 'The rule names no strategy, and does nothing');
  if (rule.action !== undefined && plain(rule.action.kind) !== 'httprequestfallbackaction')
    checks.report.error(`${path}.action.kind`, 'There is no such action: it is HttpRequestFallbackAction');
  if (rule.action?.name === '')
    checks.report.error(`${path}.action.name`, 'Name an answer from events.fallback_actions in config.json');
  return {
    targets: rule.targets.map(({ targetResourceName }) => targetResourceName),
    strategies,
    action: rule.action?.name ?? null,
  };
}

/** The strategies that a rule names, among those beside it. */
function strategiesOf(
  rule: FaultToleranceRule,
  message: EventRuntimeStrategy,
  path: string,
  { report }: Checks,
): StrategyKind[] {
  const names: Readonly<Record<StrategyKind, string | undefined>> = {
    'rate-limit': message.rateLimitStrategy?.name,
    'circuit-breaker': message.circuitBreakerStrategy?.name,
    'concurrency-limit': message.concurrencyLimitStrateg?.name,
  };
  return rule.strategies.flatMap((reference, index) => {
    const kind = kinds[plain(reference.kind)];
    if (kind !== undefined && names[kind] === reference.name) return [kind];
    if (kind === undefined)
      report.error(
        `${path}.strategies[${index}].kind`,
        'There is no such strategy: it is RateLimitStrategy, CircuitBreakerStrategy or ConcurrencyLimitStrategy',
      );
    else
      report.error(
        `${path}.strategies[${index}].name`,
        'No strategy of this kind beside the rule has this name',
      );
    return [];
  });
}

function targetProblem(name: string, ids: ReadonlyMap<string, ComponentKind>): string | null {
  const [, kind = '', id = ''] = /^(source|trigger|channel):(.*)$/.exec(name) ?? [];
  if (kind === '')
    return targetsIngest(name)
      ? null
      : `A resource is written source:ID, trigger:ID, channel:ID or ${ingestResource}; * at the end stands for anything`;
  if (id.endsWith('*')) return null;
  return ids.get(id) === kind ? null : `There is no ${kind} with this id`;
}

const targetsIngest = (name: string): boolean =>
  name.endsWith('*')
    ? name.startsWith('POST:/') && ingestResource.startsWith(name.slice(0, -1))
    : name === ingestResource;

const plain = (kind: string): string => kind.toLowerCase().replace(/[_-]/g, '');
