import { changeAgent } from '../../../agents/registry/change.ts';
import { toolKinds } from '../../../agents/schema.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { agentArgument, agentRow, agentsIn, toolKindsIn } from '../../resources/agents.ts';

export const agentsPermissionsCommand: Command = {
  arguments: [
    agentArgument,
    {
      name: 'kinds',
      summary: `what it may do, with commas between: ${toolKinds.join(', ')}; or none`,
      required: false,
    },
  ],
  flags: [],
  needs: 'store',
  about:
    'An agent asks before it uses a tool, and the gateway answers for you: the kinds listed here are always allowed, everything else is refused. Without a list the command shows what is allowed. The tools run as your user and reach what you reach: `execute` lets a model run any command.',
  examples: [
    { command: 'gateway agents permissions opencode read,search', does: 'it may look at files' },
    { command: 'gateway agents permissions opencode none', does: 'it may answer, and nothing else' },
  ],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    const list = options.argument('kinds');
    if (list !== undefined) {
      const permissions = toolKindsIn(list);
      const agents = await agentsIn(context);
      await audited(context, { action: 'acp_agents.edit', target: id, input: { permissions } }, () =>
        changeAgent(agents, id, { permissions }),
      );
      await context.settle();
    }
    const { name, permissions } = await agentRow(id, context);
    const may =
      permissions.length === 0
        ? 'use no tool that it asks about'
        : `use tools that ${permissions.join(', ')}`;
    context.io.result({ id, permissions }, () => `${name} may ${may}.`);
    return 0;
  },
};
