import { isExpired, rowOfKey } from '../../../access/keys/row.ts';
import type { KeyRecord } from '../../../access/schema.ts';
import { keyStore } from '../../../access/store.ts';
import { keyLimitsIn } from '../../../budgets/key-limits.ts';
import { budgetStore } from '../../../budgets/store.ts';
import type { Command, Options } from '../../command.ts';
import { labelsIn } from '../../resources/key-input.ts';
import type { Column } from '../../terminal/table.ts';
import { localTime } from '../../terminal/text.ts';

export const keysListCommand: Command = {
  arguments: [],
  flags: [
    { name: 'owner', value: 'NAME', summary: 'only keys of this owner' },
    { name: 'team', value: 'NAME', summary: 'only keys of this team' },
    {
      name: 'label',
      value: 'NAME=VALUE',
      kind: 'list',
      summary: 'only keys with this label; may be repeated',
    },
  ],
  needs: 'store',
  examples: [
    { command: 'gateway keys list --json', does: '{"keys":[{"id","name","prefix",…}]}' },
    { command: 'gateway keys list --team core', does: 'the keys of one team' },
  ],
  run: async (options, { io, existingStore, now }) => {
    const store = await existingStore();
    const all = store === null ? [] : await keyStore(store).list();
    const keys = all.filter(filterOf(options));
    const at = now();
    const limitsOf = keyLimitsIn(store === null ? [] : await budgetStore(store).list());
    const rows = keys.map((key) => ({ ...rowOfKey(key, at), ...limitsOf(key.id) }));
    io.result({ keys: rows }, () => {
      if (all.length === 0) return 'No gateway keys yet: make one with `gateway keys add NAME`.';
      if (keys.length === 0) return 'No key fits.';
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
          ...groupColumns(keys),
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

/** Whether a key is one of those that the flags ask for. */
function filterOf(options: Options): (key: KeyRecord) => boolean {
  const [owner, team] = [options.text('owner'), options.text('team')];
  const labels = Object.entries(labelsIn(options.texts('label')) ?? {});
  return (key) =>
    (owner === undefined || key.owner?.toLowerCase() === owner.toLowerCase()) &&
    (team === undefined || key.team === team) &&
    labels.every(([name, value]) => key.labels[name] === value);
}

/** Owners, teams and labels, where any key has some. */
function groupColumns(keys: readonly KeyRecord[]): Column<KeyRecord>[] {
  const columns: Column<KeyRecord>[] = [
    { title: 'OWNER', cell: ({ owner }) => owner ?? '' },
    { title: 'TEAM', cell: ({ team }) => team ?? '' },
    {
      title: 'LABELS',
      cell: ({ labels }) =>
        Object.entries(labels)
          .map(([name, value]) => `${name}=${value}`)
          .join(', '),
    },
  ];
  return columns.filter(({ cell }) => keys.some((key) => cell(key) !== ''));
}

function state(key: KeyRecord, now: number): string {
  if (key.disabled) return 'disabled';
  return isExpired(key, now) ? 'expired' : 'ok';
}
