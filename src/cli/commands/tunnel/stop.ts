import type { Command } from '../../command.ts';
import { requestTunnels, tunnelIds } from '../../resources/tunnels.ts';

export const tunnelStopCommand: Command = {
  arguments: [{ name: 'kind', summary: 'which tunnel', required: true, choices: tunnelIds }],
  flags: [{ name: 'remove', summary: 'forget it as well' }],
  needs: 'server',
  examples: [{ command: 'gateway tunnel stop cloudflared', does: 'its address leads nowhere any more' }],
  run: async (options, context) => {
    const kind = options.argument('kind') ?? '';
    const gateway = await context.gateway();
    const removed = options.on('remove');
    await requestTunnels(gateway, `/${kind}`, { action: removed ? 'delete' : 'stop' });
    context.io.result({ id: kind, stopped: true, removed }, () =>
      removed ? `The tunnel ${kind} is stopped and forgotten.` : `The tunnel ${kind} is stopped.`,
    );
    return 0;
  },
};
