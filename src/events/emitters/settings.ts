import { changesBetween, type KeyIndex } from '../../access/keys/key-index.ts';
import type { KeyRecord } from '../../access/schema.ts';
import type { Snapshot } from '../../snapshot.ts';
import type { Emitter } from '../types/emitter.ts';

/**
 * Tells of keys and of the combo in use, by comparing what requests see before and after a change: so it does not matter who
 * made it, the management API or a command beside the gateway.
 */
export function emitSettings(emitter: Emitter, before: Snapshot, after: Snapshot): void {
  if (before.keys !== after.keys) emitKeys(emitter, before.keys, after.keys);
  emitCombo(emitter, before, after);
}

function emitKeys(emitter: Emitter, before: KeyIndex, after: KeyIndex): void {
  for (const { after: key, before: known } of changesBetween(before, after)) {
    if (key === undefined) {
      if (known !== undefined) revoked(emitter, known, 'removed');
      continue;
    }
    const about = { subject: key.id, data: { key_id: key.id, name: key.name } };
    if (known === undefined || (known.disabled && !key.disabled)) emitter.emit('key.created', about);
    else if (!known.disabled && key.disabled) revoked(emitter, key, 'disabled');
    if (known !== undefined && known.hash !== key.hash) emitter.emit('key.rotated', about);
  }
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
