import { rowOfAlert } from '../../../alerts/row.ts';
import { filterOf } from '../../../alerts/selection.ts';
import type { Command } from '../../command.ts';
import { alertNamed } from '../../resources/alerts.ts';

export const alertsShowCommand: Command = {
  arguments: [{ name: 'alert', summary: 'name or id of the alert', required: true }],
  flags: [],
  needs: 'store',
  examples: [{ command: 'gateway alerts show slack', does: 'what it tells of, and to whom' }],
  run: async (options, context) => {
    const alert = await alertNamed(options.argument('alert') ?? '', context);
    const row = { ...rowOfAlert(alert), cesql: filterOf(alert) };
    context.io.result(row, () =>
      Object.entries(row)
        .map(
          ([field, value]) =>
            `${field}: ${Array.isArray(value) ? value.join(', ') : String(value ?? 'none')}`,
        )
        .join('\n'),
    );
    return 0;
  },
};
