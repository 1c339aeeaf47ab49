import type { CloudEvent } from '../cloudevents/event.ts';
import type { FailedAttempt } from './failed-attempt.ts';

/** What a message holds: an event, or bytes that are none. */
export type Content =
  | { readonly ok: true; readonly event: CloudEvent }
  | { readonly ok: false; readonly bytes: Uint8Array; readonly problem: string };

/** A message on its way to one consumer. */
export interface Delivery {
  /** The channel's own handle, valid until the delivery is settled. */
  readonly id: string;
  /**
   * Names the message at each of its deliveries, in every process; null where nothing does, and absent where the handle does.
   */
  readonly message?: string | null;
  readonly content: Content;
  /** This one included: 1 for the first. Only deliveries that ended with `retry` count, over restarts too. */
  readonly attempt: number;
  /** Deliveries since the last `retry` that ended without an outcome: the process died, or the lease ended. */
  readonly crashes: number;
  /** What the last `retry` was told of the attempts before; none at the first. */
  readonly failures: readonly FailedAttempt[];
}

/** How many messages a channel has for a consumer. */
export interface Depth {
  /** Not received yet, delayed ones included; null where the queue cannot tell. */
  readonly waiting: number | null;
  /** Received and not settled. */
  readonly held: number;
}

/**
 * A topic of a message queue. Each consumer gets every event that was published since it subscribed, at least once; the first
 * consumer also gets what was published before anybody subscribed. Consumers are known by name, and a durable channel
 * remembers them. A delivery is settled by `ack`, `retry` or `release`; to settle it twice does nothing.
 */
export interface Channel {
  /** Resolves when the channel has the event: a durable one, on the disk. @throws when it cannot take it, e.g. `ChannelFull` */
  publish(event: CloudEvent): Promise<void>;
  /** @param bufferSize what the consumer has in hand at most: what a message queue may hand over ahead of `receive` */
  subscribe(consumer: string, bufferSize?: number): Promise<void>;
  /**
   * Ends the subscriptions of all other consumers of this gateway, who would collect events that nobody takes. What waits for
   * them stays, for when they subscribe again.
   */
  endOtherSubscriptions(consumers: ReadonlySet<string>): Promise<void>;
  /** At most `limit` messages that are due, the oldest first. They come again unless they are settled within `leaseMs`. */
  receive(consumer: string, limit: number, leaseMs: number): Promise<readonly Delivery[]>;
  /** The deliveries that are not settled yet are leased for `leaseMs` from now. */
  renew(consumer: string, ids: readonly string[], leaseMs: number): Promise<void>;
  /** The consumer is done with the message. */
  ack(consumer: string, id: string): Promise<void>;
  /** The message comes again after `delayMs`, as the next attempt, with the failures of those until now. */
  retry(consumer: string, id: string, delayMs: number, failures: readonly FailedAttempt[]): Promise<void>;
  /** The message was not looked at: it comes again at once, as the same attempt. */
  release(consumer: string, id: string): Promise<void>;
  /** Milliseconds until a message may be due; null when none waits. */
  nextDueIn(consumer: string): Promise<number | null>;
  /** Calls the listener when a message has come. @returns what ends that */
  onArrival(listener: () => void): () => void;
  depth(consumer: string): Promise<Depth>;
  /** Why the message queue cannot be reached at the moment; null when it can. */
  problem(): string | null;
  /** What the channel does without being asked and fails at the moment, in sentences: it is degraded. */
  degradations(): readonly string[];
  /** How the message queue is set up to lose events that it has confirmed, in sentences that say what to set. */
  warnings(): readonly string[];
  close(): Promise<void>;
}

/** Events that a channel does not take, because it holds as much as it may. */
export class ChannelFull extends Error {}
