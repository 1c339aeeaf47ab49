import { tools } from '../../tools/catalogue/index.ts';
import { launchRecipeOf } from '../../tools/launching/launch.ts';
import type { Command } from '../command.ts';
import { namedTool } from '../tools/gateway-facts.ts';
import { launchAbout, launchArguments, launchFlags, launchTool } from '../tools/launch.ts';

const launchable = tools.filter((tool) => launchRecipeOf(tool) !== null).map(({ id }) => id);

export const runToolCommand: Command = {
  arguments: [
    { name: 'tool', summary: 'id of the tool', required: true, suggestions: launchable },
    launchArguments,
  ],
  flags: launchFlags,
  needs: 'store',
  about: launchAbout,
  examples: [
    { command: 'gateway run claude', does: 'Claude Code with the gateway of this machine' },
    { command: 'gateway run codex --model auto -- exec "explain this"', does: 'with arguments of its own' },
  ],
  run: async (options, context) =>
    launchTool(await namedTool(options.argument('tool'), context), options, context),
};
