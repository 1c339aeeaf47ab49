import type { Command } from '../command.ts';
import { namedTool } from '../tools/gateway-facts.ts';
import { launchAbout, launchArguments, launchFlags, launchTool } from '../tools/launch.ts';

/** `gateway launch` and `gateway launch-codex`: one tool. */
export function launchCommand(command: string, id: string, example: string): Command {
  return {
    arguments: [launchArguments],
    flags: launchFlags,
    needs: 'store',
    about: launchAbout,
    examples: [
      { command: `gateway ${command}`, does: 'starts it with the gateway of this machine' },
      { command: `gateway ${command} --model auto -- ${example}`, does: 'with flags of its own' },
    ],
    run: async (options, context) => launchTool(await namedTool(id, context), options, context),
  };
}
