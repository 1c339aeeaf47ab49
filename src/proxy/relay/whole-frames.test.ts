import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { chatStream, messagesStream } from '../../../test/support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../../../test/support/upstream/answers-native.ts';
import { cut } from '../../../test/support/upstream/steps.ts';
import type { StreamCodec } from '../../codecs/codec.ts';
import { codecOf } from '../../codecs/index.ts';
import { WholeFrames } from './whole-frames.ts';

const healthy = {
  'openai-chat': chatStream().text,
  'anthropic-messages': messagesStream().text,
  gemini: geminiStream(),
  ollama: ollamaStream(),
} as const;
const errors = {
  'openai-chat': 'data: {"error":{"message":"lost"}}\n\n',
  'anthropic-messages':
    'event: error\ndata: {"type":"error","error":{"type":"api_error","message":"lost"}}\n\n',
  gemini: 'data: {"error":{"code":503,"message":"lost"}}\r\n\r\n',
  ollama: '{"error":"lost"}\n',
} as const;

function streamOf(format: keyof typeof healthy): StreamCodec {
  const { stream } = codecOf(format);
  assert.ok(stream);
  return stream;
}

const positions = fc.array(fc.nat(2_000), { maxLength: 8 });

describe('whole frames', () => {
  it('keep the second half of a split CRLF at the end of the stream', () => {
    const whole = new WholeFrames(streamOf('gemini'));
    const bytes = Buffer.from('data: {}\r\n\r\n');
    const allFrames = [bytes.subarray(0, -1), bytes.subarray(-1)].map((piece) => whole.push(piece).bytes);
    assert.equal(Buffer.concat([...allFrames, whole.rest()]).toString(), bytes.toString());
    assert.equal(Buffer.concat(allFrames).toString(), 'data: {}\r\n\r');
  });

  it('scan a frame that comes in many pieces once, and hold a bounded part of it', () => {
    const codec = streamOf('gemini');
    let looks = 0;
    const counted = <B extends Uint8Array>(bytes: B) => {
      looks += 1;
      return codec.split(bytes);
    };
    const piece = Buffer.alloc(1024 * 1024, 'x');
    const whole = new WholeFrames({ ...codec, split: counted });
    for (const bytes of [Buffer.from('data: '), piece, piece, piece])
      assert.equal(whole.push(bytes).bytes.length, 0);
    assert.deepEqual([looks, whole.tooLong], [0, false]);
    const { bytes } = whole.push(Buffer.from('\n\n'));
    assert.deepEqual(
      [looks, bytes.length, whole.allFrames()?.length],
      [1, 3 * 1024 * 1024 + 8, bytes.length],
    );
    whole.push(piece);
    whole.push(Buffer.from('\n\n'));
    assert.deepEqual([whole.tooLong, whole.allFrames()], [true, null]);

    const endless = new WholeFrames(codec);
    for (let count = 0; count < 5; count += 1) endless.push(piece);
    assert.deepEqual([endless.tooLong, endless.rest().length], [true, 5 * 1024 * 1024]);
  });
});

for (const format of Object.keys(healthy) as (keyof typeof healthy)[]) {
  describe(`whole frames of ${format}`, () => {
    it('pass as they are, however they were cut, and end with a frame each time', () => {
      fc.assert(
        fc.property(positions, (cuts) => {
          const whole = new WholeFrames(streamOf(format));
          let allFrames = Buffer.alloc(0);
          for (const piece of cut(Buffer.from(healthy[format]), cuts)) {
            const { bytes, error } = whole.push(piece);
            assert.equal(error, null);
            allFrames = Buffer.concat([allFrames, bytes]);
            assert.equal(streamOf(format).split(allFrames).rest.length, 0);
          }
          assert.deepEqual(whole.allFrames(), allFrames);
          assert.equal(allFrames.toString() + whole.rest().toString(), healthy[format]);
        }),
      );
    });

    it('pass up to an error among them', () => {
      fc.assert(
        fc.property(positions, (cuts) => {
          const whole = new WholeFrames(streamOf(format));
          const bytes = Buffer.from(healthy[format] + errors[format] + healthy[format]);
          let failed = null;
          for (const piece of cut(bytes, cuts)) failed ??= whole.push(piece).error;
          assert.equal(failed?.message, 'lost');
          // The last half of a line end may have come with the error.
          assert.equal(whole.allFrames()?.toString().trimEnd(), healthy[format].trimEnd());
        }),
      );
    });
  });
}
