import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withinCpu } from '../../../test/support/machine/cpu.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { type Frame, splitFrames } from './sse.ts';

const framesOf = (text: string) => splitFrames(Buffer.from(text)).frames;

/** Feeds chunks as a reader of a socket does: what is left over goes before the next chunk. */
function feed(chunks: readonly Buffer[]): Frame[] {
  const frames: Frame[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for (const chunk of chunks) {
    const split = splitFrames(Buffer.concat([rest, chunk]));
    frames.push(...split.frames);
    rest = split.rest;
  }
  return frames;
}

describe('splitFrames', () => {
  const cases: [string, string, Frame[]][] = [
    ['a bare record', 'data: x\n\n', [{ event: '', data: 'x' }]],
    ['a named record', 'event: ping\ndata: {}\n\n', [{ event: 'ping', data: '{}' }]],
    ['a name after the data', 'data: 1\nevent: late\n\n', [{ event: 'late', data: '1' }]],
    ['no space after the colon', 'data:x\nevent:y\n\n', [{ event: 'y', data: 'x' }]],
    ['one space only of two', 'data:  x\n\n', [{ event: '', data: ' x' }]],
    ['several data lines', 'data: a\ndata: b\ndata:\n\n', [{ event: '', data: 'a\nb\n' }]],
    ['a field without a colon', 'event: e\nevent\ndata\n\n', [{ event: '', data: '' }]],
    ['CRLF', 'event: e\r\ndata: x\r\n\r\n', [{ event: 'e', data: 'x' }]],
    [
      'CR alone',
      'event: e\rdata: x\r\rdata: y\r\r',
      [
        { event: 'e', data: 'x' },
        { event: '', data: 'y' },
      ],
    ],
    [
      'mixed line ends',
      'data: a\r\n\ndata: b\n\r\n',
      [
        { event: '', data: 'a' },
        { event: '', data: 'b' },
      ],
    ],
    ['comments and unknown fields', ': hi\n\nid: 7\nretry: 5\n: x\ndata: x\n\n', [{ event: '', data: 'x' }]],
    ['a byte order mark', '\ufeffdata: x\n\n', [{ event: '', data: 'x' }]],
    ['a name without data', 'event: lonely\n\ndata: x\n\n', [{ event: '', data: 'x' }]],
    ['many blank lines', '\n\n\ndata: x\n\n\n\n', [{ event: '', data: 'x' }]],
    ['names that only begin like data', 'database: 1\ndata: x\n\n', [{ event: '', data: 'x' }]],
    ['no blank line', 'data: x\n', []],
    ['nothing', '', []],
  ];
  for (const [name, text, frames] of cases) {
    it(`reads ${name}`, () => assert.deepEqual(framesOf(text), frames));
  }

  it('keeps what is not complete', () => {
    const { frames, rest } = splitFrames(Buffer.from('data: a\n\nevent: b\ndata: c'));
    assert.equal(frames.length, 1);
    assert.equal(rest.toString(), 'event: b\ndata: c');
  });

  it('gives the last record of a stream whose lines end in CR alone', () => {
    const { frames, rest } = splitFrames(Buffer.from('data: x\r\r'));
    assert.deepEqual(frames, [{ event: '', data: 'x' }]);
    assert.equal(rest.length, 0);
  });

  it('does not take half of a CRLF for a blank line', () => {
    assert.deepEqual(feed([Buffer.from('data: a\r'), Buffer.from('\ndata: b\r\n\r'), Buffer.from('\n')]), [
      { event: '', data: 'a\nb' },
    ]);
  });

  it('gives the same records for every way to cut the bytes', () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data: ${text.replace(/[\r\n]/g, '')}`),
      fc.constantFrom('', '', 'data:é', 'event: 東京', ': note', 'data', 'id: 1', '\ufeffdata: x'),
    );
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 12 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(200), { maxLength: 8 }), (content, at) => {
        const bytes = Buffer.from(content.map(([text, end]) => text + end).join(''));
        const edges = [
          0,
          ...at.map((edge) => Math.min(edge, bytes.length)).sort((a, b) => a - b),
          bytes.length,
        ];
        const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
        assert.deepEqual(feed(chunks), splitFrames(bytes).frames);
      }),
      { numRuns: 500 },
    );
  });

  it('reads lines that end in LF alone like those that end otherwise', () => {
    const line = fc.constantFrom(
      ...['data: é', 'data:x', 'data', 'data: 東京', 'event: e', 'event', ': note', 'dat', 'data:  '],
      ...['', '', '', '\ufeff', '\ufeffdata: b', 'data: \ufeff', 'event:f'],
    );
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const [lf, crlf] = [`${lines.join('\n')}\n`, `${lines.join('\r\n')}\r\n`];
        assert.deepEqual(framesOf(lf), framesOf(crlf));
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads bytes that are no UTF-8 like the same in lines of another kind', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 6 }), { maxLength: 4 }), (texts) => {
        const record = (text: Uint8Array, end: string) => [
          Buffer.from('data: '),
          Buffer.from(text.filter((byte) => byte !== 10 && byte !== 13)),
          Buffer.from(end + end),
        ];
        const bytes = (end: string) => Buffer.concat(texts.flatMap((text) => record(text, end)));
        assert.deepEqual(splitFrames(bytes('\n')).frames, splitFrames(bytes('\r\n')).frames);
      }),
      { numRuns: 1_000 },
    );
  });

  it('reads a megabyte of short lines in time that grows with its length only', () => {
    const bytes = Buffer.from('data: {"choices":[]}\n\n'.repeat(50_000));
    // Searching for a CR from every line to the end of the bytes takes minutes.
    const { frames } = withinCpu(5_000, 'splitting', () => splitFrames(bytes));
    assert.equal(frames.length, 50_000);
  });
});
