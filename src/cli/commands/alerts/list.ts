import { type AlertRow, rowOfAlert } from '../../../alerts/row.ts';
import type { Command } from '../../command.ts';
import { listAlerts } from '../../resources/alerts.ts';

export const alertsListCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  about: 'Secret addresses are masked.',
  examples: [{ command: 'gateway alerts list', does: 'the alerts and their events' }],
  run: async (_, context) => {
    const alerts = (await listAlerts(context)).map(rowOfAlert);
    context.io.result({ alerts }, () => {
      if (alerts.length === 0) return 'No alerts yet: add one with `gateway alerts add`.';
      return context.io.table<AlertRow>(
        [
          { title: 'NAME', cell: ({ name }) => name },
          { title: 'KIND', cell: ({ kind }) => kind },
          { title: 'TARGET', cell: ({ target }) => target },
          { title: 'ON', cell: ({ on }) => on.join(',') },
          {
            title: 'DIGEST',
            cell: ({ digest_seconds: seconds }) => (seconds === 0 ? 'none' : `${seconds} s`),
          },
          {
            title: 'STATE',
            cell: ({ paused }) => (paused ? 'paused' : 'active'),
            style: ({ paused }) => (paused ? 'yellow' : null),
          },
        ],
        alerts,
      );
    });
    return 0;
  },
};
