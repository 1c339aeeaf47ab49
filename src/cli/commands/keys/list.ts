import { isExpired, rowOfKey } from '../../../access/keys/row.ts';
import type { KeyRecord } from '../../../access/schema.ts';
import { keyStore } from '../../../access/store.ts';
import { shownKeyLimits } from '../../../budgets/key-limits.ts';
import { budgetStore } from '../../../budgets/store.ts';
import type { Command } from '../../command.ts';
import { localTime } from '../../terminal/text.ts';

export const keysListCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  examples: [{ command: 'gateway keys list --json', does: '{"keys":[{"id","name","prefix",…}]}' }],
  run: async (_, { io, existingStore, now }) => {
    const store = await existingStore();
    const keys = store === null ? [] : await keyStore(store).list();
    const at = now();
    const budgets = store === null ? [] : await budgetStore(store).list();
    const rows = keys.map((key) => ({ ...rowOfKey(key, at), ...shownKeyLimits(budgets, key.id) }));
    io.result({ keys: rows }, () => {
      if (keys.length === 0) return 'No gateway keys yet: make one with `gateway keys add NAME`.';
      return io.table<KeyRecord>(
        [
          { title: 'NAME', cell: (key) => key.name },
          { title: 'KEY', cell: (key) => key.prefix },
          { title: 'MODELS', cell: (key) => key.models?.join(', ') ?? 'all' },
          {
            title: 'STATE',
            cell: (key) => state(key, at),
            style: (key) => (state(key, at) === 'ok' ? null : 'red'),
          },
          { title: 'LAST USED', cell: (key) => localTime(key.lastUsedAt) },
          { title: 'EXPIRES', cell: (key) => localTime(key.expiresAt) },
          { title: 'ID', cell: (key) => key.id },
        ],
        keys,
      );
    });
    return 0;
  },
};

function state(key: KeyRecord, now: number): string {
  if (key.disabled) return 'disabled';
  return isExpired(key, now) ? 'expired' : 'ok';
}
