import { validateConnection } from '../../../connections/testing/test-connection.ts';
import { findProvider } from '../../../providers/index.ts';
import type { Command } from '../../command.ts';
import { connectionRecords, connections } from '../../setup/connect.ts';

export const providersValidateCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  about: 'Sends nothing. Exit 1 when a connection has an issue; warnings do not count.',
  examples: [
    {
      command: 'gateway providers validate --json',
      does: '{"results":[{"connection","valid","issues","warnings"}]}',
    },
  ],
  run: async (_, context) => {
    const any = (await connectionRecords(context)).length > 0;
    const open = any ? await (await connections(context)).listOpen() : [];
    const results = open.map((connection) => {
      const { id, provider: providerId, name } = connection;
      const provider = findProvider(providerId);
      const result =
        provider === undefined
          ? {
              valid: false,
              issues: [`The provider "${providerId}" is not known to this version`],
              warnings: [],
            }
          : validateConnection(connection, provider);
      return { connection: { id, provider: providerId, name }, ...result };
    });
    context.io.result({ results }, () => {
      if (results.length === 0) return 'No connections to validate.';
      return results
        .flatMap(({ connection, valid, issues, warnings }) => [
          `${connection.name}: ${valid ? 'ok' : 'not usable'}`,
          ...issues.map((issue) => `  issue: ${issue}`),
          ...warnings.map((warning) => `  warning: ${warning}`),
        ])
        .join('\n');
    });
    return results.every(({ valid }) => valid) ? 0 : 1;
  },
};
