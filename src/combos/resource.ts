import type { Action, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { optionsOf, rowOfCombo } from './combo-row.ts';
import type { ComboRecord, ComboTarget } from './combo-schema.ts';
import { compileCombos } from './pool/compile.ts';
import type { Routes } from './routing/resolve.ts';
import { activation, comboChange, comboRow, newComboInput } from './schema.ts';
import type { ComboPatch, comboStore } from './store.ts';

export interface CombosInput {
  combos: ReturnType<typeof comboStore>;
  /** The connections as requests see them at this moment. */
  routes(): Routes;
}

type Combos = CombosInput['combos'];

/** The routing sets: which targets stand behind a name, and in which order they are asked. */
export function combosResource({ combos, routes }: CombosInput): Resource {
  const shown = async (records: readonly ComboRecord[]): Promise<Row[]> => {
    const { byName } = compileCombos(await combos.list(), routes());
    return records.map((record) => rowOfCombo(record, byName.get(record.name) ?? null));
  };
  const find = async (idOrName: string): Promise<Row | null> => {
    const record = await combos.find(idOrName);
    return record === null ? null : ((await shown([record]))[0] ?? null);
  };
  const findAgain = async (row: Row): Promise<Row> => {
    const again = await find(row.id);
    if (again === null) throw removedMeanwhile(row);
    return again;
  };
  return {
    name: 'combos',
    title: 'Combos',
    summary: 'Combos: several targets behind one name, and how to choose among them.',
    record: comboRow,
    read: 'combos:read',
    list: async () => shown(await combos.list()),
    find,
    create: {
      permission: 'combos:update',
      input: newComboInput,
      async run(input) {
        const { name, options = {}, strategy, targets } = newComboInput.parse(input);
        const record = await combos.add({
          name,
          targets: targets.map(targetOf),
          options: optionsOf(options),
          ...(strategy === undefined ? {} : { strategy }),
        });
        return { row: await findAgain({ id: record.id, name }) };
      },
    },
    update: {
      permission: 'combos:update',
      input: comboChange,
      async run(row, input) {
        if ((await combos.update(row.id, patchOf(input))) === null) throw removedMeanwhile(row);
        return findAgain(row);
      },
    },
    remove: {
      permission: 'combos:update',
      async run(row) {
        if (!(await combos.remove(row.id))) throw removedMeanwhile(row);
      },
    },
    actions: { activate: activateAction(combos), deactivate: deactivateAction(combos) },
  };
}

function patchOf(input: Record<string, unknown>): ComboPatch {
  const { name, options, strategy, targets } = comboChange.parse(input);
  return {
    ...(name === undefined ? {} : { name }),
    ...(strategy === undefined ? {} : { strategy }),
    ...(targets === undefined ? {} : { targets: targets.map(targetOf) }),
    ...(options === undefined ? {} : { options: optionsOf(options) }),
  };
}

function targetOf(input: string | { target: string; weight?: number | undefined }): ComboTarget {
  return typeof input === 'string'
    ? { target: input, weight: 1 }
    : { target: input.target, weight: input.weight ?? 1 };
}

function activateAction(combos: Combos): Action {
  return {
    summary: 'Makes it the active combo, which "auto" stands for.',
    permission: 'combos:operate',
    input: activation,
    possible: (row) => row['active'] === false,
    preview: async (row) => ({ success: true, message: `${titleOf(row)} would be what "auto" means` }),
    async run(row, input) {
      const { instead_of: insteadOf } = activation.parse(input);
      if (!(await combos.activate(row.id, { insteadOf })))
        throw insteadOf === undefined || (await combos.find(row.id)) === null
          ? removedMeanwhile(row)
          : notInstead();
      return { success: true, message: `${titleOf(row)} is what "auto" means` };
    },
  };
}

function deactivateAction(combos: Combos): Action {
  return {
    summary:
      'Deactivates it, so that "auto" stands for nothing. If another combo is active, that one stays active.',
    permission: 'combos:operate',
    possible: (row) => row['active'] === true,
    preview: async (row) => ({ success: true, message: `${titleOf(row)} would not be active any more` }),
    async run(row) {
      const was = await combos.deactivate(row.id);
      return { success: true, message: `${titleOf(row)} is not active${was ? ' any more' : ''}` };
    },
  };
}

function titleOf(row: Row): string {
  return `The combo "${String(row['name'])}"`;
}

function notInstead(): GatewayError {
  const message = 'Another combo than "instead_of" names is active: read the combos again';
  return new GatewayError('precondition_failed', message, { param: 'instead_of' });
}

function removedMeanwhile(row: Row): GatewayError {
  return new GatewayError('not_found', `${titleOf(row)} was removed in the meantime`);
}
