import type { EventConfig, RuntimeStrategy, Source, Trigger } from '../config/config.ts';
import type { FieldPath, Report } from '../config/problem.ts';

/** What the gateway was given beside its data directory. */
export interface AvailableBackends {
  /** A Redis to hold global limits in. */
  readonly redis: boolean;
  /** A place for storages of the type DFS. */
  readonly distributedStorage: boolean;
  /** Names of answers that an action may name; null where they are not known. */
  readonly fallbacks: readonly string[] | null;
  /** A database in which gateways remember together what was handled. */
  readonly sharedDatabase: boolean;
}

/**
 * Reports what a configuration asks for and this engine does not do. It runs nothing of such a configuration: an event must not
 * be treated in another way than was asked for.
 */
export function reportUnsupported(config: EventConfig, report: Report, places: AvailableBackends): void {
  const { distributedStorage, fallbacks, redis, sharedDatabase } = places;
  const { components, strategy } = config.message;
  for (const [index, { ref }] of (components?.sources ?? []).entries()) {
    const source = config.sources.get(ref?.uniqueId ?? '');
    if (source !== undefined) ofSource(source, `components.sources[${index}].ref`, report);
  }
  for (const [index, { ref }] of (components?.triggers ?? []).entries()) {
    const trigger = config.triggers.get(ref?.uniqueId ?? '');
    if (trigger !== undefined) ofTrigger(trigger, `components.triggers[${index}].ref`, report);
  }
  for (const [index, { eventSourceId }] of (strategy?.sourceStrategies ?? []).entries()) {
    const source = config.sources.get(eventSourceId);
    const path: FieldPath = `strategy.source_strategies[${index}]`;
    if (source === undefined) continue;
    ofRuntime(source.runtime, `${path}.runtime_strategy`, redis, report);
    ofAction(source.runtime, `${path}.runtime_strategy.fault_tolerance_rule.action.name`, fallbacks, report);
    if (source.storage?.type === 'distributed' && !distributedStorage)
      report.error(
        `${path}.fault_tolerant_storage.persistence_type`,
        'Storage of the type DFS needs the address of a place: set EVENTS_DFS_URL',
      );
  }
  for (const [index, { eventTriggerId }] of (strategy?.triggerStrategies ?? []).entries()) {
    const trigger = config.triggers.get(eventTriggerId);
    if (trigger === undefined) continue;
    ofTriggerStrategy(trigger, `strategy.trigger_strategies[${index}]`, places, report);
    if (trigger.idempotent && !sharedDatabase && sharesChannel(trigger, config))
      report.warning(
        `strategy.trigger_strategies[${index}].enable_idempotence`,
        'Each gateway remembers for itself which events it has handled. Where several share the channel, an event that comes twice can be handled by two: set EVENTS_DATABASE_URL',
      );
  }
}

/** What a trigger of the kind `gateway` may be named. */
const builtInProcessors = ['audit-log', 'notifier'];

/** Whether other gateways can take part in a channel of the trigger. */
function sharesChannel({ id }: Trigger, { channels, routes }: EventConfig): boolean {
  return routes.some(({ channelId, triggerId }) => {
    const scheme = channels.get(channelId)?.scheme;
    return triggerId === id && scheme !== 'memory' && scheme !== 'sqlite';
  });
}

function ofSource({ processor }: Source, path: FieldPath, report: Report): void {
  const { kind } = processor;
  if (kind !== 'gateway' && kind !== 'http' && kind !== 'service' && kind !== 'channel')
    report.error(
      `${path}.kind`,
      `A source cannot be of the kind ${kind}: it is gateway, http, service or channel`,
    );
}

function ofTrigger({ processor: { kind, name } }: Trigger, path: FieldPath, report: Report): void {
  if (kind === 'function' || kind === 'rpcservice')
    report.error(
      `${path}.kind`,
      `A trigger cannot be of the kind ${kind}: it is http, service, gateway, channel or log. Reach a program by a webhook (http)`,
    );
  if (kind === 'gateway' && !builtInProcessors.includes(name))
    report.error(`${path}.name`, `The gateway has ${builtInProcessors.join(' and ')}`);
}

function ofTriggerStrategy(
  { deadLetters, runtime }: Trigger,
  path: FieldPath,
  { distributedStorage, redis }: AvailableBackends,
  report: Report,
): void {
  const { store } = deadLetters ?? { store: null };
  const storePath = `${path}.dead_letter_strategy`;
  if (store?.kind === 'storage' && store.storage.type === 'distributed' && !distributedStorage)
    report.error(
      `${storePath}.persistence.persistence_type`,
      'Dead letters of the type DFS need the address of a place: set EVENTS_DFS_URL',
    );
  ofRuntime(runtime, `${path}.runtime_strategy`, redis, report);
}

function ofRuntime(runtime: RuntimeStrategy, path: FieldPath, redis: boolean, report: Report): void {
  if (!redis) ofGlobalLimits(runtime, path, report);
}

function ofAction(
  { faultTolerance }: RuntimeStrategy,
  path: FieldPath,
  fallbacks: readonly string[] | null,
  report: Report,
): void {
  const name = faultTolerance?.action ?? null;
  if (name === null || fallbacks === null || fallbacks.includes(name)) return;
  report.error(path, `There is no ${JSON.stringify(name)} in events.fallback_actions of config.json`);
}

/** Held by each gateway alone, such a limit would let more pass than it says. */
function ofGlobalLimits({ concurrency, rateLimit }: RuntimeStrategy, path: FieldPath, report: Report): void {
  const message = 'MODE_GLOBAL needs Redis to share the limit with other gateways: set REDIS_URL';
  if (rateLimit?.scope === 'global') report.error(`${path}.rate_limit_strategy.limit_mode`, message);
  if (concurrency?.scope === 'global') report.error(`${path}.concurrency_limit_strateg.limit_mode`, message);
}
