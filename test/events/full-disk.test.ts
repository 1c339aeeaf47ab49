import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { canMount, fillDisk, mountSmallDisk, runFullDisk } from '../endurance/full-disk.ts';
import { startEngine } from '../support/events/event-engine.ts';
import { startEventReceiver } from '../support/events/event-receiver.ts';
import { numberedEvent } from '../support/events/event-trigger.ts';
import { waitFor } from '../support/gateway/gateway.ts';

/** Shortened runs of test/endurance/full-disk.ts. */

/** Unmounted before its folder is removed. */
function smallDisk(t: TestContext, mebibytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-disk-'));
  const unmount = mountSmallDisk(folder, mebibytes);
  t.after(() => {
    unmount();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

describe('an engine whose disk is full', { skip: canMount ? false : 'only root may mount a disk' }, () => {
  it('refuses events, delivers those that it has, and takes others again', async (t) => {
    const folder = smallDisk(t, 40);
    const run = { storage: 'none', othersFillIt: false, events: 250, eventsAfter: 20 } as const;
    const report = await runFullDisk({ ...run, folder });
    t.diagnostic(JSON.stringify(report));
    const { acceptedAgain, corrupt, counted, duplicates, lost, notAccepted, phantoms } = report;
    assert.deepEqual(
      { lost, duplicates, phantoms, corrupt, acceptedAgain },
      { lost: 0, duplicates: 0, phantoms: 0, corrupt: 0, acceptedAgain: 20 },
    );
    assert.ok(notAccepted > 0);
    assert.equal(counted, notAccepted);
  });

  it('counts each event that its storage drops, and loses none that it has accepted', async (t) => {
    const folder = smallDisk(t, 56);
    // More bytes than the storage and the channel have room for together, however fast one empties into the other.
    const run = { storage: 'drop', othersFillIt: false, events: 700, eventsAfter: 20 } as const;
    const report = await runFullDisk({ ...run, folder });
    t.diagnostic(JSON.stringify(report));
    const { acceptedAgain, counted, lost, notAccepted } = report;
    assert.deepEqual({ lost, acceptedAgain }, { lost: 0, acceptedAgain: 20 });
    assert.ok(notAccepted > 0);
    assert.equal(counted, notAccepted);
  });

  it('starts, and takes events as soon as there is room', async (t) => {
    const folder = smallDisk(t, 40);
    const other = join(folder, 'other');
    fillDisk(other, folder);
    const received: string[] = [];
    const receiver = await startEventReceiver(({ attributes: { id } }) => {
      received.push(id);
      return 204;
    });
    t.after(() => receiver.close());
    const engine = await startEngine(
      folder,
      `components:
  channels: [{unique_id: main, url: "sqlite:", mq_topic_name: main}]
  sources: [{ref: {unique_id: s, kind: gateway}}]
  triggers: [{ref: {unique_id: hook, kind: http, name: "${receiver.url}/hook"}}]
router_rules:
  routers: [{source_id: s, trigger_id: hook, channel_id: main}]
`,
    );
    t.after(() => engine.close());
    assert.equal((await engine.publish('s', numberedEvent('early')))?.kind, 'rejected');
    rmSync(other);
    await waitFor(
      'room',
      async () => (await engine.publish('s', numberedEvent('late')))?.kind === 'accepted',
    );
    await waitFor('the event', () => received.includes('late'));
    assert.ok(!received.includes('early'));
  });
});
