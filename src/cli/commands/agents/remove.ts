import { removeAgent } from '../../../agents/registry/change.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { agentsIn } from '../../resources/agents.ts';

export const agentsRemoveCommand: Command = {
  arguments: [{ name: 'agent', summary: 'id of an agent that was added', required: true }],
  flags: [],
  needs: 'store',
  about: 'Agents of the catalogue cannot be removed: `gateway agents disable` turns them off.',
  examples: [{ command: 'gateway agents remove mine', does: 'acp/mine is gone' }],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    const agents = await agentsIn(context);
    await audited(context, { action: 'acp_agents.delete', target: id }, () => removeAgent(agents, id));
    await context.settle();
    context.io.result({ id, removed: true }, () => `The agent ${id} is removed.`);
    return 0;
  },
};
