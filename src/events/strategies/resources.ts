import type {
  CircuitBreaker,
  ConcurrencyLimit,
  EventConfig,
  RateLimit,
  RuntimeStrategy,
  StrategyKind,
} from '../config/config.ts';

/** The HTTP requests that bring events: each counts once, however many events it has. */
export const ingestResource = 'POST:/api/events';

/** A limit as the configuration sets it, for one resource. */
export type ResourceLimit = {
  /** The source or trigger whose strategy it is. */
  readonly owner: string;
  /** The answer to an HTTP request that it refuses, by name; null: that of the gateway. */
  readonly fallback: string | null;
} & (
  | { readonly kind: 'rate-limit'; readonly limit: RateLimit }
  | { readonly kind: 'circuit-breaker'; readonly limit: CircuitBreaker }
  | { readonly kind: 'concurrency-limit'; readonly limit: ConcurrencyLimit }
);

/** From the outside to the inside: a call that an outer limit refuses is none for the inner ones. */
const order: readonly StrategyKind[] = ['rate-limit', 'circuit-breaker', 'concurrency-limit'];

/**
 * The limits on a resource, outermost first. A strategy that a fault tolerance rule names applies to the targets of the rule;
 * without targets, and without a rule, it applies to the source or trigger that has it. Each resource is counted by itself.
 * @param resource `source:ID`, `trigger:ID`, `channel:ID` or `ingestResource`
 */
export function limitsOn(
  resource: string,
  { sources, triggers }: Pick<EventConfig, 'sources' | 'triggers'>,
): ResourceLimit[] {
  const owners = [
    ...[...sources.values()].map(({ id, runtime }) => ({ owner: `source:${id}`, runtime })),
    ...[...triggers.values()].map(({ id, runtime }) => ({ owner: `trigger:${id}`, runtime })),
  ];
  return owners
    .flatMap(({ owner, runtime }) =>
      limitsOf(owner, runtime).filter(({ kind }) => appliesTo(resource, kind, owner, runtime)),
    )
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

function limitsOf(owner: string, runtime: RuntimeStrategy): ResourceLimit[] {
  const { circuitBreaker, concurrency, faultTolerance, rateLimit } = runtime;
  const of = (kind: StrategyKind) => ({
    owner,
    fallback: faultTolerance?.strategies.includes(kind) ? faultTolerance.action : null,
  });
  const limits: ResourceLimit[] = [];
  if (rateLimit !== null) limits.push({ ...of('rate-limit'), kind: 'rate-limit', limit: rateLimit });
  if (circuitBreaker !== null)
    limits.push({ ...of('circuit-breaker'), kind: 'circuit-breaker', limit: circuitBreaker });
  if (concurrency !== null)
    limits.push({ ...of('concurrency-limit'), kind: 'concurrency-limit', limit: concurrency });
  return limits;
}

function appliesTo(
  resource: string,
  kind: StrategyKind,
  owner: string,
  { faultTolerance }: RuntimeStrategy,
): boolean {
  const targets = faultTolerance?.strategies.includes(kind) ? faultTolerance.targets : [];
  return targets.length === 0
    ? resource === owner
    : targets.some((target) =>
        target.endsWith('*') ? resource.startsWith(target.slice(0, -1)) : resource === target,
      );
}
