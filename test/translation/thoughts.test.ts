import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { codecs } from '../../src/codecs/index.ts';
import { type JsonObject, listOf, objectOf } from '../../src/codecs/json/values.ts';
import type { WireFormat } from '../../src/codecs/wire-format.ts';
import type { Target } from '../../src/combos/routing/resolve.ts';
import { gemini } from '../../src/providers/gemini.ts';
import { openaiCompatible } from '../../src/providers/openai-compatible.ts';
import type { Provider } from '../../src/providers/provider.ts';
import { answerFrames, answerParts } from '../../src/proxy/translate/answer-chain.ts';
import { conversationCodec, translateRequest } from '../../src/proxy/translate/request.ts';

/** What a vendor encrypted comes back to it as it was, by way of the clients of every format that keeps encrypted reasoning. */
const clients = codecs.flatMap(({ conversation, format }) =>
  conversation === null || format === 'openai-completions' || format === 'ollama' ? [] : [format],
);

function targetOf(format: WireFormat, provider: Provider = openaiCompatible): Target {
  const connection = { id: 'c', name: 'c' } as Target['connection'];
  return { connection, provider, model: 'gemini-3-pro', format };
}

const questions: Readonly<Partial<Record<WireFormat, JsonObject>>> = {
  'openai-chat': { messages: [{ role: 'user', content: 'hi' }] },
  'openai-responses': { input: [{ role: 'user', content: 'hi' }] },
  'anthropic-messages': { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
  gemini: {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { thinkingConfig: { includeThoughts: true } },
  },
};

/** The question, and the answer of its client as that sends it back. */
function historyOf(client: WireFormat, frames: { event: string; data: string }[]): JsonObject {
  const question = questions[client] ?? {};
  const all = frames.map(({ data }): JsonObject => JSON.parse(data === '[DONE]' ? '{}' : data));
  const whole = objectOf(conversationCodec(client).stream.assemble(frames));
  switch (client) {
    case 'openai-chat':
      return {
        messages: [...listOf(question['messages']), objectOf(listOf(whole['choices'])[0])['message']],
      };
    case 'openai-responses':
      return { input: [...listOf(question['input']), ...listOf(whole['output'])] };
    case 'anthropic-messages':
      return {
        max_tokens: 9,
        messages: [...listOf(question['messages']), { role: 'assistant', content: whole['content'] }],
      };
    default: {
      // Each piece as it came.
      const parts = all.flatMap((chunk) =>
        listOf(objectOf(objectOf(listOf(chunk['candidates'])[0])['content'])['parts']),
      );
      return { contents: [...listOf(question['contents']), { role: 'model', parts }] };
    }
  }
}

/** The request that the vendor gets after its answer went to a client of a format and came back. */
function returned(client: WireFormat, target: Target, answer: JsonObject[]): JsonObject {
  const named = client === 'gemini' ? { model: 'asked', stream: true, array: false } : null;
  const asked = (body: JsonObject) => ({
    body: [
      Buffer.from(JSON.stringify(client === 'gemini' ? body : { model: 'asked', stream: true, ...body })),
    ],
    named,
    target,
  });
  const request = translateRequest(asked(questions[client] ?? {}), client);
  const reader = answerParts({ target, request, compactionOf: null, prefix: null });
  const writer = answerFrames(client, request, { id: 'req_1', model: 'asked', startedAt: 0 });
  const read = answer.flatMap((data) =>
    reader.push({ event: String(data['type'] ?? ''), data: JSON.stringify(data) }),
  );
  const text = conversationCodec(client).stream.encode(
    [...read, ...reader.end()].flatMap((part) => writer.push(part)),
  );
  const { frames } = conversationCodec(client).stream.split(Buffer.from(text));
  const { body } = translateRequest(asked(historyOf(client, frames)), client);
  return JSON.parse(Buffer.concat(body).toString());
}

const chunk = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
  candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
  modelVersion: 'gemini-3-pro',
  responseId: 'r1',
});

describe('a text and a call of Google’s, each with its signature', () => {
  const answer = [
    chunk([{ text: 'Think.', thought: true }]),
    chunk([{ text: 'I look.', thoughtSignature: 'dGV4dA==' }]),
    chunk([{ functionCall: { id: 'a', name: 'look', args: {} }, thoughtSignature: 'Y2FsbA==' }], {
      finishReason: 'STOP',
    }),
  ];

  for (const client of clients.filter((format) => format !== 'gemini')) {
    it(`come back with both through ${client}`, () => {
      const { contents } = returned(client, targetOf('gemini', gemini), answer);
      const parts = listOf(objectOf(listOf(contents)[1])['parts']).map(objectOf);
      const signed = parts.filter(({ thoughtSignature }) => thoughtSignature !== undefined);
      assert.deepEqual(
        signed.map((part) => [part['thoughtSignature'], 'functionCall' in part]),
        [
          ['dGV4dA==', false],
          ['Y2FsbA==', true],
        ],
      );
    });
  }
});

describe('two reasoning items of OpenAI’s', () => {
  const item = (id: string, text: string) => ({
    type: 'reasoning',
    id,
    summary: [{ type: 'summary_text', text }],
    encrypted_content: `sealed-${id}`,
  });
  const told = (output_index: number, id: string, pieces: string[]) => [
    { type: 'response.output_item.added', output_index, item: { type: 'reasoning', id, summary: [] } },
    ...pieces.map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index,
      item_id: id,
      summary_index: 0,
      delta,
    })),
    { type: 'response.output_item.done', output_index, item: item(id, pieces.join('')) },
  ];
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' };
  const output = [item('rs_1', 'One, two, three.'), item('rs_2', 'Four.'), call];
  const answer: JsonObject[] = [
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
    ...told(0, 'rs_1', ['One, ', 'two, ', 'three.']),
    ...told(1, 'rs_2', ['Four.']),
    { type: 'response.output_item.added', output_index: 2, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.done', output_index: 2, item_id: 'fc_1', arguments: '{}' },
    { type: 'response.output_item.done', output_index: 2, item: call },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output } },
  ];

  for (const client of clients.filter((format) => format !== 'openai-responses')) {
    it(`come back as two, each with its text, through ${client}`, () => {
      const { input } = returned(client, targetOf('openai-responses'), answer);
      const items = listOf(input)
        .map(objectOf)
        .filter(({ type }) => type === 'reasoning');
      assert.deepEqual(
        items.map(({ encrypted_content, summary }) => [
          encrypted_content,
          objectOf(listOf(summary)[0])['text'],
        ]),
        [
          ['sealed-rs_1', 'One, two, three.'],
          ['sealed-rs_2', 'Four.'],
        ],
      );
    });
  }
});

describe('a signature on a message of Google’s chat surface', () => {
  const extra_content = { google: { thought_signature: 'dGV4dA==' } };
  const delta = (said: JsonObject, finish_reason: string | null = null): JsonObject => ({
    id: 'c1',
    choices: [{ index: 0, delta: said, finish_reason }],
  });
  const answer = [delta({ content: 'Yes.' }), delta({ content: '', extra_content }, 'stop')];

  for (const client of clients.filter((format) => format !== 'openai-chat')) {
    it(`comes back to it through ${client}`, () => {
      const { messages } = returned(client, targetOf('openai-chat', gemini), answer);
      assert.deepEqual(objectOf(listOf(messages)[1]), { role: 'assistant', content: 'Yes.', extra_content });
    });
  }

  it('comes from a client’s history to Google’s own surface', () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: 'Yes.', extra_content },
      { role: 'user', content: 'Sure?' },
    ];
    const body = [Buffer.from(JSON.stringify({ model: 'asked', messages }))];
    const { body: sent } = translateRequest(
      { body, named: null, target: targetOf('gemini', gemini) },
      'openai-chat',
    );
    assert.deepEqual(JSON.parse(sent.toString()).contents[1].parts, [
      { text: 'Yes.', thoughtSignature: 'dGV4dA==' },
    ]);
  });
});

describe('thinking after a call that another model made', () => {
  const messages = [
    { role: 'user', content: 'List the files.' },
    {
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'list', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'a.txt' },
  ];
  const asked = (model: string, more: JsonObject[] = []) => {
    const thinking = { reasoning_effort: 'high', messages: [...messages, ...more] };
    const body = [Buffer.from(JSON.stringify({ model: 'asked', ...thinking }))];
    const target = { ...targetOf('anthropic-messages'), model };
    const request = translateRequest({ body, named: null, target }, 'openai-chat');
    return JSON.parse(Buffer.concat(request.body).toString());
  };

  it('stays enabled if the model thinks adaptively, and is disabled if it has a budget', () => {
    assert.deepEqual(asked('claude-sonnet-4-6').thinking, { type: 'adaptive' });
    assert.deepEqual(asked('claude-opus-4-8').thinking, { type: 'adaptive' });
    assert.deepEqual(asked('claude-sonnet-4-5').thinking, { type: 'disabled' });
  });

  it('is enabled again with the user’s next turn', () => {
    const next = [
      { role: 'assistant', content: 'There is one.' },
      { role: 'user', content: 'Read it.' },
    ];
    assert.equal(asked('claude-sonnet-4-5', next).thinking.type, 'enabled');
  });

  it('becomes adaptive if the model supports both', () => {
    const contents = [
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts: [{ functionCall: { name: 'list', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'list', response: { output: 'a.txt' } } }] },
    ];
    const generationConfig = { thinkingConfig: { thinkingBudget: 2_000 } };
    const body = [Buffer.from(JSON.stringify({ contents, generationConfig }))];
    const named = { model: 'asked', stream: false, array: false };
    const target = { ...targetOf('anthropic-messages'), model: 'claude-opus-4-6' };
    const { body: sent } = translateRequest({ body, named, target }, 'gemini');
    const request = JSON.parse(Buffer.concat(sent).toString());
    assert.deepEqual(request.thinking, { type: 'adaptive', display: 'omitted' });
  });
});
