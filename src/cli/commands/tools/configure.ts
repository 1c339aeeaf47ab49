import { keyVariable } from '../../../tools/tool.ts';
import type { Command } from '../../command.ts';
import { toolFlags } from '../../tools/flags.ts';
import {
  installedTool,
  keyFromFlags,
  namedTool,
  targetGateway,
  toolIds,
  toolPlace,
} from '../../tools/gateway-facts.ts';
import { changeText, noteEnvironment, setUpTool } from '../../tools/set-up.ts';

export const toolsConfigureCommand: Command = {
  arguments: [{ name: 'tool', summary: 'id of the tool', required: true, suggestions: toolIds }],
  flags: [toolFlags.model, toolFlags.apiKey, toolFlags.remote, toolFlags.dryRun, toolFlags.yes],
  needs: 'store',
  about: `Changes the tool's own entries of its own files; comments, order and everything else stay. It backs the files up first: \`gateway tools restore\` brings them back. If the tool can read its key from a variable, the file names ${keyVariable} and does not contain the key.`,
  examples: [
    { command: `${keyVariable}=sk-… gateway tools configure claude`, does: 'shows the change and asks' },
    { command: 'gateway tools configure codex --model auto --dry-run', does: 'shows the change' },
    {
      command: 'gateway tools configure opencode --model smart --remote https://ai.example.com --yes',
      does: 'a tool here, a gateway elsewhere',
    },
  ],
  run: async (options, context) => {
    const place = await toolPlace(context);
    const tool = await installedTool(await namedTool(options.argument('tool'), context), place);
    const text = await keyFromFlags(options, context);
    const facts = await targetGateway(options, context, text);
    const key = text === null ? ({ kind: 'none' } as const) : ({ kind: 'given', text } as const);
    const model = options.text('model') ?? null;
    const outcome = await setUpTool({ tool, place, facts, key, model, options }, context);
    const { change, dryRun } = outcome;
    context.io.result({ ...change, dry_run: dryRun, gateway: facts.root }, () =>
      changeText(outcome, tool, facts.root),
    );
    noteEnvironment(outcome, tool, context);
    return 0;
  },
};
