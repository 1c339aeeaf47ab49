import type { Client } from '../../http/client/client.ts';
import type { Listening } from '../../http/outbound/outbound.ts';
import { Pool } from '../../http/outbound/undici.ts';
import { createConnector } from './connector.ts';
import { KEEP_ALIVE_MS, MAX_HEAD_BYTES, type PoolKind } from './pool-limits.ts';

/** undici keeps no connection with a pipelining of 0. */
const PIPELINING: Readonly<Record<PoolKind, number>> = { reused: 1, fresh: 0 };

/** Pools of undici's, for `upstream.http_client: "undici"`. */
export function undiciPools(
  connectMs: number,
  listening: Listening,
): (origin: string, kind: PoolKind) => Client {
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
