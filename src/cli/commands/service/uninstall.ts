import { rm } from 'node:fs/promises';
import type { Command } from '../../command.ts';
import { systemdOf, UNIT, unitState } from '../../service/systemd.ts';

export const serviceUninstallCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  about: 'Stops the gateway; open requests may finish. The data directory stays as it is.',
  examples: [{ command: 'gateway service uninstall', does: 'the unit is gone' }],
  run: async (_, context) => {
    const { io } = context;
    const systemd = await systemdOf(context);
    const { installed } = await unitState(systemd);
    if (installed) await systemd.ctl('disable', '--now', UNIT);
    await rm(systemd.unitPath, { force: true });
    await systemd.ctl('daemon-reload');
    io.result({ uninstalled: installed, path: systemd.unitPath }, () =>
      installed ? `Removed ${systemd.unitPath}.` : 'No service is installed.',
    );
    return 0;
  },
};
