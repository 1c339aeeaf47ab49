import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { answers, settled } from '../../../../test/support/formats/arbitrary.ts';
import { replaced } from '../../../../test/support/formats/damaged-requests.ts';
import { fc } from '../../../../test/support/machine/properties.ts';
import { splitFrames } from '../../../lib/streams/sse.ts';
import { listOf, objectOf } from '../../json/values.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { gemini } from '../codec.ts';
import { assemble, encodeFramesOf } from './assemble.ts';
import { reader } from './reader.ts';
import { writer } from './writer.ts';

/** An answer with the encrypted reasoning that the format has. */
const geminiAnswers = answers('gemini', { interleave: true }).map((parts) =>
  parts.map((part): StreamPart => {
    if (part.type !== 'reasoning-end' || part.encrypted === null) return part;
    return { ...part, encrypted: { ...part.encrypted, kind: 'signature' } };
  }),
);
const { stream } = gemini;
assert.ok(stream !== null);

const context = {
  id: 'req_0m1',
  model: 'a',
  startedAt: 1_790_000_000_000,
  includeUsage: true,
  request: { generationConfig: { thinkingConfig: { includeThoughts: true } } },
};
const written = (parts: readonly StreamPart[]) => {
  const target = writer(context);
  return encodeFrames(parts.flatMap((part) => target.push(part)));
};
const readFrames = (frames: readonly { event: string; data: string }[]) => {
  const source = reader();
  return [...frames.flatMap((frame) => source.push(frame)), ...source.end()];
};
const framesOf = (text: string | Buffer) => splitFrames(Buffer.from(text)).frames;
const readBack = (text: string | Buffer) => readFrames(framesOf(text));

const fixtures = readdirSync(new URL('../fixtures/', import.meta.url))
  .filter((name) => name.endsWith('.sse'))
  .map((name) => ({ name, bytes: readFileSync(new URL(`../fixtures/${name}`, import.meta.url)) }));
const complete = fixtures.filter(({ bytes }) => readBack(bytes).at(-1)?.type !== 'error');

interface Block {
  kind: 'text' | 'reasoning' | 'tool-call';
  text: string;
  start: StreamPart | null;
  encrypted: Extract<StreamPart, { type: 'reasoning-end' }>['encrypted'];
}

/** The blocks of an answer in order; what is no block is left out. */
function blocksOf(parts: readonly StreamPart[]): Block[] {
  const blocks: Block[] = [];
  for (const part of settled(parts)) {
    const last = blocks.at(-1);
    if (part.type === 'text-start' || part.type === 'refusal-start')
      blocks.push({ kind: 'text', text: '', start: null, encrypted: null });
    else if (part.type === 'reasoning-start')
      blocks.push({ kind: 'reasoning', text: '', start: null, encrypted: null });
    else if (part.type === 'tool-call-start')
      blocks.push({ kind: 'tool-call', text: '', start: { ...part, block: 0 }, encrypted: null });
    else if ('text' in part && last !== undefined) last.text += part.text;
    else if (part.type === 'reasoning-end' && last !== undefined) last.encrypted = part.encrypted;
  }
  return blocks;
}

/** What of them the format can say: neighbours of one kind are one, for its parts have no number. */
function expressible(blocks: readonly Block[]): Block[] {
  const result: Block[] = [];
  for (const block of blocks) {
    const last = result.at(-1);
    const open = last?.kind === block.kind && last.encrypted === null && block.kind !== 'tool-call';
    if (last !== undefined && open) {
      last.text += block.text;
      last.encrypted = block.encrypted;
    } else result.push({ ...block });
  }
  return result;
}

const endOf = (parts: readonly StreamPart[]) => {
  const end = parts.at(-1);
  assert.ok(end?.type === 'message-end');
  const { reason, usage } = end;
  assert.ok(usage !== null);
  // What was written to a cache is input here.
  return { reason, usage: { ...usage, input: usage.input + usage.cacheWrite5m, cacheWrite5m: 0 } };
};

/** A refusal ends an answer by policy in a format that has no other word for it. */
const refusing = (parts: readonly StreamPart[]) => {
  const { reason, usage } = endOf(parts);
  const refused = parts.some(({ type }) => type === 'refusal-start');
  return { reason: refused && reason === 'stop' ? 'policy' : reason, usage };
};

describe('any gemini stream', () => {
  const encrypted = {
    gemini: geminiAnswers,
    'anthropic-messages': answers('anthropic-messages', { interleave: true }),
    'openai-responses': answers('openai-responses', { interleave: true }),
  };
  for (const [format, anyAnswer] of Object.entries(encrypted)) {
    it(`is read as it was written, with encrypted reasoning of ${format}`, () => {
      fc.assert(
        fc.property(anyAnswer, (parts) => {
          const read = readBack(written(parts));
          assert.deepEqual(expressible(blocksOf(read)), expressible(blocksOf(parts)));
          assert.deepEqual(endOf(read), refusing(parts));
        }),
        { numRuns: 300 },
      );
    });
  }

  it('has only data events, and a finish reason only in the last one', () => {
    fc.assert(
      fc.property(geminiAnswers, (parts) => {
        const text = written(parts);
        assert.match(text, /^(data: [^\n]+\n\n)+$/);
        const frames = framesOf(text);
        const chunks = frames.map(({ data }) => objectOf(JSON.parse(data)));
        for (const [index, chunk] of chunks.entries()) {
          const [candidate] = listOf(chunk['candidates']).map(objectOf);
          const ended = index === chunks.length - 1;
          assert.equal('finishReason' in objectOf(candidate), ended);
          assert.equal('usageMetadata' in chunk, ended);
          // The vendor's client throws a conversation away for a chunk without parts.
          const { parts: contentParts, role } = objectOf(objectOf(candidate)['content']);
          assert.ok(listOf(contentParts).length > 0 && role === 'model');
          assert.equal(chunk['modelVersion'], 'a');
        }
        assert.deepEqual(
          frames.map((frame) => stream.classify(frame)),
          [...frames.slice(1).map(() => 'content'), 'end'],
        );
      }),
    );
  });

  it('assembles into the complete answer that it describes', () => {
    fc.assert(
      fc.property(geminiAnswers, (parts) => {
        const text = written(parts);
        const whole = assemble(framesOf(text));
        assert.ok(whole !== null);
        const again = readBack(encodeFramesOf(whole));
        assert.deepEqual(expressible(blocksOf(again)), expressible(blocksOf(readBack(text))));
        assert.deepEqual(endOf(again), endOf(readBack(text)));
        const bytes = Buffer.from(JSON.stringify(whole));
        assert.deepEqual(
          gemini.readUsage(bytes),
          stream.readStream(Buffer.from(text), Buffer.from(text)).usage,
        );
        assert.equal(gemini.responseTextBytes(bytes), stream.textBytes(Buffer.from(text)));
      }),
    );
  });

  it('starts once, ends once and closes every block, whatever its chunks contain', () => {
    const chunksOf = (parts: readonly StreamPart[]) =>
      framesOf(written(parts)).map(({ data }) => objectOf(JSON.parse(data)));
    const change = fc.tuple(
      fc.nat(),
      fc.array(fc.nat(9), { minLength: 1, maxLength: 8 }),
      fc.oneof(fc.jsonValue(), fc.constant({ functionCall: { partialArgs: [{ jsonPath: '$.a' }] } })),
    );
    const records = geminiAnswers.chain((parts) =>
      fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
        const damaged = chunksOf(parts);
        for (const [at, path, value] of changes) {
          const index = at % damaged.length;
          damaged[index] = replaced(damaged[index] ?? {}, path, value);
        }
        return damaged;
      }),
    );
    fc.assert(
      fc.property(records, (chunks) => {
        const frames = chunks.map((chunk) => ({ event: '', data: JSON.stringify(chunk) }));
        const parts = readFrames(frames);
        assemble(frames);
        const ends = parts.filter(({ type }) => type === 'message-end' || type === 'error');
        assert.deepEqual(ends, parts.slice(-1));
        if (ends[0]?.type === 'error') return;
        assert.deepEqual(
          parts.filter(({ type }) => type === 'message-start'),
          parts.slice(0, 1),
        );
        assertBalanced(parts);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Every block starts before it grows, and ends once; blocks are numbered in the order of their starts. */
function assertBalanced(parts: readonly StreamPart[]): void {
  const open = new Set<number>();
  let next = 0;
  for (const part of parts) {
    if (!('block' in part)) continue;
    const whole = part.type === 'native' || part.type === 'search' || part.type === 'image';
    if (part.type.endsWith('-start') || whole) {
      assert.equal(part.block, next);
      next += 1;
      if (!whole) open.add(part.block);
    } else assert.ok(open.has(part.block) || part.type === 'citation', `${part.type} of ${part.block}`);
    if (part.type.endsWith('-end')) open.delete(part.block);
  }
  assert.equal(open.size, 0);
}

describe('a gemini stream of an upstream', () => {
  for (const { bytes, name } of fixtures) {
    it(`${name} is read alike wherever its bytes are split`, () => {
      const expected = readBack(bytes);
      for (let at = 0; at <= bytes.length; at += 1) {
        const left = splitFrames(bytes.subarray(0, at));
        const right = splitFrames(Buffer.concat([left.rest, bytes.subarray(at)]));
        assert.deepEqual([...left.frames, ...right.frames], framesOf(bytes));
      }
      if (expected.at(-1)?.type !== 'error') assertBalanced(expected);
    });

    it(`${name} ends as an error if it is cut at a frame, and is never complete`, () => {
      const frames = framesOf(bytes);
      for (let length = 0; length < frames.length; length += 1) {
        const cut = frames.slice(0, length);
        assert.equal(readFrames(cut).at(-1)?.type, 'error');
        assert.equal(assemble(cut), null);
        const text = Buffer.from(cut.map(({ data }) => `data: ${data}\r\n\r\n`).join(''));
        assert.equal(stream.readStream(text, text).end, 'cut');
      }
    });

    it(`${name} is read despite garbage between its frames`, () => {
      const garbage = [
        '',
        'x',
        '[DONE]',
        '{"candidates":[{"cont',
        '[]',
        '{}',
        'null',
        '"',
        '{"candidates":7}',
      ];
      const noisy = framesOf(bytes).flatMap((frame) => [
        ...garbage.map((data) => ({ event: '', data })),
        frame,
      ]);
      assert.deepEqual(readFrames(noisy), readBack(bytes));
    });
  }

  for (const { bytes, name } of complete) {
    it(`${name} gives the same as the answer assembled from it`, () => {
      const whole = assemble(framesOf(bytes));
      assert.ok(whole !== null);
      const parts = settled(readBack(bytes)).map(withoutStartUsage);
      assert.deepEqual(settled(readBack(encodeFramesOf(whole))).map(withoutStartUsage), parts);
      assert.deepEqual(
        gemini.readUsage(Buffer.from(JSON.stringify(whole))),
        stream.readStream(bytes, bytes).usage,
      );
      const end = parts.at(-1);
      assert.deepEqual(end?.type === 'message-end' && end.usage, stream.readStream(bytes, bytes).usage);
    });

    it(`${name} is written again as it was read`, () => {
      const parts = readBack(bytes);
      assert.deepEqual(expressible(blocksOf(readBack(written(parts)))), expressible(blocksOf(parts)));
    });
  }

  it('answer.json loses nothing if it is written as a stream and assembled', () => {
    const answer = JSON.parse(readFileSync(new URL('../fixtures/answer.json', import.meta.url), 'utf8'));
    assert.deepEqual(assemble(framesOf(encodeFramesOf(answer))), answer);
  });
});

/** A stream tells at its start what it has used up to there, a whole answer all of it. */
function withoutStartUsage(part: StreamPart): StreamPart {
  return part.type === 'message-start' ? { ...part, usage: null } : part;
}
