import type { AuditLog } from '../../access/audit/audit.ts';
import type { Log } from '../../lib/log.ts';
import { createAuditLogProcessor } from './audit-log.ts';
import { createNotifier } from './notifier.ts';
import type { EventProcessor } from './processor.ts';

/** What a trigger of the kind `gateway` hands its events to; null for a name that the gateway does not have. */
export function builtInProcessor(
  name: string,
  { audit, log }: { audit: Pick<AuditLog, 'writeNow'>; log: Log },
): EventProcessor | null {
  switch (name) {
    case 'audit-log':
      return createAuditLogProcessor(audit);
    case 'notifier':
      return createNotifier(log);
    default:
      return null;
  }
}
