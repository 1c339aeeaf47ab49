import type { Command } from '../../command.ts';
import { type Variable, variables } from '../../variables.ts';

interface Shown extends Pick<Variable, 'name' | 'summary'> {
  set: boolean;
  /** Null when it is not set, or a secret. */
  value: string | null;
}

export const envShowCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  about:
    'What this shell would hand to a gateway that it starts. `gateway config show` has the settings that follow from it; a running gateway was given its own variables when it was started.',
  examples: [
    { command: 'gateway env show --json', does: '{"variables":[{"name","set","value","summary"}]}' },
  ],
  run: async (_, context) => {
    const shown: Shown[] = [];
    for (const { name, secret, summary } of variables) {
      const value = await context.variable(name);
      shown.push({ name, set: value !== undefined, value: secret ? null : (value ?? null), summary });
    }
    context.io.result({ variables: shown }, () =>
      context.io.table<Shown>(
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
