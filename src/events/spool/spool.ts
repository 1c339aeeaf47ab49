import type { CloudEvent } from '../cloudevents/event.ts';
import type { Storage } from '../config/config.ts';

/**
 * What came of adding an event: it is kept as durably as the storage can; it was thrown away because the storage is full; there was
 * no room for it in time; it is larger than the whole storage; or the storage does not work.
 */
export type SpoolResult = 'kept' | 'dropped' | 'full' | 'too_large' | 'unavailable';

/** An event that waits for one channel. */
export interface SpooledEvent {
  /** Names it until it is done. */
  readonly sequence: number;
  readonly event: CloudEvent;
}

export interface SpoolStatus {
  /** Events that wait for at least one channel. */
  readonly events: number;
  /** Of those events. */
  readonly bytes: number;
  readonly maxBytes: number;
  /** Records that were found damaged and set aside, since it was opened. */
  readonly damaged: number;
  /** Why nothing can be written at the moment. */
  readonly problem: string | null;
}

/** The storage of one source: events wait in it for the channels that they go to, in order, and within a size. */
export interface Spool {
  /** Whether what it holds is there after a restart. */
  readonly durable: boolean;
  /**
   * Keeps an event for each of the channels. Never throws.
   * @param waitMs how long to wait for room, where the storage blocks when it is full
   */
  add(event: CloudEvent, channels: readonly string[], waitMs: number): Promise<SpoolResult>;
  /** The oldest events that wait for the channel: the same ones until they are done. @throws when they cannot be read */
  next(channel: string, limit: number): Promise<readonly SpooledEvent[]>;
  /** The channel has these events. They make room when every channel has them. */
  done(channel: string, sequences: readonly number[]): void;
  /** How many events wait for the channel. */
  waiting(channel: string): number;
  /** Another size, or another way to be when full, from now on. */
  resize(storage: Storage): void;
  /** Calls the listener when events were added. @returns what ends that */
  onAdded(listener: () => void): () => void;
  status(): SpoolStatus;
  close(): Promise<void>;
}
