import { type Channel, ChannelFull } from '../channels/channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { Clock } from '../strategies/clock.ts';
import type { Admission, Admitted, Gate } from '../strategies/gate.ts';

/** How long a channel may take for one event. It may have it all the same: then it gets it twice. */
const PUBLISH_TIMEOUT_MS = 10_000;

export type SendOutcome =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly full: boolean; readonly error: string };

/** A channel that a source publishes into, with the source's limits. */
export interface Outlet {
  readonly channelId: string;
  admit(): Admission | Promise<Admission>;
  /** Publishes one event that was admitted. Never throws. */
  send(event: CloudEvent, admission: Admitted): Promise<SendOutcome>;
  status(): OutletStatus;
}

/** Counters since it was made. */
export interface OutletStatus {
  readonly channel: string;
  readonly sent: number;
  readonly failed: number;
  /** Why the last event was not sent; null since one was. */
  readonly lastError: string | null;
}

export function createOutlet(
  channelId: string,
  channel: Channel,
  gate: Pick<Gate, 'admit'>,
  clock: Clock,
): Outlet {
  let sent = 0;
  let failed = 0;
  let lastError: string | null = null;
  return {
    channelId,
    admit: () => gate.admit(),
    async send(event, admission) {
      const begunAt = clock.now();
      try {
        await withinTime(channel.publish(event), clock);
        admission.done('ok', clock.now() - begunAt);
        sent += 1;
        lastError = null;
        return { kind: 'sent' };
      } catch (error) {
        admission.done('error', error instanceof TimedOut ? Number.POSITIVE_INFINITY : clock.now() - begunAt);
        failed += 1;
        lastError = error instanceof Error ? error.message : String(error);
        return { kind: 'failed', full: error instanceof ChannelFull, error: lastError };
      }
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
