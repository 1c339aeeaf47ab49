import type { KeyRecord } from '../../access/schema.ts';
import type { Snapshot } from '../../snapshot.ts';
import type { Emitter } from '../types/emitter.ts';

/**
 * Tells of keys and of the combo in use, by comparing what requests see before and after a change: so it does not matter who
 * made it, the management API or a command beside the gateway.
 */
export function emitSettings(emitter: Emitter, before: Snapshot, after: Snapshot): void {
  if (before.keysById !== after.keysById) emitKeys(emitter, before.keysById, after.keysById);
  emitCombo(emitter, before, after);
}

type Keys = ReadonlyMap<string, KeyRecord>;

function emitKeys(emitter: Emitter, before: Keys, after: Keys): void {
  for (const [id, key] of after) {
    const known = before.get(id);
    // As most of 100,000 are.
    if (known === key) continue;
    const about = { subject: id, data: { key_id: id, name: key.name } };
    if (known === undefined || (known.disabled && !key.disabled)) emitter.emit('key.created', about);
    else if (!known.disabled && key.disabled) revoked(emitter, key, 'disabled');
    if (known !== undefined && known.hash !== key.hash) emitter.emit('key.rotated', about);
  }
  for (const [id, key] of before) if (!after.has(id)) revoked(emitter, key, 'removed');
}

function revoked(emitter: Emitter, { id, name }: KeyRecord, reason: 'removed' | 'disabled'): void {
  emitter.emit('key.revoked', { subject: id, data: { key_id: id, name, reason } });
}

function emitCombo(emitter: Emitter, before: Snapshot, after: Snapshot): void {
  const active = ({ routes }: Snapshot) => routes.combos.records.find((combo) => combo.active) ?? null;
  const [was, is] = [active(before), active(after)];
  if (was?.id === is?.id) return;
  emitter.emit('combo.switched', {
    subject: is?.id ?? null,
    data: { combo_id: is?.id ?? null, name: is?.name ?? null },
  });
}
