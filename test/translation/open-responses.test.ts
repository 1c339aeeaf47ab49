import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it } from 'node:test';
import type { WireFormat } from '../../src/codecs/model.ts';
import { assemble } from '../../src/codecs/openai-responses/assemble.ts';
import { encodeErrorFrame } from '../../src/codecs/openai-responses/error.ts';
import type { AnswerContext, StreamPart } from '../../src/codecs/stream-part.ts';
import { type JsonObject, listOf, objectOf, textOf } from '../../src/codecs/values.ts';
import { GatewayError } from '../../src/lib/error.ts';
import { conversationCodec } from '../../src/proxy/translate-request.ts';
import { formats } from '../support/fuzz.ts';

/** What the Open Responses suite holds an answer to (gateways' 5.10), on every recorded answer of every other format. */
const responses = conversationCodec('openai-responses');

/** `ResponseResource`: all members, and the types that each may have. */
const members: Readonly<Record<string, readonly string[]>> = {
  id: ['string'],
  object: ['string'],
  created_at: ['number'],
  completed_at: ['number', 'null'],
  status: ['string'],
  incomplete_details: ['object', 'null'],
  model: ['string'],
  previous_response_id: ['string', 'null'],
  instructions: ['string', 'null'],
  output: ['list'],
  error: ['object', 'null'],
  tools: ['list'],
  tool_choice: ['string', 'object'],
  truncation: ['string'],
  parallel_tool_calls: ['boolean'],
  text: ['object'],
  top_p: ['number'],
  presence_penalty: ['number'],
  frequency_penalty: ['number'],
  top_logprobs: ['number'],
  temperature: ['number'],
  reasoning: ['object', 'null'],
  usage: ['object', 'null'],
  max_output_tokens: ['number', 'null'],
  max_tool_calls: ['number', 'null'],
  store: ['boolean'],
  background: ['boolean'],
  service_tier: ['string'],
  metadata: ['object'],
  safety_identifier: ['string', 'null'],
  prompt_cache_key: ['string', 'null'],
};

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'list' : typeof value;
}

function assertResource(response: JsonObject): void {
  for (const [name, kinds] of Object.entries(members))
    assert.ok(kinds.includes(kindOf(response[name])), `${name} is ${kindOf(response[name])}`);
  assert.equal(response['object'], 'response');
  assert.ok(Number.isInteger(response['created_at']));
}

/** What a caller may have asked for, as the suite and real agents do: nothing, or all that an answer repeats. */
const requests: readonly JsonObject[] = [
  { model: 'm', input: 'hi' },
  {
    ...{
      model: 'm',
      instructions: 'Be brief.',
      temperature: 0.2,
      top_p: 0.9,
      truncation: 'auto',
      store: true,
    },
    ...{
      tools: [{ type: 'function', name: 'f', parameters: {} }],
      tool_choice: { type: 'function', name: 'f' },
    },
    ...{
      reasoning: { effort: 'low' },
      text: { verbosity: 'low' },
      metadata: { a: 'b' },
      max_output_tokens: 20,
    },
    ...{ input: [{ role: 'user', content: 'hi' }], service_tier: null, parallel_tool_calls: false },
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
  return responses.stream.split(Buffer.from(parts.map((part) => writer.push(part)).join(''))).frames;
}

const complete = recorded.filter(
  ({ bytes, format }) => partsOf(format, bytes).at(-1)?.type === 'message-end',
);

describe('Open Responses', () => {
  for (const { bytes, format, name } of complete) {
    it(`holds for ${name} (OR-01 to OR-05)`, () => {
      for (const request of requests) {
        const frames = written(partsOf(format, bytes), request);
        assert.equal(frames.at(-1)?.data, '[DONE]');
        const events = frames.slice(0, -1).map((frame) => {
          const data: JsonObject = JSON.parse(frame.data);
          assert.equal(frame.event, data['type'], 'OR-01: the event is named as its type');
          return data;
        });
        for (const { response } of events) if (response !== undefined) assertResource(objectOf(response));
        assertItems(events);
        const whole = objectOf(assemble(frames));
        assertResource(whole);
        assertWhole(whole);
      }
    });
  }

  it('OR-02: an error in a stream comes with a whole response, and is the last event (OR-06)', () => {
    const frame = encodeErrorFrame(new GatewayError('upstream_cut', 'cut'), 'req_1').toString();
    const event: JsonObject = JSON.parse(frame.slice(frame.indexOf('{')));
    assert.equal(event['type'], 'response.failed');
    assertResource(objectOf(event['response']));
    assert.equal(objectOf(event['response'])['status'], 'failed');
    assert.ok(Number.isInteger(event['sequence_number']));
  });
});

/** Items begin with `added`, whole in their members, and end with `done`; what streams is in brackets (OR-04, OR-05). */
function assertItems(events: readonly JsonObject[]): void {
  const open = new Map<unknown, string[]>();
  for (const event of events) {
    const [, ...words] = textOf(event['type']).split('.');
    const type = words.join('.');
    const index = event['output_index'];
    if (type === 'output_item.added') {
      const item = objectOf(event['item']);
      assert.ok(textOf(item['id']) !== '' && textOf(item['type']) !== '', 'OR-03');
      assert.equal(open.has(index), false);
      open.set(index, []);
    } else if (index !== undefined) {
      assert.ok(open.has(index), `${type} before its item`);
      open.get(index)?.push(type);
    }
  }
  for (const kinds of open.values()) {
    assert.equal(kinds.at(-1), 'output_item.done');
    const count = (kind: string) => kinds.filter((one) => one === kind).length;
    assert.equal(count('content_part.added'), count('content_part.done'));
    const called = count('function_call_arguments.done');
    if (kinds.some((kind) => kind.startsWith('function_call_arguments'))) assert.equal(called, 1);
  }
}

/** OR-03. The vendor's own reasoning items have no status, and so have ours. */
function assertWhole(response: JsonObject): void {
  const items = listOf(response['output']).map(objectOf);
  for (const [index, { id, status, type }] of items.entries()) {
    assert.ok(typeof id === 'string' && typeof type === 'string');
    if (type !== 'reasoning') assert.ok(['completed', 'incomplete'].includes(textOf(status)));
    if (status === 'incomplete') {
      assert.equal(index, items.length - 1, 'an incomplete item is the last one');
      assert.equal(response['status'], 'incomplete');
    }
  }
  assert.equal(new Set(items.map(({ id }) => id)).size, items.length);
}
