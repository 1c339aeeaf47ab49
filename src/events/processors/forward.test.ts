import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventIn } from '../../../test/support/events/cloud-event.ts';
import { createMemoryChannel } from '../channels/memory/memory-channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import { createForward } from './forward.ts';

const event = (more: Record<string, string | number> = {}): CloudEvent => ({
  attributes: { specversion: '1.0', id: '1', source: '/s', type: 't', eventsourceid: 'gw', ...more },
  data: Buffer.from('x'),
});

describe('passing events on', () => {
  it('publishes the event into the other channel without a source', async () => {
    const channel = createMemoryChannel({ now: () => 0 });
    await channel.subscribe('x');
    assert.deepEqual(await createForward(channel).process(event({ other: 'kept' })), { kind: 'done' });
    const [delivery] = await channel.receive('x', 9, 1);
    assert.ok(delivery);
    const { attributes, data } = eventIn(delivery);
    assert.equal(String(data), 'x');
    assert.deepEqual(
      [attributes['eventsourceid'], attributes['eventhops'], attributes['other']],
      [undefined, 1, 'kept'],
    );
  });

  it('refuses events that go round in circles for good', async () => {
    const channel = createMemoryChannel({ now: () => 0 });
    const outcome = await createForward(channel).process(event({ eventhops: 8 }));
    assert.equal(outcome.kind, 'failed');
    assert.equal((await channel.receive('x', 9, 1)).length, 0);
  });

  it('retries when the channel does not accept the event', async () => {
    const channel = createMemoryChannel({ now: () => 0, maxBytes: 1 });
    assert.equal((await createForward(channel).process(event())).kind, 'retry');
  });
});
