import type { Command } from '../../command.ts';
import { systemdOf, unitState } from '../../service/systemd.ts';

export const serviceStatusCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  about: 'Exit 0 whether or not it runs; see `active` in the JSON document.',
  examples: [
    { command: 'gateway service status --json', does: '{"path","installed","active","enabled","pid"}' },
  ],
  run: async (_, context) => {
    const systemd = await systemdOf(context);
    const state = await unitState(systemd);
    context.io.result({ path: systemd.unitPath, ...state }, () => {
      if (!state.installed) return 'No service is installed: `gateway service install`';
      const pid = state.pid === null ? '' : `, pid ${state.pid}`;
      return `${systemd.unitPath}: ${state.active}${pid}, ${state.enabled}`;
    });
    return 0;
  },
};
