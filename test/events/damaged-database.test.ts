import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { runHere } from '../cli/run.ts';
import { createLedger, numbered } from '../endurance/ledger.ts';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { waitFor } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

const EVENTS = 300;
const PAGE_BYTES = 4_096;

const yaml = (url: string) => `components:
  channels: [{unique_id: main, url: "sqlite:", mq_topic_name: main}]
  sources: [{ref: {unique_id: s, kind: gateway}}]
  triggers: [{ref: {unique_id: hook, kind: http, name: "${url}/hook"}}]
strategy:
  trigger_strategies:
    - event_trigger_id: hook
      enable_idempotence: true
      runtime_strategy: {retry_rule: {retry_max: 1000, back_off_delay: PT0.05S}}
router_rules:
  routers: [{source_id: s, trigger_id: hook, channel_id: main}]
`;

describe('a database of events that is damaged', () => {
  it('is not used, is reported with the fix, and keeps its events through a repair', async (t) => {
    const ledger = createLedger(512);
    let takes = false;
    const receiver = await startEventReceiver((event) => {
      if (takes) ledger.delivered('hook', event);
      return takes ? 204 : 503;
    });
    t.after(() => receiver.close());
    const dataDir = temporaryFolder(t);
    const file = join(dataDir, 'events.db');
    const before = await startEngine(dataDir, yaml(receiver.url));
    for (let count = 0; count < EVENTS; count += 1) {
      const event = ledger.next('s');
      assert.equal((await before.publish('s', event))?.kind, 'accepted');
      ledger.accepted(event);
    }
    await before.close();
    const bytes = readFileSync(file);
    const at = bytes.indexOf(Buffer.from(numbered('s', EVENTS / 2, 512).data ?? []));
    assert.ok(at > 0);
    const page = Math.floor(at / PAGE_BYTES) * PAGE_BYTES;
    writeFileSync(file, bytes.fill(0, page, page + PAGE_BYTES));

    takes = true;
    const damaged = await startEngine(dataDir, yaml(receiver.url));
    await waitFor('the damage', () => damaged.problems().some((problem) => /is damaged/.test(problem)));
    const [problem = ''] = damaged.problems();
    assert.ok(problem.includes(`gateway events repair ${file}`), problem);
    assert.equal((await damaged.publish('s', ledger.next('s')))?.kind, 'rejected');
    await damaged.close();

    const repaired = await runHere(['events', 'repair', '--data-dir', dataDir, '--json']);
    assert.equal(repaired.code, 0, repaired.stderr);
    const { events, lost, moved_to } = JSON.parse(repaired.stdout);
    assert.ok(events >= EVENTS * 0.9 && lost > 0, repaired.stdout);
    assert.ok(readdirSync(dataDir).some((name) => moved_to.endsWith(name)));
    const after = await startEngine(dataDir, yaml(receiver.url));
    t.after(() => after.close());
    await waitFor('the other events', () => ledger.missing('hook').length <= lost);
    const { corrupt, phantoms } = ledger.report(['hook']);
    assert.deepEqual({ corrupt, phantoms }, { corrupt: 0, phantoms: 0 });
    const event = ledger.next('s');
    assert.equal((await after.publish('s', event))?.kind, 'accepted');
  });
});
