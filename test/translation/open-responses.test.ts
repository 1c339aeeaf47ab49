import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import { type JsonObject, objectOf } from '../../src/codecs/json/values.ts';
import type { AnswerContext, StreamPart } from '../../src/codecs/model/stream-part.ts';
import { assemble } from '../../src/codecs/openai-responses/answer/assemble.ts';
import { encodeErrorFrame } from '../../src/codecs/openai-responses/answer/error.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { conversationCodec } from '../../src/proxy/translate/request.ts';
import { formats } from '../support/formats/fuzz.ts';
import { assertItems, assertOutput, assertResource } from '../support/formats/open-responses.ts';

/** What the Open Responses suite holds an answer to (gateways' 5.10), on every recorded answer of every other format. */
const responses = conversationCodec('openai-responses');

/** What a client may have asked for, as the suite and real agents do: nothing, or all that an answer repeats. */
const requests: readonly JsonObject[] = [
  { model: 'm', input: 'hi' },
  {
    model: 'm',
    instructions: 'Be brief.',
    temperature: 0.2,
    top_p: 0.9,
    truncation: 'auto',
    store: true,
    tools: [
      { type: 'function', name: 'f', parameters: {} },
      { type: 'function', name: 'g' },
    ],
    tool_choice: { type: 'function', name: 'f' },
    reasoning: { effort: 'low' },
    text: { verbosity: 'low' },
    metadata: { a: 'b' },
    max_output_tokens: 20,
    input: [{ role: 'user', content: 'hi' }],
    service_tier: null,
    parallel_tool_calls: false,
  },
];

const recorded = formats
  .filter((format) => format !== 'openai-responses')
  .flatMap((format) =>
    globSync(join(import.meta.dirname, `../../src/codecs/${format}/fixtures/*.{sse,ndjson}`)).map((path) => ({
      format,
      name: `${format}/${basename(path)}`,
      bytes: readFileSync(path),
    })),
  );

function partsOf(format: WireFormat, bytes: Buffer): StreamPart[] {
  const { conversation, stream } = conversationCodec(format);
  const reader = conversation.reader();
  const { frames } = stream.split(Buffer.concat([bytes, Buffer.from('\n\n')]));
  return [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
}

function written(parts: readonly StreamPart[], request: JsonObject) {
  const context: AnswerContext = {
    id: 'req_1',
    model: 'm',
    startedAt: 1_790_000_000_000,
    includeUsage: true,
    request,
  };
  const writer = responses.conversation.writer(context);
  return responses.stream.split(
    Buffer.from(responses.stream.encode(parts.flatMap((part) => writer.push(part)))),
  ).frames;
}

describe('Open Responses, of a call without arguments', () => {
  it('a delta comes before the end', () => {
    const call: StreamPart[] = [
      { type: 'message-start', id: 'x', model: 'm', usage: null },
      { type: 'tool-call-start', block: 0, id: 'c1', name: 'f', kind: 'function' },
      { type: 'tool-call-end', block: 0, complete: true },
    ];
    const events = written(call, {}).map(({ data }): JsonObject => JSON.parse(data));
    assertItems(events);
    const delta = events.find(({ type }) => type === 'response.function_call_arguments.delta');
    assert.equal(delta?.['delta'], '{}');
  });
});

const complete = recorded.filter(
  ({ bytes, format }) => partsOf(format, bytes).at(-1)?.type === 'message-end',
);

describe('Open Responses', () => {
  for (const { bytes, format, name } of complete) {
    it(`holds for ${name}`, () => {
      for (const request of requests) {
        const frames = written(partsOf(format, bytes), request);
        assert.equal(frames.at(-1)?.data, '[DONE]');
        const events = frames.slice(0, -1).map((frame) => {
          const data: JsonObject = JSON.parse(frame.data);
          assert.equal(frame.event, data['type'], 'the event is named as its type');
          return data;
        });
        for (const { response } of events) if (response !== undefined) assertResource(objectOf(response));
        assertItems(events);
        const whole = objectOf(assemble(frames));
        assertResource(whole);
        assertOutput(whole);
      }
    });
  }

  it('an error in a stream comes with a whole response, and is the last event', () => {
    const frame = encodeErrorFrame(new GatewayError('upstream_cut', 'cut'), 'req_1').toString();
    const event: JsonObject = JSON.parse(frame.slice(frame.indexOf('{')));
    assert.equal(event['type'], 'response.failed');
    assertResource(objectOf(event['response']));
    assert.equal(objectOf(event['response'])['status'], 'failed');
    assert.ok(Number.isInteger(event['sequence_number']));
  });
});
