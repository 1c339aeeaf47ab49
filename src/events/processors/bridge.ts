import type { CloudEvent } from '../cloudevents/event.ts';
import { nextHop } from '../cloudevents/hops.ts';
import type { PublishResult } from '../engine/publishing/publisher.ts';
import type { EventProcessor } from './processor.ts';

/**
 * Brings events of another channel in as a source's.
 * @param publish null when the source is gone
 */
export function createBridge(publish: (event: CloudEvent) => Promise<PublishResult> | null): EventProcessor {
  return {
    async process(event) {
      const next = nextHop(event);
      if (next === null) return { kind: 'failed', reason: 'The event goes round in circles', status: null };
      const result = await publish(next);
      if (result === null)
        return { kind: 'retry', reason: 'The source is not running', status: null, afterMs: 0 };
      if (result.kind !== 'rejected') return { kind: 'done' };
      const reason = `The event was not published: ${result.reason}`;
      return result.retryAfterMs === null
        ? { kind: 'failed', reason, status: null }
        : { kind: 'retry', reason, status: null, afterMs: result.retryAfterMs };
    },
    async close() {},
  };
}
