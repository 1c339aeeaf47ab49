import type { CloudEvent } from '../../cloudevents/event.ts';
import type { EventConfig } from '../../config/config.ts';
import { channelKey } from '../channel-pool.ts';
import { sourceExtension } from './source-extension.ts';

/** The id of the source that an event of a channel came in by; null when it is of none. */
export type SourceOf = (event: CloudEvent) => string | null;

/**
 * Tells whose the events of a channel are. What this gateway published says so itself. Of what others published, the event's
 * `source` may be the id of a source, or else the name of one; the rest is of the source whose channel it is, if there is one. So are
 * the dead letters there, whosever events they were.
 */
export function sourcesOfChannel({ channels, sources }: EventConfig, key: string): SourceOf {
  const byName = new Map<string, string>();
  let owner: string | null = null;
  for (const { id, processor } of sources.values()) {
    const channel = processor.kind === 'channel' ? channels.get(processor.name) : undefined;
    if (channel !== undefined && channelKey(channel) === key) owner ??= id;
    if (processor.kind !== 'channel' && processor.name !== '' && !byName.has(processor.name))
      byName.set(processor.name, id);
  }
  return ({ attributes }) => {
    if (owner !== null && typeof attributes['dlreason'] === 'string') return owner;
    const own = attributes[sourceExtension];
    if (typeof own === 'string' && sources.has(own)) return own;
    return sources.has(attributes.source) ? attributes.source : (byName.get(attributes.source) ?? owner);
  };
}
