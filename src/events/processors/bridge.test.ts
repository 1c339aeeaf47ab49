import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { PublishResult } from '../engine/publishing/publisher.ts';
import { createBridge } from './bridge.ts';

const event = (more: Record<string, string | number> = {}): CloudEvent => ({
  attributes: { specversion: '1.0', id: '1', source: '/s', type: 't', ...more },
  data: null,
});

async function outcomeOf(result: PublishResult | null, of = event()) {
  const published: CloudEvent[] = [];
  const bridge = createBridge((one) => {
    published.push(one);
    return result === null ? null : Promise.resolve(result);
  });
  return { ...(await bridge.process(of)), hops: published.map(({ attributes }) => attributes['eventhops']) };
}

describe('a bridge', () => {
  it('settles an event that the source has accepted', async () => {
    for (const kind of ['accepted', 'spooled', 'dropped'] as const) {
      const { hops, kind: outcome } = await outcomeOf({ kind });
      assert.deepEqual([outcome, hops], ['done', [1]]);
    }
  });

  it('retries when the source cannot accept the event now, and not when it never will', async () => {
    const later = await outcomeOf({ kind: 'rejected', reason: 'full', retryAfterMs: 7_000 });
    assert.ok(later.kind === 'retry' && later.afterMs === 7_000);
    assert.equal((await outcomeOf(null)).kind, 'retry');
    const never = await outcomeOf({ kind: 'rejected', reason: 'too_large', retryAfterMs: null });
    assert.equal(never.kind, 'failed');
  });

  it('does not forward events that go round in circles', async () => {
    const { hops, kind } = await outcomeOf({ kind: 'accepted' }, event({ eventhops: '8' }));
    assert.deepEqual([kind, hops], ['failed', []]);
  });
});
