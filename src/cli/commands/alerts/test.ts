import { hostname } from 'node:os';
import { testAlert } from '../../../alerts/test-alert.ts';
import { instanceName } from '../../../events/types/own-event.ts';
import type { Command } from '../../command.ts';
import { alertNamed } from '../../resources/alerts.ts';

export const alertsTestCommand: Command = {
  arguments: [{ name: 'alert', summary: 'name or id of the alert', required: true }],
  flags: [],
  needs: 'store',
  about: 'Sends a message now, and prints what the receiver answered. Exit 1 when it did not take it.',
  examples: [{ command: 'gateway alerts test slack', does: 'ok, or what is wrong' }],
  run: async (options, context) => {
    const { io, now, variable } = context;
    const alert = await alertNamed(options.argument('alert') ?? '', context);
    const { dataDir, privateEventTargets, smtp } = await context.config();
    const { answer, sent } = await testAlert(alert, {
      dataDir,
      smtp,
      now,
      privateNetworks: privateEventTargets,
      listening: () => null,
      path: await variable('PATH'),
      instance: instanceName(hostname()),
    });
    io.result({ alert: alert.name, sent, answer }, () => `${sent ? 'Sent' : 'Not sent'}: ${answer}`);
    return sent ? 0 : 1;
  },
};
