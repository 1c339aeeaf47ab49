import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport } from './ledger.ts';

export interface SlowConsumerInput {
  readonly dataDir: string;
  /** The address of the channel. */
  readonly channel: string;
  readonly bufferSize: number;
  /** What the receiver takes for each event, in milliseconds. */
  readonly answerMs: number;
  readonly events: number;
}

export interface SlowConsumerReport extends LedgerReport {
  /** Events that were in hand at most. */
  readonly mostHeld: number;
  /** How much larger the process became, in MiB, once all was published. */
  readonly grownMiB: number;
  readonly seconds: number;
}

const yaml = (url: string, channel: string, bufferSize: number) => `components:
  channels:
    - {unique_id: main, url: "${channel}", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
strategy:
  trigger_strategies:
    - {event_trigger_id: hook, receive_buffer_size: ${bufferSize}}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
`;

/** Publishes as fast as it goes for a receiver that is slow: what waits in hand must stay there, and stay bounded. */
export async function runSlowConsumer(input: SlowConsumerInput): Promise<SlowConsumerReport> {
  const { answerMs, bufferSize, channel, dataDir, events } = input;
  const ledger = createLedger(512);
  const receiver = await startEventReceiver(async (event) => {
    ledger.delivered('hook', event);
    await new Promise((resolve) => setTimeout(resolve, answerMs));
    return 204;
  });
  const engine = await startEngine(dataDir, yaml(receiver.url, channel, bufferSize));
  const begun = performance.now();
  let mostHeld = 0;
  try {
    const before = process.memoryUsage().rss;
    for (let sent = 0; sent < events; ) {
      const batch = Array.from({ length: Math.min(500, events - sent) }, () => ledger.next('s'));
      for (const [index, result] of (
        await Promise.all(batch.map((event) => engine.publish('s', event)))
      ).entries()) {
        const event = batch[index];
        if (event !== undefined && result?.kind === 'accepted') ledger.accepted(event);
      }
      sent += batch.length;
    }
    const grownMiB = Math.round((process.memoryUsage().rss - before) / 1_048_576);
    await waitFor('all events', async () => {
      const [hook] = (await engine.status()).triggers;
      const held = hook?.consumers.map(({ buffered, inFlight }) => buffered + inFlight) ?? [];
      mostHeld = Math.max(mostHeld, ...held);
      return (hook?.counters.delivered ?? 0) >= events;
    });
    const seconds = Math.round((performance.now() - begun) / 1_000);
    return { ...ledger.report(['hook']), mostHeld, grownMiB, seconds };
  } finally {
    await engine.close();
    await receiver.close();
  }
}
