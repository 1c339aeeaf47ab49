import { GatewayError } from '../../../lib/error.ts';
import type { Command } from '../../command.ts';
import { usageError } from '../../terminal/failure.ts';
import { variableNamed, variables } from '../../variables.ts';

export const envSetCommand: Command = {
  arguments: [
    {
      name: 'name',
      summary: 'the variable',
      required: true,
      choices: variables.map(({ name }) => name),
    },
    { name: 'value', summary: 'its value; an empty value removes it', required: true },
  ],
  flags: [],
  needs: 'nothing',
  about:
    'A program cannot change the shell that runs it, so this checks the value and prints a line for `eval`. To keep a value, put it into config.json or into the service.',
  examples: [
    {
      command: 'eval "$(gateway env set GATEWAY_LOG_LEVEL debug)" && gateway serve',
      does: 'a gateway that says more, until this shell ends',
    },
  ],
  run: async (options, context) => {
    const { name, secret } = variableNamed(options.argument('name') ?? '');
    const value = options.argument('value') ?? '';
    if (secret)
      throw usageError(
        `${name} is a secret, and other users can see arguments: export it in your shell instead`,
      );
    const { loadConfig } = await import('../../../config.ts');
    try {
      loadConfig({ env: { HOME: (await context.environment())['HOME'], [name]: value }, file: {} });
    } catch (error) {
      throw error instanceof GatewayError ? usageError(error.message) : error;
    }
    const line = value === '' ? `unset ${name}` : `export ${name}='${value.replaceAll("'", "'\\''")}'`;
    context.io.result({ name, value: value === '' ? null : value, line }, () => line);
    return 0;
  },
};
