import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import {
  answers,
  conversations,
  settled,
  withoutRawReasons,
} from '../../../test/support/formats/arbitrary.ts';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import type { JsonObject } from '../json/values.ts';
import { type Conversation, emptyConversation } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { encodeFrames } from '../stream/frames.ts';
import { assemble, encodeFramesOf } from './answer/assemble.ts';
import { reader } from './answer/reader.ts';
import { writer } from './answer/writer.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest } from './request/encode.ts';
import { NEXT_TURN, transcript } from './request/transcript.ts';

const encoded = (conversation: Conversation) => encodeRequest(conversation, plainDialect);
const context = { id: 'req_0m1', model: 'a', startedAt: 1_790_000_000_000, includeUsage: true, request: {} };
const written = (parts: readonly StreamPart[]) => {
  const target = writer(context);
  return encodeFrames(parts.flatMap((part) => target.push(part)));
};
const readBack = (bytes: Buffer, pieces: readonly Buffer[] = [bytes]) => {
  const source = reader();
  const parts: StreamPart[] = [];
  let rest: Buffer = Buffer.alloc(0);
  for (const piece of [...pieces, Buffer.from('\n\n')]) {
    const split = splitFrames(Buffer.concat([rest, piece]));
    rest = split.rest;
    parts.push(...split.frames.flatMap((frame) => source.push(frame)));
  }
  return [...parts, ...source.end()];
};

/**
 * What of a conversation this format can say: everything that is said becomes one text, and a bound and the stop at
 * the next turn are always there.
 */
function expressible(whole: Conversation): Conversation {
  const { candidates, frequencyPenalty, logprobs, presencePenalty, seed, temperature, topP } = whole;
  return {
    ...emptyConversation(whole.model),
    candidates,
    frequencyPenalty,
    logprobs,
    presencePenalty,
    seed,
    temperature,
    topP,
    messages: [{ role: 'user', parts: [{ type: 'text', text: transcript(whole) }] }],
    maxOutputTokens: whole.maxOutputTokens ?? 2_048,
    stop: [...whole.stop, NEXT_TURN],
    userId: whole.userId,
    stream: whole.stream,
    includeUsage: true,
  };
}

const anyConversation = conversations('openai-chat');

describe('any completions request', () => {
  it('is decoded to what was encoded, with all of its text joined', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        assert.deepEqual(decodeRequest(encoded(conversation)), expressible(conversation));
      }),
    );
  });

  it('has every text of the conversation in order, after the label of its role', () => {
    fc.assert(
      fc.property(anyConversation, ({ messages, system }) => {
        const prompt = transcript({ ...emptyConversation('m'), messages, system });
        let at = 0;
        for (const { parts } of [{ parts: system }, ...messages]) {
          for (const part of parts) {
            if (part.type !== 'text' && part.type !== 'refusal') continue;
            const index = prompt.indexOf(part.text, at);
            assert.ok(index >= at, part.text);
            at = index + part.text.length;
          }
        }
      }),
    );
  });

  it('has one label for each turn, whatever labels its texts contain', () => {
    const line = fc.constantFrom('User:', 'System: ', 'Assistant:', 'User: hi', 'words', '');
    const texts = fc.array(fc.array(line, { maxLength: 4 }).map((lines) => lines.join('\n')));
    fc.assert(
      fc.property(texts, (messageTexts) => {
        const messages: Conversation['messages'] = messageTexts.map((text, index) => ({
          role: index % 2 === 0 ? 'user' : 'assistant',
          parts: [{ type: 'text', text: `a\n${text}` }],
        }));
        const prompt = transcript({ ...emptyConversation('m'), messages });
        const labels = prompt.match(/^(?:System|User|Assistant):[ \t]*$/gm) ?? [];
        assert.equal(
          labels.length,
          messageTexts.length + (messageTexts.length % 2 === 0 && messageTexts.length > 0 ? 0 : 1),
        );
      }),
    );
  });

  it('is refused with the path of the invalid field, and never fails in another way', () => {
    const field = fc.constantFrom(
      ...['model', 'prompt', 'suffix', 'echo', 'best_of', 'n', 'logprobs', 'max_tokens', 'temperature'],
      ...['top_p', 'stop', 'seed', 'user', 'stream', 'stream_options', 'logit_bias', 'frequency_penalty'],
    );
    const body = fc.oneof(
      fc.dictionary(field, fc.jsonValue({ maxDepth: 2 })),
      fc.record({ prompt: fc.string() }).chain((base) =>
        fc.dictionary(field, fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 }).map((rest) => ({
          ...base,
          ...rest,
        })),
      ),
    );
    fc.assert(
      fc.property(body, (request) => {
        try {
          encoded(decodeRequest(request as JsonObject));
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
          assert.equal(error.status, 400);
          assert.ok(error.param !== null);
        }
      }),
      { numRuns: 10_000 },
    );
  });
});

/** An answer as the one text that this format can say of it. */
function sayableAnswer(parts: readonly StreamPart[]): StreamPart[] {
  const calls = new Map<number, string>();
  const texts = parts.flatMap((part) => {
    if (part.type === 'text-delta' || part.type === 'refusal-delta') return [part.text];
    if (part.type === 'tool-call-start') calls.set(part.block, `${part.name} with `);
    if (part.type === 'tool-call-delta') calls.set(part.block, calls.get(part.block) + part.text);
    if (part.type !== 'tool-call-end') return [];
    const what = calls.get(part.block)?.replace(/ with \s*$/, '');
    return [`\n[The model called the tool ${what}, which this API has no place for]\n`];
  });
  const end = parts.at(-1);
  assert.ok(end?.type === 'message-end');
  return [
    { type: 'message-start', id: 'cmpl-0m1', model: context.model, usage: null },
    ...(texts.length === 0
      ? []
      : ([
          { type: 'text-start', block: 0 },
          { type: 'text-delta', block: 0, text: texts.join('') },
          { type: 'text-end', block: 0 },
        ] as const)),
    { ...end, reason: end.reason === 'tool-calls' ? 'stop' : end.reason },
  ];
}

describe('any completions stream', () => {
  const anyAnswer = answers('openai-chat', { interleave: true });

  it('is read as it was written', () => {
    fc.assert(
      fc.property(anyAnswer, (parts) => {
        const read = withoutRawReasons(readBack(Buffer.from(written(parts))));
        assert.deepEqual(settled(read), settled(sayableAnswer(parts)));
      }),
    );
  });

  it('is the same after it was assembled and written as a stream', () => {
    fc.assert(
      fc.property(anyAnswer, (parts) => {
        const stream = Buffer.from(written(parts));
        const whole = assemble(splitFrames(stream).frames);
        assert.ok(whole !== null);
        assert.deepEqual(settled(readBack(Buffer.from(encodeFramesOf(whole)))), settled(readBack(stream)));
      }),
    );
  });

  it('has one end', () => {
    fc.assert(
      fc.property(anyAnswer, (parts) => {
        const data = splitFrames(Buffer.from(written(parts))).frames.map((frame) => frame.data);
        const finished = data.map((text) => /"finish_reason":"/.test(text));
        assert.deepEqual(finished.lastIndexOf(true), data.length - 3, 'finish, usage, [DONE]');
        assert.equal(finished.filter(Boolean).length, 1);
        assert.equal(data.at(-1), '[DONE]');
      }),
    );
  });

  it('is read alike however its bytes are split', () => {
    const bytes = readFileSync(join(import.meta.dirname, 'fixtures/text.sse'));
    const whole = settled(readBack(bytes));
    for (let at = 0; at <= bytes.length; at += 1) {
      assert.deepEqual(settled(readBack(bytes, [bytes.subarray(0, at), bytes.subarray(at)])), whole);
    }
  });

  it('is never complete if it was cut before its finish reason', () => {
    const bytes = readFileSync(join(import.meta.dirname, 'fixtures/text.sse'));
    const finish = bytes.indexOf('"finish_reason":"stop"');
    for (let at = 0; at < finish; at += 1) {
      assert.equal(readBack(bytes.subarray(0, at)).at(-1)?.type, 'error', `cut at ${at}`);
    }
  });
});
