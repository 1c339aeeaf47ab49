import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { numberedEvent } from '../support/events/event-trigger.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

const HOURS_MS = 7_200_000;

const yaml = (url: string) => `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: main}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: slow, kind: http, name: "${url}/slow"}
    - ref: {unique_id: quick, kind: http, name: "${url}/quick"}
strategy:
  trigger_strategies:
    - event_trigger_id: slow
      runtime_strategy: {retry_rule: {retry_max: 5, back_off_delay: PT1H}}
    - event_trigger_id: quick
      enable_idempotence: true
      runtime_strategy: {retry_rule: {retry_max: 5, back_off_delay: PT0.01S}}
router_rules:
  routers:
    - {source_id: s, trigger_id: slow, channel_id: main}
    - {source_id: s, trigger_id: quick, channel_id: main}
`;

describe("a jump of the system's clock", () => {
  for (const [where, jump] of [
    ['ahead', HOURS_MS],
    ['back', -HOURS_MS],
  ] as const)
    it(`two hours ${where} makes no retry early or late`, async (t) => {
      const attempts = new Map<string, number>();
      const of = (path: string, id: string) => attempts.get(`${path} ${id}`) ?? 0;
      const receiver = await startEventReceiver(({ attributes: { id } }, path) => {
        attempts.set(`${path} ${id}`, of(path, id) + 1);
        return path === '/slow' || of(path, id) < 3 ? 503 : 204;
      });
      t.after(() => receiver.close());
      const engine = await startEngine(temporaryFolder(t), yaml(receiver.url));
      t.after(() => engine.close());
      const publish = (id: string) => engine.publish('s', numberedEvent(id));
      const arrived = (id: string) =>
        waitFor(`event ${id}`, () => of('/slow', id) > 0 && of('/quick', id) === 3);
      await publish('1');
      await arrived('1');
      const system = Date.now;
      t.mock.method(Date, 'now', () => system() + jump);
      await publish('2');
      await arrived('2');
      // It is known again, although its day seems to be over.
      await publish('1');
      await publish('3');
      await arrived('3');
      assert.deepEqual([of('/slow', '2'), of('/quick', '1')], [1, 3]);
      assert.equal(of('/slow', '1'), 2, 'the first attempt of each message');
    });
});
