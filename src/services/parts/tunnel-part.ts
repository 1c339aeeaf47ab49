import { type CreatedTunnel, kindOf, type Tunnels } from '../../tunnels/tunnels.ts';
import { iso, type Part, type PartStatus, type Probe } from '../part.ts';
import type { Check, Endpoint } from '../schema.ts';

export interface TunnelPartInput {
  tunnel: CreatedTunnel;
  tunnels: Pick<Tunnels, 'start' | 'stop'>;
  /** The status of a GET, asked from this machine through the internet. @throws when nothing answers */
  probe(url: string): Promise<number>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** A way to reach the gateway from the internet. */
export function tunnelPart({ now, probe, tunnel, tunnels }: TunnelPartInput): Part {
  const { name } = kindOf(tunnel.id);
  return {
    key: `tunnel-${tunnel.id}`,
    id: `tunnel-${tunnel.id}`,
    name,
    kind: 'tunnel',
    critical: false,
    description: `Makes the gateway reachable from the internet through ${name}.`,
    dependsOn: ['management', 'data-plane'],
    version: null,
    domain: 'tunnels',
    status: () => statusOf(tunnel),
    checks: () => [reachable(tunnel, now())],
    endpoints: () => (tunnel.url === null ? [] : [endpointOf(tunnel.url)]),
    lifeCycle: {
      confirm: false,
      restarts: true,
      openRequests: () => null,
      start: () => tunnels.start(tunnel.id),
      async stop() {
        await tunnels.stop(tunnel.id);
        return { interrupted: 0 };
      },
    },
    probe: () => probed(tunnel, probe),
  };
}

function statusOf(tunnel: CreatedTunnel): PartStatus {
  const { changedAt, desired, error, startedAt } = tunnel;
  const base = {
    desired,
    changedAt,
    startedAt,
    error: error === null ? null : { code: 'tunnel_failed', ...error },
  };
  switch (tunnel.state) {
    case 'running':
      return { ...base, state: 'running', reason: null };
    case 'starting': {
      const message = error?.message ?? 'It is not connected yet';
      return { ...base, state: 'degraded', reason: { code: 'starting', message } };
    }
    case 'waiting': {
      const message = error?.message ?? 'Its program ended';
      return { ...base, state: 'failed', reason: { code: 'tunnel_failed', message } };
    }
    case 'stopped':
      return {
        ...base,
        state: 'stopped',
        reason: { code: 'stopped_by_operator', message: 'Stopped through the management API' },
      };
  }
}

function reachable({ state, url }: CreatedTunnel, now: number): Check {
  const status = { running: 'pass', starting: 'warn', waiting: 'fail', stopped: 'warn' } as const;
  return {
    name: 'connected',
    status: status[state],
    observed_at: iso(now),
    output: url === null ? `${state}, without an address` : `${state} at ${url}`,
  };
}

function endpointOf(url: string): Endpoint {
  const { hostname: host, port } = new URL(url);
  return {
    protocol: 'http',
    host,
    port: port === '' ? 443 : Number(port),
    path: '/',
    visibility: 'public',
    tls: true,
  };
}

/** Asks the gateway whether it answers under its public address. */
async function probed({ url }: CreatedTunnel, probe: TunnelPartInput['probe']): Promise<Probe> {
  if (url === null) return { valid: false, message: 'The tunnel has no address yet', result: { url } };
  const status = await probe(`${url}/healthz`).catch((error: Error) => error.message);
  const valid = status === 200;
  const message = valid
    ? `The gateway answers at ${url}`
    : `The gateway does not answer at ${url}: ${typeof status === 'number' ? `HTTP ${status}` : status}`;
  return { valid, message, result: { url, status: typeof status === 'number' ? status : null } };
}
