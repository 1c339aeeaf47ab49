import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CloudEvent } from './event.ts';
import { nextHop } from './hops.ts';

const event = (more: Record<string, string | number> = {}): CloudEvent => ({
  attributes: { specversion: '1.0', id: '1', source: '/s', type: 't', ...more },
  data: Buffer.from('x'),
});

describe('an event that is passed on', () => {
  it('stays what it is, and counts how often', () => {
    const next = nextHop(event({ other: 'kept' }));
    assert.deepEqual(next, event({ other: 'kept', eventhops: 1 }));
  });

  it('is passed on eight times and no more, as a text too', () => {
    let passed: CloudEvent | null = event();
    for (let hops = 1; hops <= 8; hops += 1) {
      passed = nextHop(passed ?? event());
      assert.equal(passed?.attributes['eventhops'], hops);
    }
    assert.equal(nextHop(passed ?? event()), null);
    // Bindings with headers know only texts.
    assert.equal(nextHop(event({ eventhops: '8' })), null);
    assert.equal(nextHop(event({ eventhops: '7' }))?.attributes['eventhops'], 8);
  });

  it('counts from the start when the extension is something else', () => {
    for (const value of ['', 'many', -3, '1.5'])
      assert.equal(nextHop(event({ eventhops: value }))?.attributes['eventhops'], 1);
  });
});
