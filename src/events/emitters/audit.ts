import type { AuditRecord } from '../../access/audit/schema.ts';
import type { Emitter } from '../types/emitter.ts';
import { emitPruned } from './ledger.ts';

/**
 * Tells of what the audit log has and the gateway's settings do not show. A command records what it is about to do, and once
 * more when that failed: so its record waits for the next look.
 * @returns what takes the records of one look
 */
export function createAuditEvents(emitter: Emitter): (records: readonly AuditRecord[]) => void {
  let begun: AuditRecord[] = [];
  return (records) => {
    const failed = new Set(records.filter(({ outcome }) => outcome === 'failure').map(nameOf));
    for (const record of begun) if (!failed.has(nameOf(record))) emitRecord(emitter, record);
    const changes = records.filter(({ outcome }) => outcome === 'success' || outcome === 'denied');
    const byCommand = ({ actor, outcome }: AuditRecord) => actor.via === 'cli' && outcome === 'success';
    begun = changes.filter((record) => byCommand(record) && !failed.has(nameOf(record)));
    for (const record of changes) if (!byCommand(record)) emitRecord(emitter, record);
  };
}

function nameOf({ action, target }: AuditRecord): string {
  return JSON.stringify([action, target]);
}

function emitRecord(emitter: Emitter, record: AuditRecord) {
  const { action, actor, address, after, outcome, reason, target } = record;
  const by = { name: actor.name, via: actor.via };
  switch (action) {
    case 'auth.login':
    case 'auth.refused': {
      if (outcome !== 'denied') return;
      const repeated = after?.['repeated'];
      emitter.emit('auth.refused', {
        subject: address,
        data: {
          reason,
          address,
          user_id: actor.id,
          repeated: typeof repeated === 'number' ? repeated : null,
        },
      });
      return;
    }
    case 'connections.export':
      emitter.emit('auth.exported', { subject: null, data: { by } });
      return;
    case 'tools.configure':
    case 'cli-tools.configure':
      if (outcome === 'success' && target !== null)
        emitter.emit('tool.configured', { subject: target, data: { tool: target, by } });
      return;
    case 'ledger.prune':
      emitPruned(emitter, record);
      return;
    case 'backups.create':
      // Through the API a task makes it, which tells of it itself.
      if (actor.via === 'cli' && outcome === 'success')
        emitter.emit('backup.completed', { subject: target, data: { name: target, by, reason: null } });
  }
}
