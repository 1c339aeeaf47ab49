import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from '../../src/events/channels/channel.ts';
import { openChannel } from '../../src/events/channels/open-channel.ts';
import type { ChannelScheme } from '../../src/events/config/config.ts';
import { openEventDatabase } from '../../src/events/database/event-database.ts';
import { silentEmitter } from '../../src/events/types/emitter.ts';
import { createLog } from '../../src/lib/log.ts';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { eventIn } from '../support/events/cloud-event.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport, seeded } from './ledger.ts';

/** A broker that is killed while events go through it. */
export interface BrokerFaultsInput {
  readonly scheme: ChannelScheme;
  readonly server: PrivateBroker;
  /** Where the gateway keeps what waits for another attempt. */
  readonly dataDir: string;
  /** How often the server is killed, and started again after a moment. */
  readonly times: number;
  /** Events that are accepted between two kills, at most. */
  readonly atMost: number;
  readonly seed: number;
}

export interface BrokerFaultsReport extends LedgerReport {
  readonly seed: number;
  /** The longest time from a start to the next accepted event. */
  readonly longestResumeMs: number;
  /** Publishings that were refused, and repeated. */
  readonly refused: number;
  /** How much more memory the process had at its worst. */
  readonly grownMiB: number;
}

const PUBLISHERS = 16;
const LEASE_MS = 30_000;
const CONSUMER = 'reader';
const log = createLog({ level: 'silent', write: () => {}, pretty: false });

/** Publishes and receives all the time, while the broker is killed again and again, and accounts for every event. */
export async function runBrokerFaults(input: BrokerFaultsInput): Promise<BrokerFaultsReport> {
  const { atMost, dataDir, scheme, seed, server, times } = input;
  const random = seeded(seed);
  const ledger = createLedger();
  const database = openEventDatabase(`${dataDir}/events.db`);
  const channel = openChannel(
    { id: 'main', scheme, url: server.url, topic: `faults-${seed}` },
    {
      dataDir,
      database: () => database,
      log,
      emitter: silentEmitter,
      now: Date.now,
      variable: () => undefined,
    },
  );
  const state = { running: true, accepted: 0, acceptedAt: 0, refused: 0 };
  const publisher = async (source: string) => {
    while (state.running) {
      const event = ledger.next(source);
      while (!(await isAccepted(channel, event))) {
        state.refused += 1;
        await delay(20);
      }
      ledger.accepted(event);
      state.accepted += 1;
      state.acceptedAt = performance.now();
    }
  };
  const ending = new AbortController();
  const consuming = consume(channel, ending.signal, (event) => ledger.delivered(CONSUMER, event));
  await waitFor('the subscription', () =>
    channel.subscribe(CONSUMER).then(
      () => true,
      () => false,
    ),
  );
  const publishing = Array.from({ length: PUBLISHERS }, (_, index) => publisher(`s${index}`));
  const memory = watchMemory();
  let longestResumeMs = 0;
  try {
    for (let time = 0; time < times; time += 1) {
      const until = state.accepted + 1 + Math.floor(random() * atMost);
      await waitFor('accepted events', () => state.accepted >= until);
      await server.kill();
      await delay(random() * 500);
      await server.start();
      const ended = performance.now();
      await waitFor('the next accepted event', () => state.acceptedAt > ended);
      longestResumeMs = Math.max(longestResumeMs, state.acceptedAt - ended);
    }
    state.running = false;
    await Promise.all(publishing);
    await waitFor('all accepted events', () => ledger.missing(CONSUMER).length === 0);
    const { refused } = state;
    const grownMiB = memory.stop();
    return {
      ...ledger.report([CONSUMER]),
      seed,
      refused,
      grownMiB,
      longestResumeMs: Math.round(longestResumeMs),
    };
  } finally {
    state.running = false;
    memory.stop();
    ending.abort();
    await channel.close();
    await consuming;
    await database.close();
  }
}

const isAccepted = (channel: Channel, event: Parameters<Channel['publish']>[0]): Promise<boolean> =>
  channel.publish(event).then(
    () => true,
    () => false,
  );

async function consume(
  channel: Channel,
  ending: AbortSignal,
  delivered: (event: ReturnType<typeof eventIn>) => void,
): Promise<void> {
  while (!ending.aborted) {
    const deliveries = await channel.receive(CONSUMER, 64, LEASE_MS).catch(() => []);
    for (const delivery of deliveries) delivered(eventIn(delivery));
    // What is not acknowledged comes again.
    await Promise.all(deliveries.map(({ id }) => channel.ack(CONSUMER, id).catch(() => {})));
    if (deliveries.length === 0) await delay(5);
  }
}

function watchMemory(): { stop(): number } {
  const before = process.memoryUsage().rss;
  let worst = before;
  const timer = setInterval(() => {
    worst = Math.max(worst, process.memoryUsage().rss);
  }, 100);
  return {
    stop() {
      clearInterval(timer);
      return Math.round((worst - before) / 1_048_576);
    },
  };
}
