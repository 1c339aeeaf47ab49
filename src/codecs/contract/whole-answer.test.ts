import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answers } from '../../../test/support/formats/arbitrary.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import type { ConversationCodec, StreamCodec } from '../codec.ts';
import { codecs } from '../index.ts';
import { isObject, type JsonObject } from '../json/values.ts';
import type { AnswerContext, StreamPart } from '../model/stream-part.ts';
import type { Codec } from '../wire-codec.ts';

type Translating = Codec & { conversation: ConversationCodec; stream: StreamCodec };
const translating = codecs.filter(
  (codec): codec is Translating => codec.conversation !== null && codec.stream !== null,
);

const request = { generationConfig: { thinkingConfig: { includeThoughts: true } } };
const context: AnswerContext = {
  id: 'req_1',
  model: 'asked',
  startedAt: 1_790_000_000_000,
  includeUsage: true,
  request,
};

/** What JSON text says of a value. */
const viaJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function readAll({ conversation }: Translating, frames: ReturnType<StreamCodec['split']>['frames']) {
  const reader = conversation.reader();
  return [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
}

/** The whole answer that a writer makes of parts: by way of the frames, and of their text. */
function assertAlike({ conversation, format, stream }: Translating, parts: readonly StreamPart[]): void {
  const writer = conversation.writer(context);
  const made = parts.flatMap((part) => writer.push(part));
  const { frames } = stream.split(Buffer.from(stream.encode(made)));
  assert.deepEqual(viaJson(stream.assemble(made)), viaJson(stream.assemble(frames)), format);
}

function fixtures(format: string, ending: RegExp): [string, Buffer][] {
  const folder = join(import.meta.dirname, '..', format, 'fixtures');
  const names = readdirSync(folder).filter((name) => ending.test(name));
  return names.map((name) => [`${format}/${name}`, readFileSync(join(folder, name))]);
}

describe('a complete answer that is not written as a stream first', () => {
  for (const to of translating) {
    it(`is the same in ${to.format} for any answer`, () => {
      for (const from of translating)
        fc.assert(
          fc.property(answers(from.format, { interleave: true }), (parts) => assertAlike(to, parts)),
          { numRuns: 60 },
        );
    });

    it(`is the same in ${to.format} for every recorded stream`, () => {
      for (const from of translating)
        for (const [, bytes] of fixtures(from.format, /\.(sse|ndjson)$/)) {
          const { frames } = from.stream.split(Buffer.concat([bytes, Buffer.from('\n\n')]));
          assertAlike(to, readAll(from, frames));
        }
    });
  }
});

describe('a complete answer that is read without being written as a stream', () => {
  for (const from of translating) {
    const whole = (answer: JsonObject) => {
      const written = from.stream.split(Buffer.from(from.stream.encodeFramesOf(answer))).frames;
      assert.deepEqual(viaJson(readAll(from, from.stream.framesOf(answer))), viaJson(readAll(from, written)));
    };

    it(`gives the same parts from ${from.format} for any answer`, () => {
      for (const maker of translating)
        fc.assert(
          fc.property(answers(maker.format), (parts) => {
            const writer = from.conversation.writer(context);
            const text = from.stream.encode(parts.flatMap((part) => writer.push(part)));
            const answer = from.stream.assemble(from.stream.split(Buffer.from(text)).frames);
            if (answer !== null) whole(answer);
          }),
          { numRuns: 60 },
        );
    });

    it(`gives the same parts from ${from.format} for every recorded answer, and for invalid ones`, () => {
      for (const [, bytes] of fixtures(from.format, /\.json$/)) {
        const answer: unknown = JSON.parse(bytes.toString());
        if (isObject(answer)) whole(answer);
      }
      for (const odd of [
        {},
        { choices: [{}] },
        { message: {}, done: true },
        { candidates: [{}] },
        { output: [{}] },
      ])
        whole(odd);
    });
  }
});
