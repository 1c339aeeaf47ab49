import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startEngine } from '../support/event-engine.ts';
import { startEventReceiver } from '../support/event-receiver.ts';
import { numberedEvent } from '../support/event-trigger.ts';
import { temporaryFolder } from '../support/folder.ts';
import { waitFor } from '../support/gateway.ts';

const yaml = (url: string) => `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
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

describe('events that their receiver cannot take, among others', () => {
  it('are dead letters after exactly as many attempts as they have, and no other event is', async (t) => {
    const attempts = new Map<string, number>();
    const statusOf = (id: string) => {
      if (Number(id) % 50 === 7) return 500;
      return Number(id) % 50 === 9 ? 400 : 204;
    };
    const receiver = await startEventReceiver(({ attributes: { id } }) => {
      attempts.set(id, (attempts.get(id) ?? 0) + 1);
      return statusOf(id);
    });
    t.after(() => receiver.close());
    const engine = await startEngine(temporaryFolder(t), yaml(receiver.url));
    t.after(() => engine.close());
    const ids = Array.from({ length: 250 }, (_, index) => String(index));
    for (const id of ids) await engine.publish('s', numberedEvent(id));
    await waitFor('all events', async () => {
      const [status] = (await engine.status()).triggers;
      const { deadLettered = 0, delivered = 0 } = status?.counters ?? {};
      return delivered + deadLettered === 250;
    });
    const expected: Record<number, number> = { 204: 1, 400: 1, 500: 3 };
    for (const id of ids) assert.equal(attempts.get(id), expected[statusOf(id)], id);
    const { letters } = await engine.deadLetters.list({ limit: 999 });
    assert.deepEqual(
      letters
        .map(({ attempts: made, event, reason, status }) => [event?.attributes.id, reason, status, made])
        .sort((a, b) => Number(a[0]) - Number(b[0])),
      ids.flatMap((id) => {
        if (statusOf(id) === 500) return [[id, 'exhausted', 500, 3]];
        return statusOf(id) === 400 ? [[id, 'nonretryable', 400, 1]] : [];
      }),
    );
  });
});
