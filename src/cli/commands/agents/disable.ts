import { changeAgent } from '../../../agents/registry/change.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { agentArgument, agentsIn } from '../../resources/agents.ts';

export const agentsDisableCommand: Command = {
  arguments: [agentArgument],
  flags: [],
  needs: 'store',
  about: 'Its processes end, and the gateway key that was made for it is removed.',
  examples: [{ command: 'gateway agents disable opencode', does: 'acp/opencode is refused' }],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    const agents = await agentsIn(context);
    await audited(context, { action: 'acp_agents.disable', target: id }, () =>
      changeAgent(agents, id, { enabled: false }),
    );
    await context.settle();
    context.io.result({ id, enabled: false }, () => `The agent ${id} is disabled.`);
    return 0;
  },
};
