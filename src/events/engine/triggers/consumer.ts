import { describe } from '../../../lib/log.ts';
import type { Delivery } from '../../channels/channel.ts';
import { eventSize } from '../../cloudevents/event.ts';
import { handleDelivery, type TriggerContext, type TriggerSubscription } from './handle-delivery.ts';

/** Events of one consumer that are with their processor at a time, where no concurrency limit says another number. */
const USUAL_IN_FLIGHT = 16;
const MOST_BUFFERED_BYTES = 67_108_864;
/** How large events are taken for, before any was seen. */
const EXPECTED_BYTES = 65_536;
/** How soon a channel that failed is asked again. */
const FAULT_MS = 1_000;
/** How long stopping waits for the events that are with the processor. */
const STOP_MS = 29_000;
/**
 * Events that so many crashes had a hand in are handled apart from the others: the one that ends the process is found, and
 * no other is taken for it.
 */
const SUSPECT_CRASHES = 2;

/** One trigger at one channel. */
export interface Consumer {
  start(): Promise<void>;
  /** Takes no more events, waits for those that are with the processor, and releases the others. */
  stop(): Promise<void>;
  status(): ConsumerStatus;
}

export interface ConsumerStatus {
  /** Events that were received and are not with the processor yet. */
  readonly buffered: number;
  readonly inFlight: number;
  /** Of all these events. */
  readonly bytes: number;
  /** What the channel answered to the last call, where that failed. */
  readonly channelError: string | null;
}

interface HeldDelivery {
  readonly delivery: Delivery;
  readonly size: number;
  /** Until when the channel keeps it for this consumer, by the consumer's clock. Afterwards another gateway may have it. */
  until: number;
}

export function createConsumer(context: TriggerContext, subscription: TriggerSubscription): Consumer {
  const { clock, log, trigger } = context;
  const { channel, channelId, leaseMs } = subscription;
  const name = trigger.id;
  const most = trigger.bufferSize;
  const parallel = inFlightAtMost(context);
  const suspectsAtOnce = runsInProcess(context) ? 1 : parallel;
  const stopping = new AbortController();
  const buffer: HeldDelivery[] = [];
  const inFlight = new Map<HeldDelivery, Promise<void>>();
  /** Of these, those that the processor has. The others wait for the channel to know what became of them. */
  let processing = 0;
  let bytes = 0;
  let averageBytes = EXPECTED_BYTES;
  /** The next events may be suspects. */
  let careful = true;
  let pumping: Promise<void> | null = null;
  let again = false;
  let channelError: string | null = null;
  let cancelTimer = () => {};
  let cancelRenewal = () => {};
  let unlisten = () => {};

  const stopped = () => stopping.signal.aborted;
  const held = () => buffer.length + inFlight.size;
  const wake = () => {
    again = true;
    if (stopped() || pumping !== null) return;
    pumping = pump().finally(() => {
      pumping = null;
      if (again) wake();
    });
  };
  const wakeAfter = (ms: number) => {
    cancelTimer();
    if (!stopped()) cancelTimer = clock.after(ms, wake);
  };
  const failed = (error: unknown) => {
    if (channelError === null)
      log.error({ trigger: name, channel: channelId, error: describe(error) }, 'a channel of events failed');
    channelError = error instanceof Error ? error.message : String(error);
  };

  /** How many events may be received now; 0 for none. */
  const wanted = () => {
    if (careful) return held() === 0 ? suspectsAtOnce : 0;
    // In few large portions: each costs the channel a round trip.
    if (buffer.length > 0 && held() > most / 2) return 0;
    const room = Math.floor((MOST_BUFFERED_BYTES - bytes) / averageBytes);
    return Math.max(0, Math.min(most - held(), room));
  };
  const pump = async () => {
    again = false;
    try {
      for (let limit = wanted(); limit > 0 && !stopped(); limit = wanted()) {
        const until = clock.now() + leaseMs;
        const deliveries = await channel.receive(name, limit, leaseMs);
        if (deliveries.length === 0) break;
        await take(deliveries, until);
      }
      // Whoever wants nothing now asks again when an event is settled.
      const due = wanted() > 0 ? await channel.nextDueIn(name) : null;
      if (due !== null) wakeAfter(due);
      channelError = null;
    } catch (error) {
      failed(error);
      again = false;
      wakeAfter(FAULT_MS);
    }
  };
  const take = async (deliveries: readonly Delivery[], until: number) => {
    const wasCareful = careful;
    careful = deliveries.some(({ crashes }) => crashes >= SUSPECT_CRASHES);
    for (const delivery of deliveries) {
      const suspect = delivery.crashes >= SUSPECT_CRASHES;
      const size = sizeOf(delivery);
      const tooMuch = held() > 0 && bytes + size > MOST_BUFFERED_BYTES;
      // It comes again: a suspect when nothing else is under way.
      if (stopped() || tooMuch || (suspect && !wasCareful))
        await channel.release(name, delivery.id).catch(failed);
      else hold({ delivery, size, until });
    }
    work();
  };
  const hold = (one: HeldDelivery) => {
    if (held() === 0) renewLater();
    buffer.push(one);
    bytes += one.size;
    averageBytes = Math.max(1, averageBytes * 0.9 + one.size * 0.1);
  };
  const isHeld = ({ until }: HeldDelivery) => clock.now() < until;
  /** As after a pause of the whole process: it comes again, here or at another gateway. */
  const giveUp = (one: HeldDelivery) => {
    bytes -= one.size;
    if (held() === 0) cancelRenewal();
    const isHereAgain = [...buffer, ...inFlight.keys()].some(
      ({ delivery }) => delivery.id === one.delivery.id,
    );
    if (!isHereAgain) void channel.release(name, one.delivery.id).catch(failed).then(wake);
  };
  const work = () => {
    while (processing < parallel && !stopped()) {
      const one = buffer.shift();
      if (one === undefined) return;
      if (!isHeld(one)) {
        giveUp(one);
        continue;
      }
      processing += 1;
      let isProcessed = false;
      const onProcessed = () => {
        if (isProcessed) return;
        isProcessed = true;
        processing -= 1;
        work();
      };
      const settled = handleDelivery(context, subscription, one.delivery, stopping.signal, {
        onProcessed,
        isHeld: () => isHeld(one),
      })
        // It comes again when its lease ends.
        .catch(failed)
        .then(() => {
          onProcessed();
          inFlight.delete(one);
          bytes -= one.size;
          if (held() === 0) cancelRenewal();
          work();
          wake();
        });
      inFlight.set(one, settled);
    }
  };
  /** The events stay with this consumer, however long they wait. */
  const renewLater = () => {
    cancelRenewal = clock.after(leaseMs / 3, () => {
      const until = clock.now() + leaseMs;
      const kept = [...inFlight.keys(), ...buffer].filter(isHeld);
      const ids = kept.map(({ delivery }) => delivery.id);
      channel.renew(name, ids, leaseMs).then(() => {
        for (const one of kept) one.until = until;
      }, failed);
      renewLater();
    });
  };

  return {
    async start() {
      await channel.subscribe(name, trigger.bufferSize);
      if (stopped()) return;
      unlisten = channel.onArrival(wake);
      wake();
    },
    async stop() {
      stopping.abort();
      cancelTimer();
      unlisten();
      const rest = buffer.splice(0);
      const releases = rest.map(({ delivery }) => channel.release(name, delivery.id).catch(failed));
      await pumping;
      await Promise.all(releases);
      let cancel = () => {};
      const late = new Promise<void>((resolve) => {
        cancel = clock.after(STOP_MS, resolve);
      });
      await Promise.race([Promise.all(inFlight.values()), late]);
      cancel();
      cancelRenewal();
    },
    status: () => ({ buffered: buffer.length, inFlight: inFlight.size, bytes, channelError }),
  };
}

/** As many as the trigger's own concurrency limit lets through: one after the other where that is 1. */
function inFlightAtMost({ trigger: { bufferSize, runtime } }: TriggerContext): number {
  return Math.max(1, Math.min(bufferSize, runtime.concurrency?.max ?? USUAL_IN_FLIGHT));
}

/** Whether the processor is code of this process, which an event may end. */
const runsInProcess = ({ trigger: { processor } }: TriggerContext): boolean =>
  processor.kind === 'gateway' || processor.kind === 'function';

const sizeOf = ({ content }: Delivery): number =>
  content.ok ? eventSize(content.event) : content.bytes.byteLength;
