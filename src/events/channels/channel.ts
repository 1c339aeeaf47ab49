import type { CloudEvent } from '../cloudevents/event.ts';

/** An event on its way to one consumer. */
export interface Delivery {
  readonly id: number;
  readonly event: CloudEvent;
  /** This one included: 1 for the first. */
  readonly attempt: number;
}

/**
 * A topic of a message queue. Each consumer gets every event that was published since it subscribed, at least once; the first
 * consumer also gets what was published before anybody subscribed. Consumers are known by name, and a durable channel
 * remembers them.
 */
export interface Channel {
  /** Resolves when the channel has the event: a durable one, on the disk. @throws when it cannot take it, e.g. it is full */
  publish(event: CloudEvent): Promise<void>;
  subscribe(consumer: string): Promise<void>;
  /**
   * Ends the subscriptions of all other consumers, who would collect events that nobody takes. What waits for them stays, for
   * when they subscribe again.
   */
  endOtherSubscriptions(consumers: ReadonlySet<string>): Promise<void>;
  /** At most `limit` events that are due, the oldest first. They come again unless they are settled within `leaseMs`. */
  receive(consumer: string, limit: number, leaseMs: number): Promise<readonly Delivery[]>;
  /** The consumer is done with the event. */
  ack(consumer: string, id: number): Promise<void>;
  /** The event comes again after `delayMs`. */
  retry(consumer: string, id: number, delayMs: number): Promise<void>;
  /** The event was not looked at: it comes again at once, and the attempt does not count. */
  release(consumer: string, id: number): Promise<void>;
  /** Milliseconds until a delivery is due; null when none waits. */
  nextDueIn(consumer: string): Promise<number | null>;
  /** Calls the listener after each publishing. @returns what ends that */
  onPublish(listener: () => void): () => void;
  close(): Promise<void>;
}

/** Events that a channel does not take, because it holds as much as it may. */
export class ChannelFull extends Error {}
