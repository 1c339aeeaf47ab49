import { rowOfCombo } from '../../combos/combo-row.ts';
import type { ComboRecord } from '../../combos/combo-schema.ts';
import { comboStore } from '../../combos/store.ts';
import type { Context } from '../context.ts';
import { type Failure, failure } from '../terminal/failure.ts';
import { printable } from '../terminal/text.ts';
import { routesIn } from './routes.ts';

export type ComboRow = ReturnType<typeof rowOfCombo>;

/** The combos as they are shown. Creates nothing. */
export async function comboRows(context: Context): Promise<ComboRow[]> {
  const { routes } = await routesIn(context);
  const { byName, records } = routes.combos;
  return records.map((record) => rowOfCombo(record, byName.get(record.name) ?? null));
}

export async function comboRow(name: string, context: Context): Promise<ComboRow> {
  const rows = await comboRows(context);
  const row = rows.find(({ id }) => id === name) ?? rows.find((one) => one.name === name);
  if (row === undefined) throw noCombo(name);
  return row;
}

/** The store of combos and the one that is meant. @throws a failure with exit 1 when there is none */
export async function storedCombo(
  name: string,
  context: Context,
): Promise<{ combos: ReturnType<typeof comboStore>; record: ComboRecord }> {
  const store = await context.existingStore();
  const combos = store === null ? null : comboStore(store);
  const record = (await combos?.find(name)) ?? null;
  if (combos === null || record === null) throw noCombo(name);
  return { combos, record };
}

function noCombo(name: string): Failure {
  const hint = '`gateway combo list` shows what there is';
  return failure(1, 'not_found', `There is no combo "${printable(name)}": ${hint}`);
}

/** A target as it is written on the command line. */
export function targetText({ target, weight }: { target: string; weight: number }): string {
  return weight === 1 ? target : `${target}@${weight}`;
}
