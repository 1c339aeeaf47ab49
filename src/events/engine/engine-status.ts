import type { Channel as ChannelConfig, EventConfig } from '../config/config.ts';
import type { LetterCount } from '../dead-letters/letter-calls.ts';
import type { GateStatus } from '../strategies/gate.ts';
import { ingestResource } from '../strategies/resources.ts';
import type { OwnEventsStatus } from './publishing/own-events.ts';
import type { PublisherStatus } from './publishing/publisher.ts';
import type { RunningTrigger } from './triggers/running-trigger.ts';
import { type TriggerStatus, triggerStatus } from './triggers/trigger-status.ts';

/** How everything that runs is doing. Counters start when a source, channel or trigger is opened, and go on while it is the same. */
export interface EngineStatus {
  readonly sources: readonly PublisherStatus[];
  readonly channels: readonly ChannelStatus[];
  readonly triggers: readonly TriggerStatus[];
  readonly ownEvents: OwnEventsStatus;
  readonly deadLetters: readonly LetterCount[];
  /** The limits on HTTP requests that bring events. */
  readonly requests: GateStatus;
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
  /** What the channel does in the background and fails, in sentences. */
  readonly degraded: readonly string[];
  /** How the message queue is set up to lose events that it has confirmed, in sentences. */
  readonly warnings: readonly string[];
}

export interface EngineParts {
  config: Pick<EventConfig, 'channels'>;
  degradations(channel: ChannelConfig): readonly string[];
  warnings(channel: ChannelConfig): readonly string[];
  sources: readonly PublisherStatus[];
  triggers: Iterable<RunningTrigger>;
  ownEvents: OwnEventsStatus;
  letterCounts(): Promise<readonly LetterCount[]>;
  requests: GateStatus;
}

/** Never throws: what cannot be told is left out. */
export async function engineStatus(parts: EngineParts): Promise<EngineStatus> {
  const triggers = await Promise.all([...parts.triggers].map(triggerStatus));
  return {
    sources: parts.sources,
    channels: [...parts.config.channels.values()].map((one) => channelStatus(one, parts, triggers)),
    triggers,
    ownEvents: parts.ownEvents,
    deadLetters: await parts.letterCounts().catch(() => []),
    requests: parts.requests,
  };
}

/** How everything that runs is doing just now. */
export function engineHealth({
  config,
  degradations,
  ownEvents,
  requests,
  sources,
  triggers,
}: EngineParts): EngineHealth {
  const running = [...triggers];
  return {
    sources,
    ownEvents,
    requests,
    triggers: running.map(({ context: { activity, gate }, definition }) => ({
      id: definition.trigger.id,
      paused: activity.paused(),
      gate: gate.status(),
    })),
    channels: [...config.channels].map(([id, channel]) => ({
      id,
      degraded: degradations(channel),
      problem: problemOf(
        sources,
        running.flatMap(({ consumers }) =>
          [...consumers.values()].map(({ channelId, consumer }) => ({
            channel: channelId,
            channelError: consumer.status().channelError?.split('\n', 1)[0] ?? null,
          })),
        ),
        id,
      ),
    })),
  };
}

/** What last went wrong at a channel, at the side of the sources or of the triggers. */
function problemOf(
  sources: readonly PublisherStatus[],
  consumers: readonly { channel: string; channelError: string | null }[],
  id: string,
): string | null {
  const sinks = sources.flatMap(({ channels }) => channels.filter(({ channel }) => channel === id));
  const problems = [
    ...sinks.map(({ lastError }) => lastError),
    ...consumers.filter(({ channel }) => channel === id).map(({ channelError }) => channelError),
  ];
  return problems.find((problem) => problem !== null) ?? null;
}

function channelStatus(
  channel: ChannelConfig,
  { degradations, sources, warnings }: EngineParts,
  triggers: readonly TriggerStatus[],
): ChannelStatus {
  const { id, scheme, topic } = channel;
  const sinks = sources.flatMap(({ channels }) => channels.filter((one) => one.channel === id));
  const consumers = triggers.flatMap((trigger) => trigger.consumers.filter((one) => one.channel === id));
  const waiting = consumers.map((consumer) => consumer.waiting);
  return {
    id,
    scheme,
    topic,
    published: sinks.reduce((sum, { sent }) => sum + sent, 0),
    failed: sinks.reduce((sum, { failed }) => sum + failed, 0),
    waiting: waiting.includes(null) ? null : waiting.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    problem: problemOf(sources, consumers, id),
    degraded: degradations(channel),
    warnings: warnings(channel),
  };
}

/** What can be told at once, without asking a channel. */
export interface EngineHealth {
  readonly triggers: readonly Pick<TriggerStatus, 'id' | 'paused' | 'gate'>[];
  readonly channels: readonly Pick<ChannelStatus, 'id' | 'problem' | 'degraded'>[];
  readonly sources: readonly Pick<PublisherStatus, 'source' | 'storage'>[];
  readonly ownEvents: Pick<OwnEventsStatus, 'dropped'>;
  readonly requests: GateStatus;
}

/** What an operator should look at, in sentences. */
export function engineProblems({ channels, ownEvents, requests, sources, triggers }: EngineHealth): string[] {
  return [
    ...requests.limits.flatMap((limit) =>
      limit.kind === 'circuit-breaker' && limit.state !== 'closed'
        ? [`The circuit breaker of ${ingestResource} is ${limit.state}`]
        : [],
    ),
    ...triggers.flatMap(({ gate, id, paused }) => [
      ...(paused === null ? [] : [`Trigger ${id} is paused: ${paused.detail}`]),
      ...gate.limits.flatMap((limit) =>
        limit.kind === 'circuit-breaker' && limit.state !== 'closed'
          ? [`The circuit breaker of trigger ${id} is ${limit.state}`]
          : [],
      ),
    ]),
    ...channels.flatMap(({ degraded, id, problem }) =>
      [...(problem === null ? [] : [problem]), ...degraded].map((text) => `Channel ${id}: ${text}`),
    ),
    ...sources.flatMap(({ source, storage }) =>
      storage === null || storage.problem === null
        ? []
        : [`The storage of source ${source}: ${storage.problem}`],
    ),
    ...(ownEvents.dropped === 0 ? [] : [`Events of the gateway that were dropped: ${ownEvents.dropped}`]),
  ];
}
