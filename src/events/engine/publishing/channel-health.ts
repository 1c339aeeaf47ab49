import { type Channel, ChannelFull } from '../../channels/channel.ts';
import type { Clock } from '../../strategies/clock.ts';

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 3_000;
/** There may be room again at any moment. */
const LONGEST_FULL_MS = 100;
/** One event alone may be what a message queue does not take: it may be too large for that. */
const FAILURES_IN_A_ROW = 8;

export interface PublishFailure {
  readonly kind: 'failed';
  /** Whether the channel has no room. */
  readonly full: boolean;
  readonly error: string;
}

/**
 * Whether a channel takes events, as far as those say that were published last. Not every event is tried on a channel that is down:
 * that would cost as much as an answer, for nothing.
 */
export interface ChannelHealth {
  /**
   * Why the next event need not be tried; null when it may be. While the channel is down, one event at a time may: the first after
   * a pause, which doubles from 25 ms up to 3 seconds, or a tenth of a second
   * where it is full. Then the others wait for what becomes of that one.
   */
  failure(): PublishFailure | null | Promise<PublishFailure | null>;
  succeeded(): void;
  /** @returns what the error says */
  failed(error: unknown): PublishFailure;
}

/** The health of each channel, whoever publishes into it. */
export type ChannelHealths = (channel: Channel) => ChannelHealth;

export function createChannelHealths(clock: Pick<Clock, 'now'>): ChannelHealths {
  const healths = new WeakMap<Channel, ChannelHealth>();
  return (channel) => {
    const health = healths.get(channel) ?? createChannelHealth(channel, clock);
    healths.set(channel, health);
    return health;
  };
}

function createChannelHealth(channel: Pick<Channel, 'problem'>, clock: Pick<Clock, 'now'>): ChannelHealth {
  let failures = 0;
  let pauseMs = FIRST_PAUSE_MS;
  /** Null while the channel is not down. */
  let last: PublishFailure | null = null;
  let nextTryAt = 0;
  /** An event that is tried on a channel that is down: what became of it. */
  let trial: PromiseWithResolvers<PublishFailure | null> | null = null;
  let unreachable = false;

  const endTrial = (failure: PublishFailure | null) => {
    trial?.resolve(failure);
    trial = null;
  };
  const succeeded = () => {
    failures = 0;
    pauseMs = FIRST_PAUSE_MS;
    last = null;
    endTrial(null);
    unreachable = false;
  };
  return {
    failure() {
      if (last === null) return null;
      if (unreachable && channel.problem() === null) {
        succeeded();
        return null;
      }
      if (clock.now() < nextTryAt) return trial !== null && last.full ? trial.promise : last;
      // Whoever asks now tries it. If that takes longer than the pause, so does the next.
      trial ??= Promise.withResolvers();
      nextTryAt = clock.now() + LONGEST_PAUSE_MS;
      return null;
    },
    succeeded,
    failed(error) {
      const failure: PublishFailure = {
        kind: 'failed',
        full: error instanceof ChannelFull,
        error: error instanceof Error ? error.message : String(error),
      };
      failures += 1;
      unreachable = channel.problem() !== null;
      if (!unreachable && !failure.full && failures < FAILURES_IN_A_ROW) return failure;
      // Those that were under way together fail together, and are one failure.
      if (last === null || trial !== null) {
        nextTryAt = clock.now() + pauseMs;
        pauseMs = Math.min(pauseMs * 2, failure.full ? LONGEST_FULL_MS : LONGEST_PAUSE_MS);
      }
      last = failure;
      endTrial(failure);
      return failure;
    },
  };
}
