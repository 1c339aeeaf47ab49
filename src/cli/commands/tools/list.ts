import { allTools, shownTools } from '../../../tools/custom/store.ts';
import type { Recipe } from '../../../tools/tool.ts';
import type { Command } from '../../command.ts';

export const toolsListCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'all',
      summary: 'also tools that cannot use another endpoint, with the reason',
    },
  ],
  needs: 'nothing',
  about: 'Runs none of them: `gateway tools status` shows which are here.',
  examples: [{ command: 'gateway tools list --json', does: 'every entry of the catalogue' }],
  run: async (options, { dataDir: where, io }) => {
    const dataDir = await where();
    const shown = await (options.on('all') ? allTools(dataDir) : shownTools(dataDir));
    const rows = shown.map(({ evidence: _, formerRecipes: __, recipe, ...tool }) => ({
      ...tool,
      api: recipe.api,
      files: recipe.files.length > 0,
      setup: setupOf(recipe),
      model_required: recipe.model === 'required',
    }));
    io.result({ count: rows.length, tools: rows }, () =>
      io.table(
        [
          { title: 'ID', cell: ({ id }) => id },
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'VENDOR', cell: ({ vendor }) => vendor },
          { title: 'API', cell: ({ api }) => api },
          { title: 'SET UP BY', cell: ({ setup }) => setupText[setup] },
          { title: 'LIMITATION', cell: ({ limitation }) => limitation ?? '' },
        ],
        rows,
      ),
    );
    return 0;
  },
};

type Setup = 'configuration' | 'environment' | 'by_hand' | 'not_possible';

const setupText: Readonly<Record<Setup, string>> = {
  configuration: 'its configuration',
  environment: 'its environment',
  by_hand: 'you, by hand',
  not_possible: 'nothing',
};

function setupOf({ environment, files, steps }: Recipe): Setup {
  if (files.length > 0) return 'configuration';
  if (environment !== undefined) return 'environment';
  return steps === undefined ? 'not_possible' : 'by_hand';
}
