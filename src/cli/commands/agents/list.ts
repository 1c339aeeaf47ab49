import type { Command } from '../../command.ts';
import { agentRows } from '../../resources/agents.ts';

export const agentsListCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'all',
      summary: 'also those that are not installed, and those that cannot be used, with the reason',
    },
  ],
  needs: 'nothing',
  about:
    'An agent that is enabled and installed answers as the model acp/ID. Without a running gateway the programs are asked for their versions, five seconds each at most.',
  examples: [
    { command: 'gateway agents list', does: 'what is installed here, and what is missing' },
    {
      command: 'gateway agents list --all --json',
      does: '{"count","agents":[{"id","usable",…}],"unusable":[…]}',
    },
  ],
  run: async (options, context) => {
    const { unusableAgents } = await import('../../../agents/list.ts');
    const all = options.on('all');
    const rows = (await agentRows(context, { probe: true })).filter(
      (row) => all || row.installed || row.enabled || !row.built_in,
    );
    const unusable = all ? unusableAgents : [];
    const { io } = context;
    io.result({ count: rows.length, agents: rows, ...(all ? { unusable } : {}) }, () => {
      if (rows.length === 0)
        return 'No ACP agent is installed here: `gateway agents list --all` shows which there are, and how they are installed.';
      const table = io.table(
        [
          { title: 'AGENT', cell: ({ id }) => id },
          { title: 'VERSION', cell: ({ version }) => version ?? '-' },
          {
            title: 'STATE',
            cell: ({ enabled, installed }) =>
              installed ? (enabled ? 'enabled' : 'disabled') : 'not installed',
            style: ({ usable }) => (usable ? 'green' : null),
          },
          {
            title: 'ACCOUNT',
            cell: ({ through_gateway }) => (through_gateway ? 'this gateway' : 'its own login'),
          },
          { title: 'MAY', cell: ({ permissions }) => permissions.join(',') || 'nothing' },
          { title: 'PROBLEM', cell: ({ problem }) => problem ?? '' },
        ],
        rows,
      );
      const others = unusable.map(({ id, name, reason }) => `${id}: ${name} cannot be used. ${reason}`);
      return [table, ...(others.length === 0 ? [] : ['', ...others])].join('\n');
    });
    return 0;
  },
};
