import { setTimeout as delay } from 'node:timers/promises';
import { openChannel } from '../../src/events/channels/open-channel.ts';
import type { ChannelScheme } from '../../src/events/config/config.ts';
import { openEventDatabase } from '../../src/events/database/event-database.ts';
import { silentEmitter } from '../../src/events/types/emitter.ts';
import { createLog } from '../../src/lib/log.ts';
import { eventIn } from '../support/events/cloud-event.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport } from './ledger.ts';

/** What happens to a message queue while events wait in it, and while they are taken out. */
export interface QueueFaultsInput {
  readonly scheme: ChannelScheme;
  readonly url: string;
  readonly topic: string;
  /** Where the gateway keeps what waits for another attempt. */
  readonly dataDir: string;
  /** Events that are accepted before the fault, and again after it. */
  readonly events: number;
  /** Ends when the message queue can be used again. */
  fault(): Promise<void>;
}

export interface QueueFaultsReport extends LedgerReport {
  /** Publishings that failed, and were repeated. */
  readonly refused: number;
  /** From the end of the fault to the next accepted event. */
  readonly resumedAfterMs: number;
}

const SOURCE = 'source';
const READER = 'reader';
const AT_ONCE = 16;
const LEASE_MS = 30_000;

/**
 * Publishes events that nobody takes yet, lets the fault happen, publishes as many again, and takes out what is there. The last
 * event tells that nothing comes behind it, so that what is lost is known without waiting for it.
 */
export async function runQueueFaults(input: QueueFaultsInput): Promise<QueueFaultsReport> {
  const { dataDir, events, fault, scheme, topic, url } = input;
  const ledger = createLedger();
  const database = openEventDatabase(`${dataDir}/events.db`);
  const channel = openChannel(
    { id: 'queue', scheme, url, topic },
    {
      dataDir,
      database: () => database,
      log: createLog({ level: 'silent', write: () => {}, pretty: false }),
      emitter: silentEmitter,
      now: () => performance.now(),
      variable: () => undefined,
    },
  );
  let refused = 0;
  const publishOne = async () => {
    const event = ledger.next(SOURCE);
    const isAccepted = () =>
      channel.publish(event).then(
        () => true,
        () => false,
      );
    while (!(await isAccepted())) {
      refused += 1;
      await delay(20);
    }
    ledger.accepted(event);
    return event;
  };
  const publishMany = async () => {
    let left = events;
    const publisher = async () => {
      while (left > 0) {
        left -= 1;
        await publishOne();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, publisher));
  };
  try {
    await waitFor('the subscription', () =>
      channel.subscribe(READER).then(
        () => true,
        () => false,
      ),
    );
    // From now on somebody wants to receive, as in an engine that runs.
    await channel.receive(READER, 0, LEASE_MS);
    await publishMany();
    await fault();
    const ended = performance.now();
    await publishOne();
    const resumedAfterMs = Math.round(performance.now() - ended);
    await publishMany();
    const last = (await publishOne()).attributes.id;
    let isOver = false;
    await waitFor('the last event', async () => {
      const deliveries = await channel.receive(READER, 64, LEASE_MS);
      for (const delivery of deliveries) {
        const event = eventIn(delivery);
        ledger.delivered(READER, event);
        isOver ||= event.attributes.id === last;
      }
      await Promise.all(deliveries.map(({ id }) => channel.ack(READER, id).catch(() => {})));
      return isOver;
    });
    return { ...ledger.report([READER]), refused, resumedAfterMs };
  } finally {
    await channel.close();
    await database.close();
  }
}
