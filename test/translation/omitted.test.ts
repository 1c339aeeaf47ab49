import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type JsonObject, listOf, objectOf } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { deepseek } from '../../src/providers/deepseek.ts';
import { openai } from '../../src/providers/openai.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { answerFrames, answerParts } from '../../src/proxy/translate/answer-chain.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate/request.ts';

const targetOf = (format: WireFormat, provider: Provider): Target => ({
  connection: { id: 'c', name: 'c' } as Target['connection'],
  provider,
  model: 'm',
  format,
});

const asked = (client: WireFormat, target: Target, body: JsonObject) =>
  translateRequest(
    { body: [Buffer.from(JSON.stringify({ model: 'asked', ...body }))], named: null, target },
    client,
  );

/** The whole answer that a client gets. */
function answered(client: WireFormat, target: Target, body: JsonObject, answer: JsonObject[]): JsonObject {
  const request = asked(client, target, body);
  const reader = answerParts({ target, request, compactionOf: null, prefix: null });
  const writer = answerFrames(client, request, { id: 'req_1', model: 'asked', startedAt: 0 });
  const read = answer.flatMap((data) =>
    reader.push({ event: String(data['type'] ?? ''), data: JSON.stringify(data) }),
  );
  const text = conversationCodec(client).stream.encode(
    [...read, ...reader.end()].flatMap((part) => writer.push(part)),
  );
  const { assemble, split } = conversationCodec(client).stream;
  return objectOf(assemble(split(Buffer.from(text)).frames));
}

const delta = (said: JsonObject, finish_reason: string | null = null): JsonObject => ({
  id: 'c1',
  choices: [{ index: 0, delta: said, finish_reason }],
});
const call = { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } };
const plain = [
  delta({ reasoning_content: 'Secret ' }),
  delta({ reasoning_content: 'thought.' }),
  delta({ tool_calls: [call] }, 'tool_calls'),
];
const reasoning = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'Secret thought.' }],
  encrypted_content: 'gAAA',
};
const encrypted: JsonObject[] = [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_item.added', output_index: 0, item: { ...reasoning, summary: [] } },
  {
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    item_id: 'rs_1',
    summary_index: 0,
    delta: 'Secret thought.',
  },
  { type: 'response.output_item.done', output_index: 0, item: reasoning },
  { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [reasoning] } },
];

const question = { role: 'user', content: 'hi' };
const thinking = { type: 'adaptive', display: 'omitted' };

describe('reasoning that the client does not want to see', () => {
  it('is hidden from a client of Anthropic’s format, and returned to its server', () => {
    const body = { max_tokens: 9, messages: [question], thinking };
    for (const [target, answer, found] of [
      [targetOf('openai-chat', deepseek), plain, /"reasoning_content":"Secret thought\."/],
      [
        targetOf('openai-responses', openai),
        encrypted,
        /"text":"Secret thought\."\}\],"encrypted_content":"gAAA"/,
      ],
    ] as const) {
      const { content } = answered('anthropic-messages', target, body, answer);
      const [block] = listOf(content).map(objectOf);
      assert.deepEqual([block?.['type'], block?.['thinking']], ['thinking', '']);
      assert.doesNotMatch(JSON.stringify(content), /Secret/);
      const messages = [question, { role: 'assistant', content }, question];
      const next = asked('anthropic-messages', target, { ...body, messages });
      assert.match(Buffer.concat(next.body).toString(), found);
    }
  });

  it('is hidden from a client of chat that excludes it, and returned to its server', () => {
    const body = { messages: [question], reasoning: { exclude: true } };
    for (const [target, answer, found] of [
      [
        targetOf('openai-responses', openai),
        encrypted,
        /"text":"Secret thought\."\}\],"encrypted_content":"gAAA"/,
      ],
    ] as const) {
      const message = objectOf(
        objectOf(listOf(answered('openai-chat', target, body, answer)['choices'])[0])['message'],
      );
      assert.equal(message['reasoning_content'], undefined);
      assert.doesNotMatch(JSON.stringify(message), /Secret/);
      const next = asked('openai-chat', target, {
        ...body,
        messages: [question, { ...message, content: 'Yes' }, question],
      });
      assert.match(Buffer.concat(next.body).toString(), found);
    }
  });
});

describe('the schema of an answer, towards Anthropic', () => {
  const target = { ...targetOf('anthropic-messages', openai), model: 'claude-sonnet-4-5' };
  const sent = (schema: JsonObject) => {
    const response_format = { type: 'json_schema', json_schema: { name: 'prices', schema } };
    const { body, dropped } = asked('openai-chat', target, { messages: [question], response_format });
    return { request: JSON.parse(Buffer.concat(body).toString()), dropped };
  };
  const map = { type: 'object', additionalProperties: { type: 'number' } };

  it('that has a map is described in the prompt and reported, and no map is closed', () => {
    for (const schema of [
      map,
      { type: 'object' },
      { type: 'object', properties: { prices: map }, required: ['prices'] },
      {
        type: 'object',
        properties: { list: { type: 'array', items: { $ref: '#/$defs/m' } } },
        $defs: { m: map },
      },
      { anyOf: [{ type: 'string' }, { type: 'object', patternProperties: { '^a': { type: 'number' } } }] },
    ]) {
      const { dropped, request } = sent(schema);
      assert.equal(request.output_config, undefined);
      assert.deepEqual(dropped, ['response_format']);
      assert.ok(JSON.stringify(request.system).includes(JSON.stringify(JSON.stringify(schema)).slice(1, -1)));
    }
  });

  it('without a map is enforced', () => {
    const schema = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
    const { dropped, request } = sent(schema);
    assert.deepEqual(request.output_config.format.schema, { ...schema, additionalProperties: false });
    assert.deepEqual(dropped, []);
  });

  it('is read under its beta name as well', () => {
    const format = { type: 'json_schema', schema: { type: 'object', properties: { a: { type: 'string' } } } };
    const to = targetOf('openai-chat', openai);
    const bodies = [{ output_format: format }, { output_config: { format } }].map((more) => {
      const { body, dropped } = asked('anthropic-messages', to, {
        max_tokens: 9,
        messages: [question],
        ...more,
      });
      assert.deepEqual(dropped, []);
      return Buffer.concat(body).toString();
    });
    assert.equal(bodies[0], bodies[1]);
    assert.match(bodies[0] ?? '', /json_schema/);
  });
});
