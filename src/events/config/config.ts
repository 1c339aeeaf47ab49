import type { CompiledExpression } from '../cesql/cesql.ts';
import type { Event } from '../gen/io/opensergo/proto/event/v1/event_pb.ts';

/**
 * A configuration that was checked whole: every reference resolves, every filter is compiled, every duration is in
 * milliseconds, and what was not set has its default. It never changes; another one takes its place.
 */
export interface EventConfig {
  /** What it was made from, for passing on. */
  readonly message: Event;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly sources: ReadonlyMap<string, Source>;
  readonly triggers: ReadonlyMap<string, Trigger>;
  readonly routes: readonly Route[];
}

export interface Channel {
  readonly id: string;
  readonly scheme: ChannelScheme;
  /** With references to secrets as they are written: `nats://user:${NATS_PASSWORD}@host`. */
  readonly url: string;
  readonly topic: string;
}

/** Kinds of message queues; addresses may have several spellings of one. */
export type ChannelScheme = 'memory' | 'sqlite' | 'postgres' | 'nats' | 'redis' | 'amqp' | 'mqtt' | 'kafka';

export type ProcessorKind = 'service' | 'http' | 'gateway' | 'function' | 'rpcservice' | 'channel' | 'log';

export interface Processor {
  readonly kind: ProcessorKind;
  readonly name: string;
}

export interface Source {
  readonly id: string;
  readonly processor: Processor;
  readonly asyncSend: boolean;
  /** Where events wait while their channel does not take them; null: nowhere. */
  readonly storage: Storage | null;
  readonly runtime: RuntimeStrategy;
}

export interface Trigger {
  readonly id: string;
  readonly processor: Processor;
  /** Events that are buffered or in flight at most. */
  readonly bufferSize: number;
  readonly idempotent: boolean;
  readonly runtime: RuntimeStrategy;
  /** Null: an event that failed for the last time is discarded. */
  readonly deadLetters: DeadLetters | null;
  /** Set up through the management API, from wherever: its webhook does not reach private networks unless that is allowed. */
  readonly byApi?: true;
}

export interface Storage {
  readonly type: 'memory' | 'local' | 'distributed';
  readonly bytes: number;
  readonly whenFull: 'block' | 'drop';
}

export interface DeadLetters {
  /** Retries that fail before an event is a dead letter; an error that no retry mends makes it one at once. */
  readonly afterRetries: number;
  readonly store:
    | { readonly kind: 'channel'; readonly channel: Channel }
    | { readonly kind: 'storage'; readonly storage: Storage };
}

export interface RuntimeStrategy {
  readonly retry: Retry | null;
  readonly rateLimit: RateLimit | null;
  readonly circuitBreaker: CircuitBreaker | null;
  readonly concurrency: ConcurrencyLimit | null;
  readonly faultTolerance: FaultTolerance | null;
}

export interface Retry {
  /** After the first attempt. */
  readonly max: number;
  readonly delayMs: number;
  readonly growth: 'linear' | 'exponential';
}

export type LimitScope = 'local' | 'global';

export interface RateLimit {
  readonly name: string;
  readonly scope: LimitScope;
  /** Per period; 0 lets nothing pass. */
  readonly threshold: number;
  readonly periodMs: number;
}

export interface ConcurrencyLimit {
  readonly name: string;
  readonly scope: LimitScope;
  /** 0 lets nothing pass. */
  readonly max: number;
}

export interface CircuitBreaker {
  readonly name: string;
  readonly trips:
    | { readonly on: 'errors' }
    | { readonly on: 'slowness' /** What takes longer is slow. */; readonly maxMs: number };
  /** From 0 to 1. */
  readonly ratio: number;
  readonly windowMs: number;
  readonly recoveryMs: number;
  readonly minRequests: number;
}

export type StrategyKind = 'rate-limit' | 'circuit-breaker' | 'concurrency-limit';

export interface FaultTolerance {
  /** Names of resources: `source:ID`, `trigger:ID`, `channel:ID`, `POST:/api/events`; `*` at the end stands for anything. Empty: the owner. */
  readonly targets: readonly string[];
  readonly strategies: readonly StrategyKind[];
  /** Names the answer to an HTTP request that a strategy of the rule refuses; null: that of the gateway. */
  readonly action: string | null;
}

/** Events of a source that its filter selects go through a channel to a trigger. */
export interface Route {
  readonly sourceId: string;
  readonly triggerId: string;
  readonly channelId: string;
  /** Null: every event. */
  readonly filter: CompiledExpression | null;
}
