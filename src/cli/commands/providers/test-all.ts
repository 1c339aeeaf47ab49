import type { Command } from '../../command.ts';
import { connectionRecords, testDocument, testLine, testStored } from '../../setup/connect.ts';

export const providersTestAllCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  about: 'Inactive connections are skipped. Exit 1 when any test fails.',
  examples: [
    { command: 'gateway providers test-all --json', does: '{"results":[{"connection","valid","error",…}]}' },
  ],
  run: async (_, context) => {
    const records = await connectionRecords(context);
    const results: object[] = [];
    const lines: string[] = [];
    let failed = 0;
    for (const record of records) {
      if (!record.active) {
        const { id, provider, name } = record;
        results.push({ connection: { id, provider, name }, skipped: true, reason: 'inactive' });
        lines.push(`${name}: skipped, it is inactive`);
        continue;
      }
      const result = await testStored(record, context);
      results.push({ ...testDocument(record, result), skipped: false });
      lines.push(testLine(record, result));
      if (!result.valid) failed++;
    }
    context.io.result({ results }, () => (lines.length === 0 ? 'No connections to test.' : lines.join('\n')));
    return failed === 0 ? 0 : 1;
  },
};
