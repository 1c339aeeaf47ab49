import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { responsesStream } from '../../../test/support/upstream/answers.ts';
import { codecOf } from '../../codecs/index.ts';
import { measureStream, Tap } from './meter.ts';

const record = (text: string, lineEnd = '\n') =>
  Buffer.from(`event: e${lineEnd}data: ${text}${lineEnd}${lineEnd}`);

function tapOf(pieces: Iterable<Buffer>): Tap {
  const tap = new Tap('sse');
  for (const piece of pieces) tap.push(piece);
  return tap;
}

function* piecesOf(bytes: Buffer, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

describe('the tap on a stream', () => {
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    const name = JSON.stringify(lineEnd);
    const small = Buffer.concat(
      Array.from({ length: 2000 }, (_, index) => record(`small ${index}`, lineEnd)),
    );
    const long = record(`"${'x'.repeat(300_000)}"`, lineEnd);
    const last = record('[DONE]', lineEnd);

    it(`keeps a long last record whole, with line ends ${name}`, () => {
      for (const size of [100, 1400, 65_536, 1_000_000]) {
        const tap = tapOf(piecesOf(Buffer.concat([small, long, last]), size));
        assert.ok(tap.tail().includes(Buffer.concat([long, last])), `in pieces of ${size}`);
        assert.equal(tap.bytes, small.length + long.length + last.length);
        assert.equal(tap.endsFrame(), true);
      }
    });

    it(`releases a long record once others have followed, with line ends ${name}`, () => {
      const tap = tapOf(piecesOf(Buffer.concat([small, long, small]), 100));
      assert.ok(tap.tail().length >= 4096);
      assert.ok(tap.tail().length < 16_384, `${tap.tail().length}`);
    });
  }

  it('keeps few bytes of a stream of small records', () => {
    const tap = tapOf(Array.from({ length: 10_000 }, (_, index) => record(`text ${index}`)));
    assert.ok(tap.tail().length >= 4096);
    assert.ok(tap.tail().length < 8192 + 100, `${tap.tail().length}`);
    assert.ok(tap.head().length < 4096 + 100);
  });

  it('keeps a bounded part of a record without end', () => {
    const piece = Buffer.alloc(65_536, 'x');
    const tap = tapOf(Array.from({ length: 512 }, () => piece));
    assert.ok(tap.tail().length <= 4 * 1024 * 1024 + piece.length, `${tap.tail().length}`);
    assert.equal(tap.endsFrame(), false);
  });

  it('keeps a bounded number of pieces, however small they are', () => {
    const piece = Buffer.from('x');
    const tap = tapOf(Array.from({ length: 200_000 }, () => piece));
    assert.ok(tap.tail().length < 40_000, `${tap.tail().length}`);
  });

  it('finds the end of a record that came byte by byte', () => {
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const tap = new Tap('sse');
      const bytes = record('a', lineEnd);
      for (const piece of piecesOf(bytes.subarray(0, -1), 1)) tap.push(piece);
      assert.equal(tap.endsFrame(), false, JSON.stringify(lineEnd));
      tap.push(bytes.subarray(-1));
      assert.equal(tap.endsFrame(), true, JSON.stringify(lineEnd));
    }
  });
});

describe('the usage of a stream that was cut', () => {
  const codec = codecOf('openai-responses');
  /** The events before the content repeat the request, as the vendor's do. */
  const cut = (words: readonly string[]): Buffer => {
    const { content, preamble } = responsesStream({ text: [...words, 'never sent'] });
    const long = preamble.replaceAll('"tools":[]', `"tools":[],"instructions":"${'i'.repeat(10_000)}"`);
    return Buffer.from(long + content.slice(0, words.length).join(''));
  };
  const outputOf = (bytes: Buffer): number => {
    const tap = tapOf(piecesOf(bytes, 1400));
    const facts = { usage: null, end: 'cut', error: null } as const;
    const { estimated, usage } = measureStream(codec, tap, facts, 7);
    assert.deepEqual([estimated, usage?.input], [true, 7]);
    return usage?.output ?? 0;
  };

  it('is no less than what was written, however long the events before it are', () => {
    const words = ['One ', 'word '.repeat(40), 'last'];
    const written = words.join('').length / 4;
    const output = outputOf(cut(words));
    assert.ok(output >= written && output < written * 2, `${output} of ${written}`);
  });

  it('is close to the truth when most of it has passed', () => {
    const words = Array.from({ length: 3000 }, (_, index) => `word ${index} `);
    const written = words.join('').length / 4;
    const output = outputOf(cut(words));
    assert.ok(output > written * 0.5 && output < written * 1.5, `${output} of ${written}`);
  });
});
