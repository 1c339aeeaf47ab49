import type { Limits } from '../budgets/limits.ts';
import type { KeyLimit } from '../budgets/used-key-limits.ts';
import type { AnswerCache } from '../cache/answers.ts';
import type { Routing } from '../combos/routing/routing.ts';
import type { Target } from '../combos/target.ts';
import type { Config } from '../config.ts';
import type { Accounts } from '../health/accounts.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { KeyUsage, KeyUsageGroup, KeyUsageQuery } from '../ledger/key-usage.ts';
import type { ResponsePlaces } from '../responses/places.ts';
import type { ResponseMemory } from '../responses/stored.ts';
import type { Snapshot } from '../snapshot.ts';
import type { RunContext } from './dispatch/run.ts';
import type { LateUseContext } from './metering/late-use.ts';

/** What the data plane is given: what each of its rooms needs, together. */
export interface ProxyContext extends LateUseContext, RunContext {
  config: Config;
  snapshot(): Snapshot;
  routing: Routing;
  accounts: Accounts;
  limits: Pick<Limits, 'reservationFor' | 'isPriced' | 'countMore'>;
  answers: AnswerCache;
  /** What a key has used since a time, in milliseconds since the epoch, and what is left of its limits. */
  usageOf(keyId: string, since: number): Promise<KeyUsage & { limits: readonly KeyLimit[] }>;
  /** The same by groupings, e.g. by day and tag, from `since` until `before`. */
  usageBy(keyId: string, query: KeyUsageQuery): Promise<readonly KeyUsageGroup[]>;
  /**
   * Lets a model request in, and counts it until its answer is closed.
   * @throws GatewayError `data_plane_stopped` while the model endpoints are stopped
   */
  gate(exchange: Pick<AnyExchange, 'response'>): void;
  responses: ResponseMemory;
  places: ResponsePlaces;
  /** Where several processes serve requests: what only another one can serve. Null in the one that serves all. */
  handover: Handover | null;
}

/** Requests that another process of this gateway serves. */
export interface Handover {
  /** Whether a request with these targets is one of them. */
  takes(targets: readonly Target[]): boolean;
  /** Has it served there. @throws GatewayError `shutting_down` */
  pass(exchange: AnyExchange, body: readonly Buffer[]): Promise<void>;
}
