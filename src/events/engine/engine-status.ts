import type { Channel as ChannelConfig, EventConfig } from '../config/config.ts';
import type { LetterCount } from '../dead-letters/letter-calls.ts';
import type { OwnEventsStatus } from './own-events.ts';
import type { PublisherStatus } from './publisher.ts';
import type { RunningTrigger } from './running-trigger.ts';
import { type TriggerStatus, triggerStatus } from './trigger-status.ts';

/** How everything that runs is doing. Counters begin when a member is opened, and go on while it is the same. */
export interface EngineStatus {
  readonly sources: readonly PublisherStatus[];
  readonly channels: readonly ChannelStatus[];
  readonly triggers: readonly TriggerStatus[];
  readonly ownEvents: OwnEventsStatus;
  readonly deadLetters: readonly LetterCount[];
}

export interface ChannelStatus {
  readonly id: string;
  readonly scheme: ChannelConfig['scheme'];
  readonly topic: string;
  /** Events that the sources of this gateway published. */
  readonly published: number;
  /** Publishings that failed. */
  readonly failed: number;
  /** Events that were not received yet, by all triggers together; null where the channel cannot tell. */
  readonly waiting: number | null;
  /** What last went wrong, at the side of the sources or of the triggers; null when nothing does. */
  readonly problem: string | null;
}

export interface EngineParts {
  config: Pick<EventConfig, 'channels'>;
  sources: readonly PublisherStatus[];
  triggers: Iterable<RunningTrigger>;
  ownEvents: OwnEventsStatus;
  letterCounts(): Promise<readonly LetterCount[]>;
}

/** Never throws: what cannot be told is left out. */
export async function engineStatus(parts: EngineParts): Promise<EngineStatus> {
  const triggers = await Promise.all([...parts.triggers].map(triggerStatus));
  return {
    sources: parts.sources,
    channels: [...parts.config.channels.values()].map((one) => channelStatus(one, parts.sources, triggers)),
    triggers,
    ownEvents: parts.ownEvents,
    deadLetters: await parts.letterCounts().catch(() => []),
  };
}

function channelStatus(
  { id, scheme, topic }: ChannelConfig,
  sources: readonly PublisherStatus[],
  triggers: readonly TriggerStatus[],
): ChannelStatus {
  const outlets = sources.flatMap(({ channels }) => channels.filter(({ channel }) => channel === id));
  const consumers = triggers.flatMap((trigger) => trigger.consumers.filter(({ channel }) => channel === id));
  const waiting = consumers.map((consumer) => consumer.waiting);
  const problems = [
    ...outlets.map(({ lastError }) => lastError),
    ...consumers.map(({ channelError }) => channelError),
  ];
  return {
    id,
    scheme,
    topic,
    published: outlets.reduce((sum, { sent }) => sum + sent, 0),
    failed: outlets.reduce((sum, { failed }) => sum + failed, 0),
    waiting: waiting.includes(null) ? null : waiting.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    problem: problems.find((one) => one !== null) ?? null,
  };
}

/** What an operator should look at, in sentences. */
export function engineProblems({ channels, ownEvents, sources, triggers }: EngineStatus): string[] {
  return [
    ...triggers.flatMap(({ gate, id, paused }) => [
      ...(paused === null ? [] : [`Trigger ${id} is paused: ${paused.detail}`]),
      ...gate.limits.flatMap((limit) =>
        limit.kind === 'circuit-breaker' && limit.state !== 'closed'
          ? [`The circuit breaker of trigger ${id} is ${limit.state}`]
          : [],
      ),
    ]),
    ...channels.flatMap(({ id, problem }) => (problem === null ? [] : [`Channel ${id}: ${problem}`])),
    ...sources.flatMap(({ source, storage }) =>
      storage === null || storage.problem === null
        ? []
        : [`The storage of source ${source}: ${storage.problem}`],
    ),
    ...(ownEvents.dropped === 0 ? [] : [`Events of the gateway that were dropped: ${ownEvents.dropped}`]),
  ];
}
