import type { Channel } from '../../channels/channel.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Clock } from '../../strategies/clock.ts';
import type { Admission, AdmittedCall, Gate } from '../../strategies/gate.ts';
import type { ChannelHealth, PublishFailure } from './channel-health.ts';

/** How long a channel may take for one event. It may have it all the same: then it gets it twice. */
const PUBLISH_TIMEOUT_MS = 10_000;

export type SendOutcome = { readonly kind: 'sent' } | PublishFailure;

/** Publishes a source's events into one channel, within the limits of the source. */
export interface ChannelSink {
  readonly channelId: string;
  admit(): Admission | Promise<Admission>;
  /**
   * Publishes one event that was admitted. On a channel that is down most fail without being tried. Never throws.
   * @param always tries it whatever is known of the channel
   */
  send(event: CloudEvent, admission: AdmittedCall, always?: boolean): SendOutcome | Promise<SendOutcome>;
  status(): ChannelSinkStatus;
}

/** Counters since it was made. */
export interface ChannelSinkStatus {
  readonly channel: string;
  readonly sent: number;
  readonly failed: number;
  /** Why the last event was not sent; null since one was. */
  readonly lastError: string | null;
}

export interface ChannelSinkInput {
  channelId: string;
  channel: Channel;
  /** Shared by all that publish into the channel. */
  health: ChannelHealth;
  gate: Pick<Gate, 'admit'>;
  clock: Clock;
}

export function createChannelSink({
  channel,
  channelId,
  clock,
  gate,
  health,
}: ChannelSinkInput): ChannelSink {
  let sent = 0;
  let failed = 0;
  let lastError: string | null = null;
  const publish = async (event: CloudEvent, admission: AdmittedCall): Promise<SendOutcome> => {
    const begunAt = clock.now();
    try {
      await withinTime(channel.publish(event), clock);
      admission.done('ok', clock.now() - begunAt);
      health.succeeded();
      sent += 1;
      lastError = null;
      return { kind: 'sent' };
    } catch (error) {
      admission.done('error', error instanceof TimedOut ? Number.POSITIVE_INFINITY : clock.now() - begunAt);
      const failure = health.failed(error);
      failed += 1;
      lastError = failure.error;
      return failure;
    }
  };
  const fail = (failure: PublishFailure, admission: AdmittedCall): SendOutcome => {
    admission.done('error', 0);
    failed += 1;
    lastError = failure.error;
    return failure;
  };
  return {
    channelId,
    admit: () => gate.admit(),
    send(event, admission, always = false) {
      const failure = always ? null : health.failure();
      if (failure === null) return publish(event, admission);
      if (!(failure instanceof Promise)) return fail(failure, admission);
      return failure.then((later) => (later === null ? publish(event, admission) : fail(later, admission)));
    },
    status: () => ({ channel: channelId, sent, failed, lastError }),
  };
}

class TimedOut extends Error {}

function withinTime(publishing: Promise<void>, clock: Clock): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = clock.after(PUBLISH_TIMEOUT_MS, () =>
      reject(new TimedOut(`The channel did not answer within ${PUBLISH_TIMEOUT_MS / 1_000} seconds`)),
    );
    publishing.then(resolve, reject).finally(stop);
  });
}
