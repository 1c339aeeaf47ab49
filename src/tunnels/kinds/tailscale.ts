import type { TunnelKind } from '../kind.ts';

const address = /^(https:\/\/[a-z0-9.-]{1,253}(?::\d{1,5})?)\/?$/i;

/**
 * Tailscale Funnel in the foreground: it is on as long as the program runs. What it prints: `messageForPort` and
 * `enableFeatureInteractive` of cmd/tailscale/cli.
 */
export const tailscale: TunnelKind = {
  id: 'tailscale',
  name: 'Tailscale Funnel',
  programs: ['tailscale'],
  takesDomain: false,
  usesHome: true,
  variables: [],
  args: ({ url }) => ['funnel', url],
  reader() {
    let available = false;
    let reported = false;
    return (text) => {
      const line = text.trim();
      if (line === 'Available on the internet:') available = true;
      if (line === 'Available within your tailnet:')
        return { kind: 'problem', message: 'tailscale serves it within the tailnet only: Funnel is not on' };
      const url = address.exec(line)?.[1];
      if (url !== undefined && available) return { kind: 'url', url };
      // A question whose answer is a page to visit.
      if (/not enabled on your tailnet|to enable, visit/i.test(line)) reported = true;
      if (reported && line.startsWith('https://login.tailscale.com/'))
        return {
          kind: 'problem',
          message: `Funnel is not enabled for this tailnet: visit ${line.slice(0, 200)}`,
        };
      if (/access denied/i.test(line))
        return {
          kind: 'problem',
          message: 'tailscale denies access: run `sudo tailscale set --operator=$USER` once',
        };
      if (/logged out|needslogin|not logged in/i.test(line))
        return { kind: 'problem', message: 'tailscale is not logged in: run `tailscale up`' };
      if (/failed to connect to local tailscaled|tailscaled running/i.test(line))
        return { kind: 'problem', message: 'tailscaled does not run on this machine' };
      return /^error: /i.test(line) ? { kind: 'problem', message: `tailscale: ${line.slice(0, 300)}` } : null;
    };
  },
};
