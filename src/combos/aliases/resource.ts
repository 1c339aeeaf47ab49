import type { Resource, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import { type AliasRecord, aliasChange, aliasRow, newAliasInput } from './schema.ts';
import type { aliasStore, NewAlias } from './store.ts';

/** Other names for models, and for all whose id fits a pattern. */
export function aliasesResource({ aliases }: { aliases: ReturnType<typeof aliasStore> }): Resource {
  return {
    name: 'aliases',
    title: 'Aliases',
    summary: 'Other names for models and combos; * stands for any text.',
    record: aliasRow,
    read: 'combos:read',
    list: async () => (await aliases.list()).map(rowOfAlias),
    async find(idOrName) {
      const record = await aliases.find(idOrName);
      return record === null ? null : rowOfAlias(record);
    },
    create: {
      permission: 'combos:update',
      input: newAliasInput,
      run: async (input) => ({ row: rowOfAlias(await aliases.add(newAliasInput.parse(input))) }),
    },
    update: {
      permission: 'combos:update',
      input: aliasChange,
      async run(row, input) {
        const { name, target } = aliasChange.parse(input);
        const patch: Partial<NewAlias> = {
          ...(name === undefined ? {} : { name }),
          ...(target === undefined ? {} : { target }),
        };
        const changed = await aliases.update(row.id, patch);
        if (changed === null) throw removedMeanwhile(row);
        return rowOfAlias(changed);
      },
    },
    remove: {
      permission: 'combos:update',
      async run(row) {
        if (!(await aliases.remove(row.id))) throw removedMeanwhile(row);
      },
    },
  };
}

/** An alias as it is shown. Times in ISO 8601. */
export function rowOfAlias({ createdAt, id, name, target }: AliasRecord) {
  const created = new Date(createdAt).toISOString();
  return { id, name, target, pattern: name.includes('*'), created_at: created };
}

function removedMeanwhile(row: Row): GatewayError {
  return new GatewayError('not_found', `The alias "${String(row['name'])}" was removed in the meantime`);
}
