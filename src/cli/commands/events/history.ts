import { z } from 'zod';
import type { Command } from '../../command.ts';
import { configVersionRow } from '../../events/events-answers.ts';
import { requestEvents } from '../../events/events-api.ts';
import { localTime, printable } from '../../terminal/text.ts';

const list = z.object({ resources: z.array(configVersionRow) });

export const eventsHistoryCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'server',
  about: 'Newest first, at most 100.',
  examples: [
    { command: 'gateway events history --json', does: '{"versions":[{"version","author","via",…}]}' },
  ],
  run: async (_, context) => {
    const { io } = context;
    const { body } = await requestEvents(context, '/config/versions', { method: 'GET' });
    const { resources: versions } = list.parse(body);
    if (versions.length === 0) io.note('No configuration was put into force yet: the built-in one runs.');
    io.result({ versions }, () =>
      io.table<z.output<typeof configVersionRow>>(
        [
          { title: 'VERSION', cell: ({ in_force, version }) => `${version}${in_force ? ' *' : ''}` },
          { title: 'TIME', cell: ({ created_at }) => localTime(Date.parse(created_at)) },
          { title: 'WHO', cell: ({ author }) => printable(author) },
          { title: 'HOW', cell: ({ via }) => via },
        ],
        versions,
      ),
    );
    return 0;
  },
};
