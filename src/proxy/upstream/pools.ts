import { type Client, createClient } from '../../http/client/client.ts';
import { onread } from '../../http/client/connection.ts';
import { outboundConnector } from '../../http/outbound/connector.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import { upstreamUrl } from '../../providers/url.ts';
import type { Upstream } from './attempt.ts';
import { KEEP_ALIVE_MS, MAX_HEAD_BYTES, type PoolKind } from './pool-limits.ts';

/** Where the requests of one connection and format go, ready for use. */
export interface Endpoint {
  upstream: Upstream;
  /**
   * The same on a socket that never carried a request. A second try needs one: an upstream that restarted has
   * let go of all its kept connections at once.
   */
  fresh(): Upstream;
  origin: string;
  host: string;
  path: string;
}

export interface Pools {
  /**
   * The endpoint for a base URL, the format's path and the provider's paths of all formats (see `upstreamUrl`).
   * @throws GatewayError for a base URL that is none
   */
  endpoint(baseUrl: string, path: string, paths: Readonly<Record<string, string | undefined>>): Endpoint;
  close(): Promise<void>;
}

export interface PoolsInput {
  /** How long connecting may take, in milliseconds. */
  connectMs: number;
  listening: Listening;
  /** Who speaks HTTP/1.1 with the providers. */
  client: 'undici' | 'own';
}

/** Two pools per origin, opened at their first use and never closed while the gateway runs. */
export async function openPools({ client, connectMs, listening }: PoolsInput): Promise<Pools> {
  if (client === 'own') return createPools(ownClients(connectMs, listening));
  // Most gateways have no use for all of undici.
  const { undiciPools } = await import('./undici-pools.ts');
  return createPools(undiciPools(connectMs, listening));
}

function createPools(open: (origin: string, kind: PoolKind) => Client): Pools {
  const pools = { reused: new Map<string, Client>(), fresh: new Map<string, Client>() };
  /** By base URL, then by path: a request finds its own without building a name for it. */
  const endpoints = new Map<string, Map<string, Endpoint>>();
  const poolOf = (kind: PoolKind, origin: string): Client => {
    let pool = pools[kind].get(origin);
    if (pool === undefined) {
      pool = open(origin, kind);
      pools[kind].set(origin, pool);
    }
    return pool;
  };
  return {
    endpoint(baseUrl, path, paths) {
      const existing = endpoints.get(baseUrl)?.get(path);
      if (existing !== undefined) return existing;
      const all = Object.values(paths).filter((one) => one !== undefined);
      const url = new URL(upstreamUrl(baseUrl, path, all));
      const endpoint = {
        upstream: poolOf('reused', url.origin),
        fresh: () => poolOf('fresh', url.origin),
        origin: url.origin,
        host: url.host,
        path: url.pathname + url.search,
      };
      const byPath = endpoints.get(baseUrl) ?? new Map<string, Endpoint>();
      endpoints.set(baseUrl, byPath.set(path, endpoint));
      return endpoint;
    },
    async close() {
      await Promise.all([...pools.reused.values(), ...pools.fresh.values()].map((pool) => pool.destroy()));
    },
  };
}

function ownClients(connectMs: number, listening: Listening): (origin: string, kind: PoolKind) => Client {
  const connect = outboundConnector({ timeoutMs: connectMs, listening, onread });
  return (origin, kind) =>
    createClient(origin, {
      connect,
      keepAlive: kind === 'reused',
      keepAliveMs: KEEP_ALIVE_MS,
      maxHeadBytes: MAX_HEAD_BYTES,
    });
}
