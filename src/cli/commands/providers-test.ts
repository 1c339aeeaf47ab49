import type { Command } from '../command.ts';
import { connectionRecords, connections, testDocument, testLine, testStored } from '../setup/connect.ts';
import { failure } from '../terminal/failure.ts';

export const providersTestCommand: Command = {
  arguments: [{ name: 'connection', summary: 'id or name of the connection', required: true }],
  flags: [],
  needs: 'store',
  about: 'Asks the provider itself, and stores the outcome. Exit 1 when the test fails.',
  examples: [{ command: 'gateway providers test openai --json', does: '{"connection","valid","error",…}' }],
  run: async (options, context) => {
    const selector = options.argument('connection') ?? '';
    const any = (await connectionRecords(context)).length > 0;
    const record = any ? await (await connections(context)).find(selector) : null;
    if (record === null) {
      throw failure(
        1,
        'not_found',
        `There is no connection "${selector}": \`gateway providers list\` shows what there is`,
      );
    }
    const result = await testStored(record, context);
    context.io.result(testDocument(record, result), () => testLine(record, result));
    return result.valid ? 0 : 1;
  },
};
