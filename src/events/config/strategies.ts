import type {
  EventSourceStrategy,
  EventStrategies,
  EventTriggerStrategy,
} from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { type Checks, numberAtLeast } from './checks.ts';
import type { ComponentKind, Components } from './components.ts';
import type { Processor, Source, Trigger } from './config.ts';
import { checkDeadLetters } from './dead-letters.ts';
import { checkRuntime } from './runtime.ts';
import { checkStorage } from './storage.ts';

const defaultBufferSize = 256;

export interface Strategies {
  readonly sources: ReadonlyMap<string, Source>;
  readonly triggers: ReadonlyMap<string, Trigger>;
  /** The strategy of a trigger, for reports about it. */
  readonly triggerPath: (id: string) => string;
}

/** Joins each source and trigger with its strategy; one without gets the defaults. */
export function checkStrategies(
  message: EventStrategies | undefined,
  components: Components,
  checks: Checks,
): Strategies {
  const sources = new Map<string, Source>();
  const triggers = new Map<string, Trigger>();
  const triggerPaths = new Map<string, string>();
  const seen = new Set<string>();
  for (const [index, strategy] of (message?.sourceStrategies ?? []).entries()) {
    const path = `strategy.source_strategies[${index}]`;
    const { eventSourceId: id } = strategy;
    checkOwner(id, 'source', `${path}.event_source_id`, components, seen, checks);
    const source = checkSource(strategy, components.sources.get(id), path, components, checks);
    if (source !== null) sources.set(id, source);
  }
  for (const [index, strategy] of (message?.triggerStrategies ?? []).entries()) {
    const path = `strategy.trigger_strategies[${index}]`;
    const { eventTriggerId: id } = strategy;
    checkOwner(id, 'trigger', `${path}.event_trigger_id`, components, seen, checks);
    const trigger = checkTrigger(strategy, components.triggers.get(id), path, components, checks);
    if (trigger !== null) triggers.set(id, trigger);
    triggerPaths.set(id, path);
  }
  for (const [id, processor] of components.sources)
    if (!sources.has(id)) sources.set(id, plainSource(id, processor));
  for (const [id, processor] of components.triggers)
    if (!triggers.has(id)) triggers.set(id, plainTrigger(id, processor));
  return { sources, triggers, triggerPath: (id) => triggerPaths.get(id) ?? '' };
}

/** Reports a reference to a component that is not there, or is of another kind. */
export function checkReference(
  id: string,
  kind: ComponentKind,
  path: string,
  { ids }: Components,
  { report }: Checks,
): void {
  const existing = ids.get(id);
  if (existing === kind) return;
  if (id === '') report.error(path, `The id of the ${kind} is missing`);
  else if (existing === undefined)
    report.error(path, `There is no ${kind} with the id ${JSON.stringify(id)}`);
  else report.error(path, `${JSON.stringify(id)} is a ${existing}, not a ${kind}`);
}

function checkOwner(
  id: string,
  kind: 'source' | 'trigger',
  path: string,
  components: Components,
  seen: Set<string>,
  checks: Checks,
): void {
  checkReference(id, kind, path, components, checks);
  const key = `${kind} ${id}`;
  if (id !== '' && seen.has(key)) checks.report.error(path, `The ${kind} has a strategy already`);
  seen.add(key);
}

const noRuntime = {
  retry: null,
  rateLimit: null,
  circuitBreaker: null,
  concurrency: null,
  faultTolerance: null,
};

const plainSource = (id: string, processor: Processor): Source => ({
  id,
  processor,
  asyncSend: false,
  storage: null,
  runtime: noRuntime,
});

const plainTrigger = (id: string, processor: Processor): Trigger => ({
  id,
  processor,
  bufferSize: defaultBufferSize,
  idempotent: false,
  runtime: noRuntime,
  deadLetters: null,
});

function checkSource(
  message: EventSourceStrategy,
  processor: Processor | undefined,
  path: string,
  { ids }: Components,
  checks: Checks,
): Source | null {
  const storage = checkStorage(message.faultTolerantStorage, `${path}.fault_tolerant_storage`, checks);
  const runtime = checkRuntime(message.runtimeStrategy, `${path}.runtime_strategy`, ids, checks);
  if (message.asyncSend && (storage === null || storage.type === 'memory'))
    checks.report.warning(
      `${path}.async_send`,
      'Events wait in memory, and are lost when the process ends. Set fault_tolerant_storage to LFS or DFS to keep them',
    );
  if (processor === undefined) return null;
  return { id: message.eventSourceId, processor, asyncSend: message.asyncSend, storage, runtime };
}

function checkTrigger(
  message: EventTriggerStrategy,
  processor: Processor | undefined,
  path: string,
  components: Components,
  checks: Checks,
): Trigger | null {
  const runtime = checkRuntime(message.runtimeStrategy, `${path}.runtime_strategy`, components.ids, checks);
  if (runtime.faultTolerance?.action != null)
    checks.report.error(
      `${path}.runtime_strategy.fault_tolerance_rule.action`,
      'A trigger answers no request, so it cannot have a fallback action',
    );
  const size = numberAtLeast(message.receiveBufferSize, 0, `${path}.receive_buffer_size`, checks);
  const letters = `${path}.dead_letter_strategy`;
  const deadLetters = checkDeadLetters(
    message.deadLetterStrategy,
    runtime.retry,
    letters,
    components,
    checks,
  );
  if (message.deadLetterStrategy?.enable !== true)
    checks.report.warning(
      letters,
      'Dead letters are not enabled: an event that fails for the last time is discarded',
    );
  if (processor === undefined || size === null) return null;
  return {
    id: message.eventTriggerId,
    processor,
    bufferSize: size === 0 ? defaultBufferSize : size,
    idempotent: message.enableIdempotence,
    runtime,
    deadLetters,
  };
}
