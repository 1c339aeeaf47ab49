import type { DeadLetterStrategy, EventChannel } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';
import { type Checks, numberAtLeast } from './checks.ts';
import { type Components, checkChannel } from './components.ts';
import type { Channel, DeadLetters, Retry, Storage, Trigger } from './config.ts';
import { checkStorage, defaultBytes } from './storage.ts';

/** Where dead letters are kept when nothing else is said: this machine's disk, and no event is lost when it is full. */
const defaultStorage: Storage = { type: 'local', bytes: defaultBytes.local, whenFull: 'block' };

/** @returns null when dead letters are not enabled, or something was reported */
export function checkDeadLetters(
  message: DeadLetterStrategy | undefined,
  retry: Retry | null,
  path: string,
  components: Components,
  checks: Checks,
): DeadLetters | null {
  const { report } = checks;
  if (message === undefined) return null;
  const threshold = numberAtLeast(
    message.retryTriggerThreshold,
    0,
    `${path}.retry_trigger_threshold`,
    checks,
  );
  const store = storeOf(message, path, components, checks);
  if (!message.enable) {
    if (message.store.case !== undefined)
      report.warning(path, 'Dead letters are not enabled, so the store has no effect. Set enable to true');
    return null;
  }
  const max = retry?.max ?? 0;
  if (threshold !== null && threshold > max)
    report.warning(
      `${path}.retry_trigger_threshold`,
      `There are at most ${max} retries, after which the event is a dead letter anyway`,
    );
  if (threshold === null || store === null) return null;
  return { afterRetries: threshold > 0 ? Math.min(threshold, max) : max, store };
}

function storeOf(
  { store }: DeadLetterStrategy,
  path: string,
  components: Components,
  checks: Checks,
): DeadLetters['store'] | null {
  switch (store.case) {
    case undefined:
      return { kind: 'storage', storage: defaultStorage };
    case 'persistence': {
      const storage = checkStorage(store.value, `${path}.persistence`, checks);
      return storage === null ? null : { kind: 'storage', storage };
    }
    case 'channel': {
      const channel = channelOf(store.value, `${path}.channel`, components, checks);
      return channel === null ? null : { kind: 'channel', channel };
    }
  }
}

/** A channel that the components have may be named by its id alone. */
function channelOf(
  message: EventChannel,
  path: string,
  { channels, ids }: Components,
  checks: Checks,
): Channel | null {
  const kind = ids.get(message.uniqueId);
  if (kind === undefined) {
    if (message.uniqueId !== '') return checkChannel(message, path, checks);
    checks.report.error(`${path}.unique_id`, 'The channel has no id');
    return null;
  }
  if (kind !== 'channel') {
    checks.report.error(
      `${path}.unique_id`,
      `A ${kind} has this id already. Ids are unique among all components`,
    );
    return null;
  }
  const channel = channels.get(message.uniqueId);
  if (channel === undefined) return null;
  const same = (written: string, own: string) => written === '' || written === own;
  if (same(message.url, channel.url) && same(message.mqTopicName, channel.topic)) return channel;
  checks.report.error(path, 'The components have a channel with this id and another address or topic');
  return null;
}

interface Edge {
  readonly to: string;
  readonly trigger: string;
}

/**
 * Refuses dead letters that come back to the trigger that they are from: into a channel that it receives from, at once or
 * through the dead letters of other triggers.
 * @param inputs the channels that each trigger receives from
 */
export function checkCycles(
  triggers: ReadonlyMap<string, Trigger>,
  inputs: ReadonlyMap<string, ReadonlySet<string>>,
  pathOf: (triggerId: string) => string,
  { report }: Checks,
): void {
  const edges = new Map<string, Edge[]>();
  for (const [id, { deadLetters }] of triggers) {
    if (deadLetters?.store.kind !== 'channel') continue;
    for (const input of inputs.get(id) ?? [])
      edges.set(input, [...(edges.get(input) ?? []), { to: deadLetters.store.channel.id, trigger: id }]);
  }
  for (const [id, { deadLetters }] of triggers) {
    if (deadLetters?.store.kind !== 'channel') continue;
    const own = inputs.get(id) ?? new Set();
    if ([...reachable(deadLetters.store.channel.id, edges)].some((channel) => own.has(channel)))
      report.error(
        pathOf(id),
        'Its dead letters come back to the trigger. Send them to a channel that leads elsewhere',
      );
  }
}

function reachable(from: string, edges: ReadonlyMap<string, readonly Edge[]>): Set<string> {
  const reached = new Set([from]);
  for (const channel of reached) for (const { to } of edges.get(channel) ?? []) reached.add(to);
  return reached;
}
