import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { EngineProcess } from '../endurance/engine-process.ts';
import { createLedger, seeded } from '../endurance/ledger.ts';
import { hasPostgres, startPostgres } from '../support/brokers/postgres.ts';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

const EVENTS = 150;

const yaml = (url: string, receiver: string) => `components:
  channels:
    - {unique_id: main, url: "${url}", mq_topic_name: main}
    - {unique_id: second, url: "${url}", mq_topic_name: second}
  sources:
    - ref: {unique_id: s, kind: gateway}
  triggers:
    - ref: {unique_id: once, kind: http, name: "${receiver}/once"}
strategy:
  trigger_strategies:
    - {event_trigger_id: once, enable_idempotence: true}
router_rules:
  routers:
    - {source_id: s, trigger_id: once, channel_id: main}
    - {source_id: s, trigger_id: once, channel_id: second}
`;

describe('three gateways that share a channel and what they have handled', { skip: !hasPostgres }, () => {
  it('deliver each event once, however often it was sent', async (t) => {
    const server = await startPostgres(temporaryFolder(t));
    t.after(() => server.kill());
    const ledger = createLedger();
    const receiver = await startEventReceiver(async (event) => {
      ledger.delivered('once', event);
      // The others get it meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
      return 204;
    });
    t.after(() => receiver.close());
    const config = yaml(server.url, receiver.url);
    const program = new URL('../endurance/engine-process.ts', import.meta.url).pathname;
    const start = async () => {
      const input: EngineProcess = {
        dataDir: temporaryFolder(t),
        yaml: config,
        source: 's',
        first: 1,
        perSecond: 0,
        sharedDatabase: server.url,
      };
      const child = spawn(process.execPath, [program, JSON.stringify(input)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      t.after(() => child.kill('SIGKILL'));
      await once(child.stdout, 'data');
    };
    const [engine] = await Promise.all([
      startEngine(temporaryFolder(t), config, { sharedDatabase: server.url }),
      start(),
      start(),
    ]);
    t.after(() => engine.close());
    const random = seeded(6);
    let copies = 0;
    for (let index = 0; index < EVENTS; index += 1) {
      const event = ledger.next('s');
      const times = 1 + Math.floor(random() * 5);
      const results = await Promise.all(Array.from({ length: times }, () => engine.publish('s', event)));
      assert.ok(results.every((result) => result?.kind === 'accepted'));
      copies += times;
      ledger.accepted(event);
    }
    await waitFor('every copy to be settled', async () => {
      const { triggers } = await engine.status();
      const idle = triggers.every(({ consumers }) =>
        consumers.every(({ buffered, inFlight, waiting }) => buffered + inFlight + (waiting ?? 1) === 0),
      );
      return idle && ledger.missing('once').length === 0;
    });
    const { accepted, duplicates, lost } = ledger.report(['once']);
    t.diagnostic(JSON.stringify({ copies, accepted, lost, duplicates }));
    assert.deepEqual({ accepted, lost, duplicates }, { accepted: EVENTS, lost: 0, duplicates: 0 });
  });
});
