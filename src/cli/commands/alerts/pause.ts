import { rowOfAlert } from '../../../alerts/row.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { alertNamed, alertsIn } from '../../resources/alerts.ts';

export const alertsPauseCommand: Command = {
  arguments: [{ name: 'alert', summary: 'name or id of the alert', required: true }],
  flags: [{ name: 'resume', summary: 'resume: send alerts again from now on' }],
  needs: 'store',
  about: 'Nothing is sent while an alert is paused, and events of that time are not sent later.',
  examples: [
    { command: 'gateway alerts pause slack', does: 'silence' },
    { command: 'gateway alerts pause slack --resume', does: 'the end of it' },
  ],
  run: async (options, context) => {
    const paused = !options.on('resume');
    const { id, name } = await alertNamed(options.argument('alert') ?? '', context);
    const alerts = await alertsIn(context);
    const entry = { action: paused ? 'alerts.pause' : 'alerts.resume', target: id };
    await audited(context, entry, () => alerts.update(id, { paused }));
    await context.settle();
    const alert = await alertNamed(id, context);
    context.io.result(
      rowOfAlert(alert),
      () => `The alert "${name}" ${paused ? 'is paused' : 'sends again'}.`,
    );
    return 0;
  },
};
