import type { Config } from '../config.ts';
import type { AnyExchange } from '../http/server.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import type { GatewayError } from '../lib/error.ts';
import type { ResponseMemory } from '../responses/stored.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Pools } from './pools.ts';
import type { RefusedMembers } from './refused-members.ts';
import type { Watch, Watched } from './watch.ts';

/** What the data plane is given. */
export interface ProxyContext {
  config: Config;
  snapshot(): Snapshot;
  pools: Pools;
  watch: Watch<OpenCall>;
  refused: RefusedMembers;
  record(entry: LedgerEntry): void;
  /**
   * Lets a model request in, and counts it until its answer is closed.
   * @throws GatewayError `data_plane_stopped` while the model endpoints are stopped
   */
  gate(exchange: Pick<AnyExchange, 'response'>): void;
  responses: ResponseMemory;
  /** Names this process in `x-gateway-via`. */
  instance: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** One call in flight, as the ticking watch and the shutdown see it. */
export interface OpenCall extends Watched {
  /** Ends the call with the dialect's error because the gateway stops. */
  interrupt(error: GatewayError): void;
}
