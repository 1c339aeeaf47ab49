import type { IncomingHttpHeaders } from 'node:http';
import { authenticate, presentedKeys } from '../access/authenticate.ts';
import type { Route } from '../combos/routing/resolve.ts';
import { keyless } from '../ledger/names.ts';
import { isBuiltIn } from '../providers/provider.ts';
import type { Snapshot } from '../snapshot.ts';
import type { MeasuredConnection } from '../telemetry/metrics/account-metrics.ts';

/** What the parts of the gateway look up in a snapshot. */

/** A connection in use, as it is named to people; null for none. */
export function connectionIn({ routes }: Snapshot, id: string): { name: string; provider: string } | null {
  const route = routes.byName.get(id);
  return route === undefined ? null : { name: route.connection.name, provider: route.provider.id };
}

/** How many connections are in use, beside the demo. */
export function connectionCount({ routes }: Snapshot): number {
  return routes.ordered.filter(({ provider }) => !isBuiltIn(provider)).length;
}

/** The connections in use as figures name them. */
export function measuredConnections({ routes }: Snapshot): MeasuredConnection[] {
  return routes.ordered.map(measuredConnection);
}

function measuredConnection({ connection, provider }: Route): MeasuredConnection {
  return { id: connection.id, name: connection.name, provider: provider.id };
}

/** Where the upstream of a connection is; null for none, and for the demo. */
export function upstreamAddress({ routes }: Snapshot, id: string): { address: string; port: number } | null {
  const route = routes.byName.get(id);
  const base = route?.connection.baseUrl ?? route?.provider.baseUrl ?? null;
  if (base === null || !URL.canParse(base)) return null;
  const { hostname: address, port, protocol } = new URL(base);
  return { address, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
}

/** The first valid gateway key that a request carries; null for none. @param now milliseconds since the epoch */
export function keyIn(
  headers: IncomingHttpHeaders,
  { keys }: Snapshot,
  now: number,
): { id: string; text: string } | null {
  for (const text of presentedKeys(headers)) {
    const principal = authenticate(keys.byHash, [text], now);
    if (principal !== null) return { id: principal.keyId, text };
  }
  return null;
}

/** What a key is called; who asks without one is named by the id. */
export function nameOfKey({ keys }: Snapshot, id: string | null): string | null {
  const name = id === null ? null : keys.byId.get(id)?.name;
  return name ?? keyless.find((one) => one === id) ?? null;
}
