import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { alertNamed, alertsIn } from '../../resources/alerts.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';

export const alertsRemoveCommand: Command = {
  arguments: [{ name: 'alert', summary: 'name or id of the alert', required: true }],
  flags: [{ name: 'yes', short: 'y', summary: 'do not ask' }],
  needs: 'store',
  examples: [{ command: 'gateway alerts remove slack --yes', does: 'no more events are sent there' }],
  run: async (options, context) => {
    const { id, name } = await alertNamed(options.argument('alert') ?? '', context);
    await confirmDestruction(`Remove the alert "${name}"?`, options, context.io);
    const alerts = await alertsIn(context);
    const entry = { action: 'alerts.delete', target: id, before: { name } };
    await audited(context, entry, () => alerts.remove(id));
    await context.settle();
    context.io.result({ removed: true, id, name }, () => `Removed the alert "${name}".`);
    return 0;
  },
};
