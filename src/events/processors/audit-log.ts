import { ownEntry } from '../../access/audit/append.ts';
import type { AuditLog } from '../../access/audit/audit.ts';
import { describe } from '../../lib/log.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { nameOfType } from '../types/catalogue.ts';
import type { EventProcessor } from './processor.ts';

/** Records events in the audit log, with their data where it is JSON. An event is done when its record is on the disk. */
export function createAuditLogProcessor(audit: Pick<AuditLog, 'writeNow'>): EventProcessor {
  return {
    async process(event) {
      const { id, source, subject = null, type } = event.attributes;
      const name = nameOfType(type);
      const action = name === null ? 'event.received' : name;
      const after = {
        event_id: id,
        event_source: source,
        ...(name === null ? { type } : {}),
        ...fieldsOf(event),
      };
      try {
        await audit.writeNow(ownEntry(action, subject, after, null));
        return { kind: 'done' };
      } catch (error) {
        return { kind: 'retry', reason: describe(error), status: null, afterMs: 0 };
      }
    },
    async close() {},
  };
}

/** What the audit log masks and bounds by itself. */
function fieldsOf({ data }: CloudEvent): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(data ?? []).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { data: value } : {};
  } catch {
    return {};
  }
}
