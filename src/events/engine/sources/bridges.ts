import type { EventConfig, Route, Source, Trigger } from '../../config/config.ts';
import { channelKey } from '../channel-pool.ts';

/** What an event that cannot be published now is tried again by: it is never given up for that. */
const patiently = { max: 1_000_000, delayMs: 1_000, growth: 'exponential' } as const;
const BUFFER_SIZE = 256;

/**
 * The configuration with a trigger for each source of the kind `channel` whose events have to be brought into another channel. It
 * has the id of the source, for no two components have the same, and publishes what it gets as the source's.
 */
export function withBridges(config: EventConfig): EventConfig {
  const triggers = new Map(config.triggers);
  const routes: Route[] = [...config.routes];
  for (const source of config.sources.values()) {
    if (!leadsElsewhere(source, config)) continue;
    triggers.set(source.id, bridgeOf(source));
    const { id, processor } = source;
    routes.push({ sourceId: id, triggerId: id, channelId: processor.name, filter: null });
  }
  return { ...config, triggers, routes };
}

/** Whether a trigger is the bridge of a source. */
export const isBridge = ({ id }: Trigger, { sources }: EventConfig): boolean => sources.has(id);

/** Whether a channel is the one that the source's events come from: nobody publishes them there once more. */
export function isOrigin(channelId: string, { processor }: Source, { channels }: EventConfig): boolean {
  const [channel, origin] = [channels.get(channelId), channels.get(processor.name)];
  if (processor.kind !== 'channel' || channel === undefined || origin === undefined) return false;
  return channelKey(channel) === channelKey(origin);
}

const leadsElsewhere = (source: Source, config: EventConfig): boolean =>
  source.processor.kind === 'channel' &&
  config.routes.some(
    ({ channelId, sourceId }) => sourceId === source.id && !isOrigin(channelId, source, config),
  );

function bridgeOf({ id, processor }: Source): Trigger {
  return {
    id,
    processor,
    bufferSize: BUFFER_SIZE,
    idempotent: false,
    runtime: {
      retry: patiently,
      rateLimit: null,
      circuitBreaker: null,
      concurrency: null,
      faultTolerance: null,
    },
    deadLetters: null,
  };
}
