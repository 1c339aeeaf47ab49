import { rowOfAlias } from '../../../combos/aliases/resource.ts';
import type { AliasRecord } from '../../../combos/aliases/schema.ts';
import { aliasStore } from '../../../combos/aliases/store.ts';
import type { Command } from '../../command.ts';

export const aliasListCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  examples: [{ command: 'gateway alias list --json', does: '{"aliases":[{"id","name","target",…}]}' }],
  run: async (_, { existingStore, io }) => {
    const store = await existingStore();
    const aliases = store === null ? [] : await aliasStore(store).list();
    io.result({ aliases: aliases.map(rowOfAlias) }, () => {
      if (aliases.length === 0) return 'No aliases yet: make one with `gateway alias add NAME TARGET`.';
      return io.table<AliasRecord>(
        [
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'MEANS', cell: ({ target }) => target },
        ],
        aliases,
      );
    });
    return 0;
  },
};
