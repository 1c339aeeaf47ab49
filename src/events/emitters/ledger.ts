import type { AuditRecord } from '../../access/audit/schema.ts';
import type { Emitter } from '../types/emitter.ts';

/** Tells that old requests were removed from the ledger, from what the audit log has of it. */
export function emitPruned(emitter: Emitter, { actor, after, outcome }: AuditRecord): void {
  const requests = after?.['requests'];
  const before = after?.['before'];
  if (outcome !== 'success' || typeof requests !== 'number' || typeof before !== 'string') return;
  emitter.emit('ledger.pruned', {
    subject: null,
    data: { before, requests, by: { name: actor.name, via: actor.via } },
  });
}
