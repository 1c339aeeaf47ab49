import type { Command } from '../../command.ts';
import { agentArgument, agentRow } from '../../resources/agents.ts';

export const agentsLogsCommand: Command = {
  arguments: [agentArgument],
  flags: [],
  needs: 'server',
  about: 'Prints the last lines of its processes, without secrets. Its answers are in `gateway logs`.',
  examples: [{ command: 'gateway agents logs codex', does: 'why it does not start' }],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    await context.gateway();
    const { last_error = null, output = [] } = await agentRow(id, context);
    context.io.result({ id, last_error, output }, () => {
      const lines = output.length === 0 ? ['It printed nothing.'] : output;
      return [...lines, ...(last_error === null ? [] : [`Last error: ${last_error.message}`])].join('\n');
    });
    return 0;
  },
};
