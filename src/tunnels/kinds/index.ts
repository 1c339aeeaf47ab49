import type { TunnelKind } from '../kind.ts';
import { cloudflared } from './cloudflared.ts';
import { ngrok } from './ngrok.ts';
import { tailscale } from './tailscale.ts';

export const tunnelKinds: readonly TunnelKind[] = [cloudflared, tailscale, ngrok];
