import type { UsageRow } from '../../../../src/ledger/schema.ts';
import { csvText } from '../../lib/download.ts';
import { groupName } from './group-names.ts';
import { countFields, moneyFields, totalsOf } from './lines.ts';
import type { Grouping } from './search.ts';

/** The rows of a table of costs with all digits, and their total, as comma-separated values. */
export function costsCsv(rows: readonly UsageRow[], groupings: readonly Grouping[]): string {
  const fields = [...moneyFields, ...countFields];
  const name = (row: UsageRow, by: Grouping, index: number) => {
    if (row.rest_groups > 0) return index === 0 ? `${row.rest_groups} others` : null;
    return groupName(row, by);
  };
  const totals = totalsOf(rows);
  return csvText([
    [...groupings, 'from', 'to', ...fields],
    ...rows.map((row) => [
      ...groupings.map((by, index) => name(row, by, index)),
      row.from,
      row.to,
      ...fields.map((field) => row[field]),
    ]),
    ['total', ...groupings.slice(1).map(() => null), null, null, ...fields.map((field) => totals[field])],
  ]);
}
