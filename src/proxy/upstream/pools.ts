import { type Client, createClient } from '../../http/client/client.ts';
import { onread } from '../../http/client/connection.ts';
import { outboundConnector } from '../../http/outbound/connector.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import { Pool } from '../../http/outbound/undici.ts';
import { upstreamUrl } from '../../providers/url.ts';
import type { Upstream } from './attempt.ts';
import { createConnector } from './connector.ts';

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

/** Idle sockets are kept this long; agents pause for seconds between turns, and a TLS handshake costs more. */
const KEEP_ALIVE_MS = 30_000;

/** Most bytes of the head of an answer. */
const MAX_HEAD_BYTES = 131_072;

/** undici keeps no connection with a pipelining of 0. */
const PIPELINING = { kept: 1, fresh: 0 } as const;

type Kind = keyof typeof PIPELINING;

export interface PoolsInput {
  /** How long connecting may take, in milliseconds. */
  connectMs: number;
  listening: Listening;
  /** Who speaks HTTP/1.1 with the providers. */
  client: 'undici' | 'own';
}

/** Two pools per origin, opened at their first use and never closed while the gateway runs. */
export function createPools({ client, connectMs, listening }: PoolsInput): Pools {
  const open = client === 'own' ? ownClients(connectMs, listening) : undiciPools(connectMs, listening);
  const pools = { kept: new Map<string, Client>(), fresh: new Map<string, Client>() };
  /** By base URL, then by path: a request finds its own without building a name for it. */
  const endpoints = new Map<string, Map<string, Endpoint>>();
  const poolOf = (kind: Kind, origin: string): Client => {
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
        upstream: poolOf('kept', url.origin),
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
      await Promise.all([...pools.kept.values(), ...pools.fresh.values()].map((pool) => pool.destroy()));
    },
  };
}

function undiciPools(connectMs: number, listening: Listening): (origin: string, kind: Kind) => Client {
  const connect = createConnector({ timeoutMs: connectMs, listening });
  return (origin, kind) =>
    new Pool(origin, {
      allowH2: false,
      pipelining: PIPELINING[kind],
      keepAliveTimeout: KEEP_ALIVE_MS,
      connect,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEAD_BYTES,
    });
}

function ownClients(connectMs: number, listening: Listening): (origin: string, kind: Kind) => Client {
  const connect = outboundConnector({ timeoutMs: connectMs, listening, onread });
  return (origin, kind) =>
    createClient(origin, {
      connect,
      keepAlive: kind === 'kept',
      keepAliveMs: KEEP_ALIVE_MS,
      maxHeadBytes: MAX_HEAD_BYTES,
    });
}
