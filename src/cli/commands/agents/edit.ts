import { changeAgent } from '../../../agents/registry/change.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { agentArgument, agentFlags, agentRow, agentsIn, settingsFromFlags } from '../../resources/agents.ts';
import { usageError } from '../../terminal/failure.ts';

export const agentsEditCommand: Command = {
  arguments: [agentArgument],
  flags: agentFlags,
  needs: 'store',
  about: 'Its running processes end, and start again with the next request.',
  examples: [
    { command: 'gateway agents edit codex --own-login', does: 'back to the login of its user' },
    {
      command: 'gateway agents edit claude --working-directory /srv/project',
      does: 'all its sessions work there',
    },
  ],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    const settings = settingsFromFlags(options);
    if (Object.keys(settings).length === 0)
      throw usageError('Say what is to be changed: --model, --through-gateway …');
    const agents = await agentsIn(context);
    await audited(context, { action: 'acp_agents.edit', target: id, input: { ...settings } }, () =>
      changeAgent(agents, id, settings),
    );
    await context.settle();
    const row = await agentRow(id, context);
    context.io.result(row, () => `Changed ${row.name}: ${Object.keys(settings).join(', ')}.`);
    return 0;
  },
};
