import assert from 'node:assert/strict';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { numberedEvent } from '../support/events/event-trigger.ts';
import { waitFor } from '../support/gateway/gateway.ts';

export interface PoisonInput {
  readonly dataDir: string;
  /** The address of the channel. */
  readonly channel: string;
  readonly events: number;
  /** Whether the receiver also never answers some events. Each of those takes three times as long as a webhook may. */
  readonly hangs: boolean;
}

export interface PoisonReport {
  readonly delivered: number;
  readonly deadLetters: number;
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
      runtime_strategy: {retry_rule: {retry_max: 5, back_off_delay: PT0.01S}}
      dead_letter_strategy: {enable: true, retry_trigger_threshold: 2}
router_rules:
  routers:
    - {source_id: s, trigger_id: hook, channel_id: main}
`;

/** What becomes of an event by its number: the status of its dead letter, and how many attempts it had. */
interface Fate {
  readonly status: number | null;
  readonly reason: 'exhausted' | 'nonretryable';
  readonly attempts: number;
}

/**
 * Publishes events some of which their receiver fails, refuses or never answers.
 * @throws AssertionError when a healthy event is a dead letter, or a poisonous one is none, or had other attempts than it should
 */
export async function runPoison({ channel, dataDir, events, hangs }: PoisonInput): Promise<PoisonReport> {
  const attempts = new Map<string, number>();
  const fateOf = (id: string): Fate | null => {
    const rest = Number(id) % 50;
    if (rest === 7) return { status: 500, reason: 'exhausted', attempts: 3 };
    if (rest === 9) return { status: 400, reason: 'nonretryable', attempts: 1 };
    return hangs && rest === 11 ? { status: null, reason: 'exhausted', attempts: 3 } : null;
  };
  const receiver = await startEventReceiver(async ({ attributes: { id } }) => {
    attempts.set(id, (attempts.get(id) ?? 0) + 1);
    const fate = fateOf(id);
    if (fate?.status === null) await new Promise(() => {});
    return fate?.status ?? 204;
  });
  const engine = await startEngine(dataDir, yaml(receiver.url, channel));
  const ids = Array.from({ length: events }, (_, index) => String(index));
  try {
    for (const id of ids) await engine.publish('s', numberedEvent(id));
    await waitFor('all events', async () => {
      const [status] = (await engine.status()).triggers;
      const { deadLettered = 0, delivered = 0 } = status?.counters ?? {};
      return delivered + deadLettered === events;
    });
    for (const id of ids) assert.equal(attempts.get(id), fateOf(id)?.attempts ?? 1, `attempts of ${id}`);
    const { letters } = await engine.deadLetters.list({ limit: events });
    const found = letters
      .map((one) => [one.event?.attributes.id, one.reason, one.status, one.attempts])
      .sort((a, b) => Number(a[0]) - Number(b[0]));
    const expected = ids.flatMap((id) => {
      const fate = fateOf(id);
      return fate === null ? [] : [[id, fate.reason, fate.status, fate.attempts]];
    });
    assert.deepEqual(found, expected);
    return { delivered: events - expected.length, deadLetters: expected.length };
  } finally {
    await engine.close();
    await receiver.close();
  }
}
