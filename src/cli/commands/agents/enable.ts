import { changeAgent } from '../../../agents/registry/change.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { agentArgument, agentFlags, agentRow, agentsIn, settingsFromFlags } from '../../resources/agents.ts';

export const agentsEnableCommand: Command = {
  arguments: [agentArgument],
  flags: agentFlags,
  needs: 'store',
  about:
    'From then on model requests for acp/ID start its program on this machine, as your user. It may do nothing that needs permission until `gateway agents permissions` allows it. A running gateway applies it at once.',
  examples: [
    {
      command: 'gateway agents enable opencode',
      does: 'acp/opencode answers, with your own login of OpenCode',
    },
    {
      command: 'gateway agents enable claude --through-gateway --model auto',
      does: 'Claude Code uses the active combo of this gateway',
    },
  ],
  run: async (options, context) => {
    const id = options.argument('agent') ?? '';
    const settings = settingsFromFlags(options);
    const agents = await agentsIn(context);
    const entry = { action: 'acp_agents.enable', target: id, input: { ...settings } };
    await audited(context, entry, () => changeAgent(agents, id, { ...settings, enabled: true }));
    await context.settle();
    const row = await agentRow(id, context);
    context.io.result(row, () =>
      row.problem === null
        ? `${row.name} answers as the model ${row.model_id}. Try it with \`gateway agents test ${id}\`.`
        : `${row.name} is enabled. ${row.problem}`,
    );
    return 0;
  },
};
