import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../../command.ts';
import type { RunningGateway } from '../../gateway/client.ts';
import { requestTunnels, type TunnelRow, tunnelIds, tunnelOf } from '../../resources/tunnels.ts';
import { failure } from '../../terminal/failure.ts';

/** How long the service may take to give an address. */
const PATIENCE_MS = 60_000;
const POLL_MS = 250;

export const tunnelCreateCommand: Command = {
  arguments: [{ name: 'kind', summary: 'kind of tunnel', required: true, choices: tunnelIds }],
  flags: [{ name: 'domain', value: 'NAME', summary: 'a name that is reserved for it at ngrok' }],
  needs: 'server',
  about:
    'Starts the program of that name on the machine of the gateway, keeps it running, and prints the public address. Needs an admin password and gateway keys. The tunnel comes back when the gateway is started again.',
  examples: [
    { command: 'gateway tunnel create cloudflared', does: 'https://SOME-WORDS.trycloudflare.com' },
    { command: 'gateway tunnel create ngrok --domain gateway.ngrok.app', does: 'an address that stays' },
  ],
  run: async (options, context) => {
    const kind = options.argument('kind') ?? '';
    const gateway = await context.gateway();
    await requestTunnels(gateway, '', { action: 'create', kind, domain: options.text('domain') });
    const row = await opened(gateway, kind);
    context.io.result(row, () => `${row.url}`);
    context.io.note(`Tools use ${row.url} or ${row.url}/v1 with a gateway key.`);
    return 0;
  },
};

/** Waits for the public address. @throws a failure with what the program says when there is none */
async function opened(gateway: RunningGateway, kind: string): Promise<TunnelRow> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const row = await tunnelOf(gateway, kind);
    if (row.state === 'running') return row;
    if (row.state === 'waiting' || row.state === 'stopped' || Date.now() > deadline)
      throw failure(
        1,
        'tunnel_failed',
        `${row.last_error?.message ?? `${row.name} gave no address within a minute`}. The gateway keeps trying: \`gateway tunnel list\` shows it, \`gateway tunnel stop ${kind}\` ends it`,
      );
    await delay(POLL_MS);
  }
}
