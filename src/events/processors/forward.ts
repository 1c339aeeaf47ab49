import type { Channel } from '../channels/channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { nextHop } from '../cloudevents/hops.ts';
import { sourceExtension } from '../engine/sources/source-extension.ts';
import type { EventProcessor } from './processor.ts';

/** Passes each event on into another channel. It is done when that channel has it. */
export function createForward(channel: Channel): EventProcessor {
  return {
    async process(event) {
      const next = nextHop(event);
      if (next === null) return { kind: 'failed', reason: 'The event goes round in circles', status: null };
      try {
        await channel.publish(withoutSource(next));
        return { kind: 'done' };
      } catch (error) {
        const reason = error instanceof Error ? error.message : 'The channel did not take the event';
        return { kind: 'retry', reason, status: null, afterMs: 0 };
      }
    },
    // The channel belongs to the configuration, not to the trigger.
    async close() {},
  };
}

/** In the other channel it is whose it is there: our source means nothing to those who read it. */
function withoutSource({ attributes, data }: CloudEvent): CloudEvent {
  return { attributes: { ...attributes, [sourceExtension]: undefined }, data };
}
