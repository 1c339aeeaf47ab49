import type { TunnelKind } from '../kind.ts';

/** A host of TryCloudflare in the frame that cloudflared prints around it (cmd/cloudflared/tunnel/quick_tunnel.go). */
const framedUrl = /\|\s{1,9}(https:\/\/[a-z0-9-]{1,100}\.trycloudflare\.com)\s/;
const errorLine = /(?:^|\s)ERR (.{1,300})/;

/**
 * A quick tunnel: no account, another address at each start. cloudflared takes no quick tunnels where it finds a
 * configuration in the home folder, so it is not shown one.
 */
export const cloudflared: TunnelKind = {
  id: 'cloudflared',
  name: 'Cloudflare quick tunnel',
  programs: ['cloudflared'],
  takesDomain: false,
  usesHome: false,
  variables: [],
  args: ({ url }) => ['tunnel', '--no-autoupdate', '--url', url],
  reader: () => (line) => {
    const url = framedUrl.exec(`${line} `)?.[1];
    if (url !== undefined) return { kind: 'url', url };
    if (line.includes('Registered tunnel connection')) return { kind: 'connected', connected: true };
    // It has one connection only (`ha-connections` is 1 for quick tunnels), and makes it anew by itself.
    if (line.includes('Unregistered tunnel connection') || line.includes('Connection terminated'))
      return { kind: 'connected', connected: false };
    const error = errorLine.exec(line)?.[1];
    return error === undefined ? null : { kind: 'problem', message: `cloudflared: ${error}` };
  },
};
