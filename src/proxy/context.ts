import type { Principal } from '../access/authenticate.ts';
import type { KeyLimit } from '../budgets/key-limits.ts';
import type { Limits } from '../budgets/limits.ts';
import type { AnswerCache } from '../cache/answers.ts';
import type { FitSchema } from '../codecs/schema/fit.ts';
import type { Routing } from '../combos/routing.ts';
import type { Trace } from '../combos/trace.ts';
import type { Config } from '../config.ts';
import type { AccessTokens } from '../connections/credentials/access-tokens.ts';
import type { Accounts } from '../health/accounts.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { KeyUsage, KeyUsageGroup, KeyUsageQuery } from '../ledger/key-usage.ts';
import type { LateUse } from '../ledger/late-use.ts';
import type { LedgerEntry } from '../ledger/schema.ts';
import type { GatewayError } from '../lib/error.ts';
import type { ResponsePlaces } from '../responses/places.ts';
import type { ResponseMemory } from '../responses/stored.ts';
import type { Snapshot } from '../snapshot.ts';
import type { OutputCaps } from './quirks/output-caps.ts';
import type { RefusedMembers } from './quirks/refused-members.ts';
import type { AgentRequest, AskedAgent } from './upstream/agent.ts';
import type { Pools } from './upstream/pools.ts';
import type { Watch, Watched } from './upstream/watch.ts';

/** What the data plane is given. */
export interface ProxyContext {
  config: Config;
  snapshot(): Snapshot;
  routing: Routing;
  pools: Pools;
  watch: Watch<OpenCall>;
  refused: RefusedMembers;
  outputCaps: OutputCaps;
  /** Fits the schemas of tools, and remembers what it fitted. */
  fitSchema: FitSchema;
  accounts: Accounts;
  tokens: Pick<AccessTokens, 'current' | 'fresh' | 'issued'>;
  limits: Pick<Limits, 'hold' | 'isPriced' | 'countMore'>;
  answers: AnswerCache;
  /**
   * @param trace why the request went where it went; null where it had no target
   * @param origin the request, and who sent it
   */
  record(entry: LedgerEntry, trace: Trace | null, origin: RequestOrigin): void;
  /** What a key has used since a time, in milliseconds since the epoch, and what is left of its limits. */
  usageOf(keyId: string, since: number): Promise<KeyUsage & { limits: readonly KeyLimit[] }>;
  /** The same by groupings, e.g. by day and tag, from `since` until `before`. */
  usageBy(keyId: string, query: KeyUsageQuery): Promise<readonly KeyUsageGroup[]>;
  /** Puts what a recorded request really used in the place of an estimate, once; null where none waits for that. */
  replaceEstimate(id: string, useOf: (entry: LedgerEntry) => LateUse): Promise<LedgerEntry | null>;
  /**
   * Lets a model request in, and counts it until its answer is closed.
   * @throws GatewayError `data_plane_stopped` while the model endpoints are stopped
   */
  gate(exchange: Pick<AnyExchange, 'response'>): void;
  responses: ResponseMemory;
  places: ResponsePlaces;
  /** Asks an agent on this machine. @throws GatewayError */
  askAgent(request: AgentRequest): AskedAgent;
  /** The `traceparent` that an attempt of a request sends upstream, counted from 1; null where the client's is passed on. */
  traceparent: ((exchange: AnyExchange, attempt: number) => string) | null;
  /** Names this process in `x-gateway-via`. */
  instance: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Where a recorded request came from. */
export interface RequestOrigin {
  readonly exchange: AnyExchange;
  readonly principal: Principal;
}

/** A request on its way. Times in milliseconds since the epoch. */
export interface RunningCall {
  id: string;
  startedAt: number;
  keyId: string;
  format: string;
  requestedModel: string;
  connection: string;
  model: string;
  attempts: number;
  state: 'waiting' | 'asked' | 'answering';
  userAgent: string | null;
}

/** One call in flight, as the ticking watch and the shutdown see it. */
export interface OpenCall extends Watched {
  /** Whether it waits until an upstream may be asked again. Absent for a call that never does. */
  readonly waits?: boolean;
  /** What is shown of it while it runs. Absent for a call that the gateway makes beside a request. */
  describe?(): RunningCall;
  /** Ends the call with the dialect's error because the gateway stops. */
  interrupt(error: GatewayError): void;
}
