import { setTimeout as delay } from 'node:timers/promises';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { delayedPort } from '../support/upstream/delayed-port.ts';
import { createLedger, type LedgerReport } from './ledger.ts';

/**
 * `stopped`: the server's process is stopped, its connections stay. `cut`: every connection is ended, and new ones are refused.
 * `half-open`: nothing passes on the connections that are open, and nobody is told. `slow`: a round trip takes 200 ms more.
 */
export type NetworkFault = 'stopped' | 'cut' | 'half-open' | 'slow';

export interface NetworkFaultsInput {
  readonly dataDir: string;
  readonly server: PrivateBroker;
  readonly fault: NetworkFault;
  readonly faultMs: number;
  readonly perSecond: number;
}

export interface NetworkFaultsReport extends LedgerReport {
  /** What a publisher waited until the storage had its event, during the fault: the 99th of a hundred, in milliseconds. */
  readonly enqueueP99Ms: number;
  /** From the end of the fault to the next delivery. */
  readonly resumedAfterMs: number;
  /** How much larger the process was at its worst than before the fault. */
  readonly grownMiB: number;
}

const ROUND_TRIP_MS = 200;
const TICK_MS = 10;

const yaml = (url: string, channel: string) => `components:
  channels:
    - {unique_id: main, url: "${channel}", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
strategy:
  source_strategies:
    - {event_source_id: s, async_send: true, fault_tolerant_storage: {persistence_type: LFS}}
  trigger_strategies:
    - event_trigger_id: hook
      enable_idempotence: true
      runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.05S}}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
`;

/** An engine whose source does not wait for its channel, while the network between it and the server is disturbed. */
export async function runNetworkFault(input: NetworkFaultsInput): Promise<NetworkFaultsReport> {
  const { dataDir, fault, faultMs, perSecond, server } = input;
  const ledger = createLedger();
  let deliveredAt = 0;
  const receiver = await startEventReceiver((event) => {
    deliveredAt = performance.now();
    ledger.delivered('hook', event);
    return 204;
  });
  const network = await delayedPort(() => server.port);
  const address = server.url.replace(`:${server.port}`, `:${network.port}`);
  const engine = await startEngine(dataDir, yaml(receiver.url, address));
  const enqueueMs: number[] = [];
  let disturbed = false;
  let publishing = true;
  const publish = async () => {
    const event = ledger.next('s');
    const begun = performance.now();
    const result = await engine.publish('s', event);
    if (disturbed) enqueueMs.push(performance.now() - begun);
    if (result?.kind === 'accepted') ledger.accepted(event);
  };
  const publisher = (async () => {
    for (let due = performance.now(); publishing; due += TICK_MS) {
      const count = Math.ceil((perSecond * TICK_MS) / 1_000);
      await Promise.all(Array.from({ length: count }, publish));
      await delay(Math.max(1, due + TICK_MS - performance.now()));
    }
  })();
  try {
    await waitFor('deliveries', () => deliveredAt > 0);
    const before = process.memoryUsage().rss;
    let largest = before;
    const begin = () => {
      if (fault === 'stopped') server.pause();
      if (fault === 'slow') network.delayMs = ROUND_TRIP_MS;
      if (fault === 'half-open') network.silence();
      network.refuses = fault === 'cut';
      if (fault === 'cut') network.cut();
    };
    const end = () => {
      if (fault === 'stopped') server.resume();
      network.delayMs = 0;
      network.refuses = false;
    };
    begin();
    disturbed = true;
    for (let passed = 0; passed < faultMs; passed += 100) {
      await delay(100);
      largest = Math.max(largest, process.memoryUsage().rss);
    }
    end();
    disturbed = false;
    const ended = performance.now();
    await waitFor('the next delivery', () => deliveredAt > ended);
    const resumedAfterMs = Math.round(deliveredAt - ended);
    publishing = false;
    await publisher;
    await waitFor('all events', () => ledger.missing('hook').length === 0);
    enqueueMs.sort((a, b) => a - b);
    return {
      ...ledger.report(['hook']),
      enqueueP99Ms: Math.round((enqueueMs[Math.floor(enqueueMs.length * 0.99)] ?? 0) * 10) / 10,
      resumedAfterMs,
      grownMiB: Math.round((largest - before) / 1_048_576),
    };
  } finally {
    publishing = false;
    await engine.close();
    await network.close();
    await receiver.close();
  }
}
