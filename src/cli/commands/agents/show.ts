import type { Command } from '../../command.ts';
import { agentArgument, agentRow } from '../../resources/agents.ts';

export const agentsShowCommand: Command = {
  arguments: [agentArgument],
  flags: [],
  needs: 'nothing',
  examples: [{ command: 'gateway agents show opencode --json', does: 'all that is known of it' }],
  run: async (options, context) => {
    const row = await agentRow(options.argument('agent') ?? '', context, { probe: true });
    context.io.result(row, () => {
      const { evidence, last_error, processes } = row;
      const facts: readonly (readonly [string, string | null])[] = [
        ['agent', `${row.name} (${row.id})`],
        ['', row.description],
        ['model', row.model_id],
        ['state', row.usable ? 'ready' : (row.problem ?? '')],
        ['version', row.version],
        ['program', row.program],
        ['command', row.command.join(' ')],
        ['account', row.through_gateway ? `this gateway, model ${row.model}` : 'its own login and settings'],
        ['told model', row.through_gateway ? null : (row.model ?? 'none: its own choice')],
        ['may', row.permissions.join(', ') || 'nothing without a person who is asked'],
        ['sessions in', row.working_directory ?? 'a new folder each'],
        ['processes', `at most ${row.max_processes}${processes === undefined ? '' : `, ${processes} now`}`],
        ['environment', row.env.join(', ') || null],
        ['last error', last_error == null ? null : `${last_error.message} (${last_error.at})`],
        ['install', row.install],
        ['documentation', row.docs],
        [
          'seen with',
          evidence === null ? null : `${evidence.package}, ${seen[evidence.by]} ${evidence.date}`,
        ],
      ];
      return facts
        .flatMap(([title, value]) => (value === null ? [] : [`${title.padEnd(14)} ${value}`]))
        .join('\n');
    });
    return 0;
  },
};

const seen = { run: 'run', read: 'read about' } as const;
