import type { Command } from '../../command.ts';
import { type Variable, variables } from '../../variables.ts';

interface VariableRow extends Pick<Variable, 'name' | 'summary'> {
  set: boolean;
  /** Null when it is not set, or a secret. */
  value: string | null;
}

export const envShowCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  about:
    'Shows the variables that a gateway started from this shell would get. `gateway config show` has the resulting settings; a running gateway has the variables of the shell that started it.',
  examples: [
    { command: 'gateway env show --json', does: '{"variables":[{"name","set","value","summary"}]}' },
  ],
  run: async (_, context) => {
    const shown: VariableRow[] = [];
    for (const { name, secret, summary } of variables) {
      const value = await context.variable(name);
      shown.push({ name, set: value !== undefined, value: secret ? null : (value ?? null), summary });
    }
    context.io.result({ variables: shown }, () =>
      context.io.table<VariableRow>(
        [
          { title: 'VARIABLE', cell: ({ name }) => name },
          { title: 'VALUE', cell: ({ set, value }) => value ?? (set ? '(set)' : '-') },
          { title: 'MEANING', cell: ({ summary }) => summary, style: () => 'dim' },
        ],
        shown,
      ),
    );
    return 0;
  },
};
