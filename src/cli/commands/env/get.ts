import type { Command } from '../../command.ts';
import { failure } from '../../terminal/failure.ts';
import { variableNamed, variables } from '../../variables.ts';

export const envGetCommand: Command = {
  arguments: [
    {
      name: 'name',
      summary: 'the variable',
      required: true,
      choices: variables.map(({ name }) => name),
    },
  ],
  flags: [],
  needs: 'nothing',
  about: 'Exit 1 when it is not set. A secret is not printed.',
  examples: [{ command: 'gateway env get GATEWAY_PORT', does: 'the value in this shell' }],
  run: async (options, context) => {
    const { name, secret } = variableNamed(options.argument('name') ?? '');
    const value = await context.variable(name);
    if (value === undefined) throw failure(1, 'not_found', `${name} is not set in this shell.`);
    context.io.result({ name, set: true, value: secret ? null : value }, () =>
      secret ? '(set; its value is a secret)' : value,
    );
    return 0;
  },
};
