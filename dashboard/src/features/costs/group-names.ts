import type { UsageRow } from '../../../../src/ledger/schema.ts';
import type { Grouping } from './search.ts';

/** What a row is called by one grouping; null where its requests had none. */
export function groupName(row: UsageRow, by: Grouping): string | null {
  switch (by) {
    case 'model':
      return row.model === null ? null : `${row.provider ?? '?'}/${row.model}`;
    case 'key':
      return row.key_name ?? row.key_id;
    case 'combo':
      return row.combo ?? row.combo_id;
    default:
      return row[by];
  }
}

/** The same for rows that stand for the same group, whatever they are called. */
export function groupId(row: UsageRow, by: Grouping): string {
  if (row.rest_groups > 0) return '*';
  switch (by) {
    case 'model':
      return row.model === null ? '-' : `=${row.provider}/${row.model}`;
    case 'key':
      return row.key_id === null ? '-' : `=${row.key_id}`;
    case 'combo':
      return row.combo_id === null ? '-' : `=${row.combo_id}`;
    default:
      return row[by] === null ? '-' : `=${row[by]}`;
  }
}

/** What the address of the requests carries for a group; `-` stands for requests that had none. */
export function requestsOfGroup(row: UsageRow, by: Grouping): Readonly<Record<string, string>> {
  switch (by) {
    case 'model':
      return { provider: row.provider ?? '-', served: row.model ?? '-' };
    case 'key':
      return { key: row.key_id ?? '-' };
    case 'combo':
      return { combo: row.combo_id ?? '-' };
    case 'owner':
    case 'team':
      return row[by] === null ? { tag: `!${by}` } : { tag: `${by}=${row[by]}` };
    default:
      return { [by]: row[by] ?? '-' };
  }
}
