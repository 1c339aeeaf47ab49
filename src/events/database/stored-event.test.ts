import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cloudEvent, comparable } from '../../../test/support/events/cloud-event.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { eventOfStored, storedEvent } from './stored-event.ts';

describe('a stored event', () => {
  it('is read as it was, byte by byte', () => {
    fc.assert(
      fc.property(cloudEvent, (event) => {
        const read = eventOfStored(storedEvent(event));
        assert.ok(read);
        assert.deepEqual(comparable(read), comparable(event));
      }),
    );
  });

  it('distinguishes missing data from empty data', () => {
    const attributes = { specversion: '1.0', id: '1', source: '/a', type: 't' } as const;
    assert.equal(eventOfStored(storedEvent({ attributes, data: null }))?.data, null);
    assert.equal(eventOfStored(storedEvent({ attributes, data: Buffer.alloc(0) }))?.data?.byteLength, 0);
  });

  it('rejects everything else', () => {
    for (const text of ['', 'x', 'null', '[]', '{"id":"1"}', '{', '\0{"specversion":"1.0"}'])
      assert.equal(eventOfStored(Buffer.from(text)), null, text);
  });
});
