import assert from 'node:assert/strict';
import type { PrivateBroker } from '../support/brokers/server-process.ts';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { createLedger, type LedgerReport } from './ledger.ts';

export interface DeadLetterFaultsInput {
  readonly dataDir: string;
  /** The address of the channel that the events come by. */
  readonly channel: string;
  /** Where the dead letters go. It is killed, and started again. */
  readonly letters: PrivateBroker;
  /** Events before the server of the dead letters is killed, and again while it is down. */
  readonly events: number;
}

export interface DeadLetterFaultsReport extends LedgerReport {
  /** Dead letters while their server was down, of those that came then. */
  readonly keptWhileDown: number;
  readonly replayed: number;
  /** Deliveries of replayed events beyond the first. */
  readonly replayedTwice: number;
}

const yaml = (url: string, channel: string, letters: string) => `components:
  channels:
    - {unique_id: main, url: "${channel}", mq_topic_name: main}
    - {unique_id: failed, url: "${letters}", mq_topic_name: failed}
  sources:
    - ref: {unique_id: s, kind: gateway}
    - ref: {unique_id: from-failed, kind: channel, name: failed}
  triggers:
    - ref: {unique_id: hook, kind: http, name: "${url}/hook"}
    - ref: {unique_id: letters, kind: http, name: "${url}/letters"}
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      dead_letter_strategy: {enable: true, channel: {unique_id: failed}}
    - event_trigger_id: letters
      enable_idempotence: true
      runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.05S}}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
    - {source_id: from-failed, trigger_id: letters, channel_id: failed}
`;

/** Refuses every event while the server of the dead letters is killed and started again, and replays all of them in the end. */
export async function runDeadLetterFaults(input: DeadLetterFaultsInput): Promise<DeadLetterFaultsReport> {
  const { channel, dataDir, events, letters: server } = input;
  const ledger = createLedger();
  let refuses = true;
  const taken = new Map<string, number>();
  const receiver = await startEventReceiver((event, path) => {
    const { id } = event.attributes;
    if (path === '/letters') ledger.delivered('letters', event);
    else if (refuses) return 400;
    else taken.set(id, (taken.get(id) ?? 0) + 1);
    return 204;
  });
  const engine = await startEngine(dataDir, yaml(receiver.url, channel, server.url));
  const publish = async () => {
    for (let count = 0; count < events; count += 1) {
      const event = ledger.next('s');
      assert.equal((await engine.publish('s', event))?.kind, 'accepted');
      ledger.accepted(event);
    }
  };
  const hook = async () => (await engine.status()).triggers.find(({ id }) => id === 'hook');
  const deadLettered = async () => (await hook())?.counters.deadLettered ?? 0;
  const waiting = async () => {
    const [consumer] = (await hook())?.consumers ?? [];
    return (consumer?.waiting ?? 0) + (consumer?.buffered ?? 0) + (consumer?.inFlight ?? 0);
  };
  try {
    await publish();
    await waitFor('the first dead letters', () => ledger.missing('letters').length === 0);
    await server.kill();
    const before = await deadLettered();
    await publish();
    await waitFor(
      'a trigger that waits',
      async () => (await hook())?.paused?.reason === 'dead-letters-unavailable',
    );
    const keptWhileDown = (await deadLettered()) - before;
    assert.equal((await waiting()) + keptWhileDown, events, 'no event is let go without its dead letter');
    await server.start();
    await waitFor('all dead letters', () => ledger.missing('letters').length === 0);
    await waitFor(
      'a trigger that goes on',
      async () => (await hook())?.paused === null && (await waiting()) === 0,
    );
    refuses = false;
    const replayed = await engine.deadLetters.replayAll({});
    await waitFor('all replayed events', () => taken.size === replayed);
    await waitFor('all deliveries', async () => (await hook())?.counters.delivered === replayed);
    const replayedTwice = [...taken.values()].filter((times) => times > 1).length;
    return { ...ledger.report(['letters']), keptWhileDown, replayed, replayedTwice };
  } finally {
    await engine.close();
    await receiver.close();
  }
}
