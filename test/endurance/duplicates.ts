import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport, seeded } from './ledger.ts';

export interface DuplicatesInput {
  readonly dataDir: string;
  /** The address of both channels. */
  readonly channel: string;
  /** Different events of each of three publishers. */
  readonly events: number;
  readonly restarts: number;
  readonly seed: number;
}

export interface DuplicatesReport {
  /** What was published, each repetition counted. */
  readonly published: number;
  /** At a trigger that knows events again. */
  readonly idempotent: LedgerReport;
  /** Deliveries at one that does not. NATS knows itself what is published twice. */
  readonly delivered: number;
}

const publishers = ['a', 'b', 'c'];

const yaml = (url: string, channel: string) => `components:
  channels:
    - {unique_id: main, url: "${channel}", mq_topic_name: main}
    - {unique_id: second, url: "${channel}", mq_topic_name: second}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: once, kind: http, name: "${url}/once"}
    - ref: {unique_id: each, kind: http, name: "${url}/each"}
strategy:
  trigger_strategies:
    - {event_trigger_id: once, enable_idempotence: true}
router_rules:
  routers:
    - {source_id: s, trigger_id: once, channel_id: main}
    - {source_id: s, trigger_id: once, channel_id: second}
    - {source_id: s, trigger_id: each, channel_id: main}
`;

/** Publishes every event once to five times, by three publishers into two channels, with restarts in between. */
export async function runDuplicates({
  channel,
  dataDir,
  events,
  restarts,
  seed,
}: DuplicatesInput): Promise<DuplicatesReport> {
  const random = seeded(seed);
  const ledger = createLedger();
  let delivered = 0;
  const receiver = await startEventReceiver((event, path) => {
    if (path === '/each') delivered += 1;
    else ledger.delivered('once', event);
    return 204;
  });
  let engine = await startEngine(dataDir, yaml(receiver.url, channel));
  let published = 0;
  const publish = async (publisher: string) => {
    for (let index = 0; index < events / (restarts + 1); index += 1) {
      const event = ledger.next(publisher);
      const times = 1 + Math.floor(random() * 5);
      const results = Array.from({ length: times }, () => engine.publish('s', event));
      for (const result of await Promise.all(results))
        if (result?.kind !== 'accepted') throw new Error(`An event was ${result?.kind}`);
      published += times;
      ledger.accepted(event);
    }
  };
  try {
    for (let restart = 0; restart <= restarts; restart += 1) {
      if (restart > 0) {
        await engine.close();
        engine = await startEngine(dataDir, yaml(receiver.url, channel));
      }
      await Promise.all(publishers.map(publish));
    }
    await waitFor('all deliveries', async () => {
      const status = (await engine.status()).triggers;
      const idle = status.every(({ consumers }) =>
        consumers.every(({ buffered, inFlight, waiting }) => buffered + inFlight + (waiting ?? 0) === 0),
      );
      return idle && ledger.missing('once').length === 0;
    });
    return { published, idempotent: ledger.report(['once']), delivered };
  } finally {
    await engine.close();
    await receiver.close();
  }
}
