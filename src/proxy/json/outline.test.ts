import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { JsonOutline } from './outline.ts';

function outlineOf(text: string, size = 65_536): JsonOutline {
  const bytes = Buffer.from(text);
  const outline = new JsonOutline();
  for (let at = 0; at < bytes.length; at += size) outline.push(bytes.subarray(at, at + size));
  return outline;
}

const read = (outline: JsonOutline): unknown => JSON.parse(outline.whole().toString());

describe('the outline of a JSON document', () => {
  it('has all of a small one, wherever its pieces end', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const document = { value };
        const text = JSON.stringify(document, null, 2);
        assert.deepEqual(read(outlineOf(text, size)), JSON.parse(text));
      }),
    );
  });

  it('has long strings as empty ones, and counts those that are text', () => {
    const words = 'two words, \\ and "quotes"\n'.repeat(1_000);
    const image = 'aGVsbG8'.repeat(10_000);
    const text = JSON.stringify({ words, image, more: [{ words }], usage: { total: 1 } });
    for (const size of [97, 4_096, text.length]) {
      const outline = outlineOf(text, size);
      assert.deepEqual(read(outline), { words: '', image: '', more: [{ words: '' }], usage: { total: 1 } });
      const written = 2 * (JSON.stringify(words).length - 2);
      assert.ok(Math.abs(outline.omittedTextBytes - written) <= written / 20, `pieces of ${size}`);
    }
  });

  it('is small where the document is large, and has the fields of the root after that', () => {
    const numbers = Array.from({ length: 3_000 }, (_, index) => index / 7);
    const data = Array.from({ length: 200 }, (_, index) => ({ index, embedding: numbers }));
    const text = JSON.stringify({ data, model: 'm', usage: { prompt: 1, details: { cached: 2 } } });
    assert.ok(text.length > 8 * 1_048_576);
    const outline = outlineOf(text);
    assert.ok(outline.whole().length < 262_144);
    const { model, usage } = read(outline) as Record<string, unknown>;
    assert.deepEqual({ model, usage }, { model: 'm', usage: { prompt: 1, details: { cached: 2 } } });
  });

  it('is closed if the document breaks off', () => {
    assert.deepEqual(read(outlineOf('{"usage":{"input":3},"content":[{"text":"half a sen')), {
      usage: { input: 3 },
      content: [{ text: 'half a sen' }],
    });
  });

  it('is bounded for invalid JSON, and for any depth', () => {
    for (const text of [
      '['.repeat(4_000_000),
      '1'.repeat(4_000_000),
      '{"a":1,'.repeat(600_000),
      '"'.repeat(3_000_000),
    ])
      assert.ok(outlineOf(text).whole().length < 2_200_000);
  });
});
