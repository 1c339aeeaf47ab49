import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport } from './ledger.ts';

export interface OrderInput {
  readonly dataDir: string;
  /** The address of the channel. */
  readonly channel: string;
  /** Events of each of eight publishers, before a restart of the engine and again after it. */
  readonly events: number;
}

export interface OrderReport extends LedgerReport {
  /** Events that were with the receiver at a time. */
  readonly mostAtOnce: number;
}

const yaml = (url: string, channel: string) => `components:
  channels:
    - {unique_id: main, url: "${channel}", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      runtime_strategy: {concurrency_limit_strateg: {max_concurrency: 1}}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
`;

/** Publishes for a trigger that handles one event at a time, with a restart in between. */
export async function runOrder({ channel, dataDir, events }: OrderInput): Promise<OrderReport> {
  const ledger = createLedger();
  let atOnce = 0;
  let mostAtOnce = 0;
  const receiver = await startEventReceiver(async (event) => {
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await new Promise((resolve) => setImmediate(resolve));
    ledger.delivered('hook', event);
    atOnce -= 1;
    return 204;
  });
  const start = () => startEngine(dataDir, yaml(receiver.url, channel));
  let engine = await start();
  const publish = async (publisher: string) => {
    for (let index = 0; index < events; index += 1) {
      const event = ledger.next(publisher);
      const result = await engine.publish('s', event);
      if (result?.kind !== 'accepted') throw new Error(`An event was ${result?.kind}`);
      ledger.accepted(event);
    }
  };
  const publishers = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  try {
    await Promise.all(publishers.map(publish));
    await engine.close();
    engine = await start();
    await Promise.all(publishers.map(publish));
    await waitFor('all events', () => ledger.missing('hook').length === 0);
    return { ...ledger.report(['hook']), mostAtOnce };
  } finally {
    await engine.close();
    await receiver.close();
  }
}
