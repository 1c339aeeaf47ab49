import { z } from 'zod';
import { tunnelRow } from '../../../tunnels/schema.ts';
import type { Command } from '../../command.ts';
import { collection } from '../../gateway/api.ts';

export const tunnelListCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'server',
  examples: [
    { command: 'gateway tunnel list --json', does: '{"tunnels":[{"id","installed","state","url",…}]}' },
  ],
  run: async (_, context) => {
    const tunnels = z.array(tunnelRow).parse(await collection(await context.gateway(), 'tunnels'));
    context.io.result({ tunnels }, () =>
      context.io.table(
        [
          { title: 'KIND', cell: ({ id }) => id },
          { title: 'PROGRAM', cell: ({ program }) => program ?? 'not installed' },
          {
            title: 'STATE',
            cell: ({ state }) => (state === 'absent' ? '-' : state),
            style: ({ state }) => (state === 'running' ? 'green' : state === 'waiting' ? 'red' : null),
          },
          { title: 'URL', cell: ({ url }) => url ?? '-' },
          { title: 'PROBLEM', cell: ({ last_error }) => last_error?.message ?? '' },
        ],
        tunnels,
      ),
    );
    return 0;
  },
};
