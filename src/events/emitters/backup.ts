import type { EndedWork } from '../../backup/work.ts';
import type { Emitter } from '../types/emitter.ts';

/** Tells that a backup was made, or could not be. */
export function emitBackup(emitter: Emitter, { action, caller, reason, target }: EndedWork): void {
  if (action !== 'create') return;
  emitter.emit(reason === null ? 'backup.completed' : 'backup.failed', {
    subject: target,
    data: { name: target, by: { name: caller.name, via: caller.via }, reason },
  });
}
