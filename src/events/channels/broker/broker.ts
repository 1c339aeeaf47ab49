import type { CloudEvent } from '../../cloudevents/event.ts';
import type { BackgroundTasks } from '../background-tasks.ts';
import type { Content } from '../channel.ts';
import type { Address } from './address.ts';

/**
 * What is different from message queue to message queue. `broker-channel.ts` makes a channel of it: it reconnects, delays
 * retries, counts attempts and leases messages, so that no broker has to.
 */
export interface Broker {
  /**
   * Connects to one topic. Whoever connects gives up after a while; a connection that is made later is closed.
   * @param onLost is called when the connection is of no use any more; at once after that, another one is made
   */
  connect(onLost: (error: Error) => void): Promise<BrokerConnection>;
}

/** What a driver connects with. */
export interface ConnectInput {
  readonly address: Address;
  readonly topic: string;
  /** Names this gateway, and no other, now and after it was started again. */
  readonly instance: string;
  /** What the connection does without being asked. */
  readonly background: Pick<BackgroundTasks, 'run'>;
}

export type Connect = (input: ConnectInput, onLost: (error: Error) => void) => Promise<BrokerConnection>;

/** A connection for one topic. Every method rejects once it is lost. */
export interface BrokerConnection {
  /** How the broker is set up to keep less than the channel promises, e.g. nothing on the disk, in sentences. */
  readonly warnings: readonly string[];
  /** Resolves when the broker has the event, as durably as it can. May be called many times at once, and keeps their order. */
  publish(event: CloudEvent): Promise<void>;
  /**
   * Makes a durable subscription, unless there is one. The first of a topic gets what was published before too. It lasts until
   * `unsubscribe`, whether anybody consumes or not.
   * @param again there was one: if the broker has lost it, it gets everything that the broker has
   */
  subscribe(consumer: string, again: boolean): Promise<void>;
  /** The subscription collects no more, at the latest after a day; what waits in it stays until then at least. */
  unsubscribe(consumer: string): Promise<void>;
  /**
   * Hands over messages, the oldest first, until the connection is lost or `stop` is called: at most `prefetch` that are not
   * settled. While one is not settled, the driver keeps the broker from giving it to somebody else.
   */
  consume(consumer: string, prefetch: number, receiver: BrokerReceiver): Promise<Consumption>;
  /** Messages of the subscription that nobody was given yet; null where the broker cannot tell. */
  waiting(consumer: string): Promise<number | null>;
  /** Gives back at once what is not settled, and never rejects. */
  close(): Promise<void>;
}

export interface BrokerReceiver {
  message(message: BrokerMessage): void;
  /** There will be no more messages, though the connection is not lost: consuming has to begin again. */
  onEnd(error: Error): void;
}

export interface Consumption {
  /** Hands over nothing more. What is not settled can still be. */
  stop(): Promise<void>;
}

/** A message that a broker has handed over. It is settled by `ack` or `giveBack`, once. */
export interface BrokerMessage {
  readonly content: Content;
  /**
   * What names the message at each of its deliveries to this consumer, e.g. its number in the stream. Null where nothing does:
   * such a message may be delivered once more when its connection is lost while it is in hand.
   */
  readonly position: string | null;
  /** Its number in a log, from 1 on, and when the log took it, in nanoseconds: a log that lost its end gives numbers again. */
  readonly numbered?: { readonly number: number; readonly time: bigint };
  /** Whether it may have been delivered before; where a position names one message for ever, always true. */
  readonly redelivered: boolean;
  /** Whether somebody had it before and did not settle it, which may have ended a process; null where the broker cannot tell. */
  readonly unsettledBefore: boolean | null;
  /** Resolves when the broker knows that the message is done with. */
  ack(): Promise<void>;
  /** Somebody else may have it, at once. */
  giveBack(): Promise<void>;
}
