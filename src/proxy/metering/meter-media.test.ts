import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { MediaMeter } from './meter-media.ts';

/** Pushes `bytes` in pieces of these sizes, over and over. */
function metered(kind: 'json' | 'events' | 'other', bytes: Buffer, sizes: readonly number[]) {
  const meter = new MediaMeter(kind, ['b64_json', 'url']);
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    meter.push(bytes.subarray(at, at + size));
    at += size;
  }
  return meter.answer();
}

const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 5 });

test('items are counted however the answer is cut and spaced, and similar texts are not', () => {
  const image = fc.record({
    b64_json: fc.constantFrom('AAAA', '"b64_json":"', '\\', ''),
    revised_prompt: fc.constantFrom('url', '"url":"x"', 'b64_json', '🙂'),
    type: fc.constant('url'),
  });
  fc.assert(
    fc.property(fc.array(image, { maxLength: 6 }), sizes, fc.constantFrom(0, 1, 4), (data, cuts, space) => {
      const body = Buffer.from(JSON.stringify({ created: 1, data, url: null }, null, space));
      assert.equal(metered('json', body, cuts).counted, data.length);
    }),
  );
});

test('a small answer is kept whole, a large one by its two ends', () => {
  const small = Buffer.from('{"text":"hi"}');
  const answer = metered('json', small, [1]);
  assert.deepEqual([answer.head, answer.tail], [small, small]);
  const large = Buffer.alloc(1_000_000, 'a');
  large.write('first');
  large.write('last', large.length - 4);
  const { head, tail } = metered('json', large, [10_000]);
  assert.ok(head.toString().startsWith('first') && head.length < 20_000);
  assert.ok(tail.toString().endsWith('last') && tail.length >= 65_536 && tail.length < 80_000);
});

test('nothing is kept of bytes that are neither JSON nor events', () => {
  const { counted, head, tail } = metered('other', Buffer.from('"url":"x"'), [3]);
  assert.deepEqual([counted, head.length, tail.length], [0, 0, 0]);
});
