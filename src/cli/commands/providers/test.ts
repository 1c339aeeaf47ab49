import type { Command } from '../../command.ts';
import { namedConnection, testDocument, testLine, testStored } from '../../setup/connect.ts';

export const providersTestCommand: Command = {
  arguments: [
    { name: 'connection', names: 'connection', summary: 'id or name of the connection', required: true },
  ],
  flags: [],
  needs: 'store',
  about: 'Asks the provider itself, and stores the outcome. Exit 1 when the test fails.',
  examples: [{ command: 'gateway providers test openai --json', does: '{"connection","valid","error",…}' }],
  run: async (options, context) => {
    const record = await namedConnection(options, context);
    const result = await testStored(record, context);
    context.io.result(testDocument(record, result), () => testLine(record, result));
    return result.valid ? 0 : 1;
  },
};
