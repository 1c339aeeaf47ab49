import type { CloudEvent } from '../cloudevents/event.ts';
import type { LetterFacts } from '../dead-letters/letter-calls.ts';
import type { Emitter } from '../types/emitter.ts';

/** What the engine itself tells of. Of that nothing is told: a receiver that fails would get one after the other. */
export const isOfEngine = ({ attributes }: CloudEvent): boolean =>
  /^io\.modelgate\.(?:event|trigger|alert)\./.test(attributes.type);

/** Tells of an event that became a dead letter, unless the event is of the engine itself. */
export function emitDeadLettered(
  emitter: Emitter,
  event: CloudEvent,
  { attempts, reason, status, trigger }: Pick<LetterFacts, 'attempts' | 'reason' | 'status' | 'trigger'>,
): void {
  const { id, source, type } = event.attributes;
  if (isOfEngine(event)) return;
  emitter.emit('event.deadlettered', {
    subject: trigger,
    data: {
      trigger,
      event_id: id,
      event_source: source,
      event_type: type,
      reason,
      attempts,
      status,
    },
  });
}
