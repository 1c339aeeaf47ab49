import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chat, messages, responses } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json, stream } from '../../support/upstream/steps.ts';

const at = setting();
const details = [
  { type: 'reasoning.text', index: 0, text: 'A file.', signature: 'EqQBsig', format: 'anthropic-claude-v1' },
  { type: 'reasoning.encrypted', index: 1, data: 'gAAAA==', id: 'rs_1', format: 'openai-responses-v1' },
];
const extra_content = { google: { thought_signature: 'Eq0BCsig' } };
const call = { id: 'call_a', type: 'function', function: { name: 'list', arguments: '{}' } };
const [readable, secret] = details;
const message = { role: 'assistant', content: null, reasoning: 'A file.', reasoning_details: details };
const chunks = [
  { role: 'assistant', reasoning: 'A file.', reasoning_details: [{ ...readable, signature: null }] },
  { reasoning_details: [{ type: 'reasoning.text', index: 0, signature: 'EqQBsig' }, secret] },
  { tool_calls: [{ index: 0, ...call, extra_content }] },
];
const frame = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c-1', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const streamed = `${chunks.map((delta) => frame(delta)).join('')}${frame({}, 'tool_calls')}data: [DONE]\n\n`;
const whole = {
  id: 'c-1',
  object: 'chat.completion',
  created: 1,
  model: 'm-1',
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      message: { ...message, tool_calls: [{ ...call, extra_content }] },
    },
  ],
};
const tools = [{ name: 'list', input_schema: { type: 'object' } }];
const question = { role: 'user', content: 'List the files.' };
const result = { type: 'tool_result', tool_use_id: 'call_a', content: 'a.txt' };

/** The blocks of an answer of Anthropic's, streamed or whole. */
function blocksOf(text: string): object[] {
  if (text.startsWith('{')) return JSON.parse(text).content;
  const blocks: Record<string, unknown>[] = [];
  for (const line of text.split('\n').filter((one) => one.startsWith('data: '))) {
    const { content_block, delta, index } = JSON.parse(line.slice(6));
    if (content_block !== undefined) blocks[index] = { ...content_block };
    const block = blocks[index];
    if (block === undefined || delta === undefined) continue;
    if (delta.type === 'thinking_delta') block['thinking'] = `${block['thinking']}${delta.thinking}`;
    if (delta.type === 'signature_delta') block['signature'] = delta.signature;
  }
  return blocks;
}

const assistantIn = (body: Buffer | undefined) =>
  JSON.parse(body?.toString() ?? '').messages.find(({ role }: { role: string }) => role === 'assistant');

describe('reasoning that a chat upstream encrypts', () => {
  for (const kind of ['streamed', 'whole'] as const) {
    it(`comes back to it through Claude’s format, ${kind}, and to no other`, async () => {
      const asked = { model: chat.model, tools, stream: kind === 'streamed', messages: [question] };
      at.upstream.script([kind === 'streamed' ? stream(streamed) : json(200, whole)]);
      const first = await at.gateway.ask(messages.path, messages.request(asked));
      assert.equal(first.status, 200, first.text);
      const history = [
        question,
        { role: 'assistant', content: blocksOf(first.text) },
        { role: 'user', content: [result] },
      ];
      for (const [model, back] of [
        [chat.model, true],
        ['up/other-1', false],
      ] as const) {
        at.upstream.script([json(200, chat.answer())]);
        const next = await at.gateway.ask(
          messages.path,
          messages.request({ model, tools, messages: history }),
        );
        assert.equal(next.status, 200, next.text);
        const sent = assistantIn(at.upstream.requests[0]?.body);
        assert.deepEqual(sent.reasoning_details, back ? details : undefined, model);
        assert.deepEqual(sent.tool_calls, [back ? { ...call, extra_content } : call], model);
      }
    });
  }

  it('comes back through the responses format, and is omitted once if it is refused', async () => {
    at.upstream.script([json(200, whole)]);
    const asked = { model: chat.model, input: [question], store: false };
    const first = await at.gateway.ask(responses.path, asked);
    assert.equal(first.status, 200, first.text);
    const output = first.json()['output'] as object[];
    const input = [question, ...output, { type: 'function_call_output', call_id: 'call_a', output: 'a.txt' }];
    const error = { message: 'reasoning_details: invalid encrypted content', type: 'invalid_request_error' };
    at.upstream.script([json(400, { error })], [json(200, chat.answer())]);
    const next = await at.gateway.ask(responses.path, { ...asked, input });
    assert.equal(next.status, 200, next.text);
    assert.equal(next.header('x-gateway-dropped'), 'reasoning');
    const [one, two] = at.upstream.requests.map(({ body }) => assistantIn(body));
    assert.deepEqual(one.reasoning_details, details);
    assert.deepEqual(one.tool_calls, [{ ...call, extra_content }]);
    assert.equal(two.reasoning_details, undefined);
  });
});

describe('reasoning that Anthropic encrypts for a chat client', () => {
  const content = [
    { type: 'thinking', thinking: 'A file.', signature: 'EqQBsig' },
    { type: 'tool_use', id: 'call_a', name: 'list', input: {} },
  ];
  const answer = { ...messages.answer(), content, stop_reason: 'tool_use' };
  const event = (type: string, rest: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`;
  const usage = { input_tokens: 3, output_tokens: 5 };
  const started = event('message_start', { message: { ...answer, content: [], stop_reason: null, usage } });
  const thinks = [
    event('content_block_start', {
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    }),
    event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'A ' } }),
    event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'file.' } }),
    event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'EqQBsig' } }),
    event('content_block_stop', { index: 0 }),
    event('content_block_start', { index: 1, content_block: content[1] ?? {} }),
    event('content_block_stop', { index: 1 }),
    event('message_delta', { delta: { stop_reason: 'tool_use', stop_sequence: null }, usage }),
    event('message_stop', {}),
  ];
  const tool = { type: 'function', function: { name: 'list', parameters: { type: 'object' } } };

  /** The message that a client keeps which adds up what the pieces of a stream say. */
  function messageOf(text: string): Record<string, unknown> {
    if (text.startsWith('{')) return JSON.parse(text).choices[0].message;
    const kept: Record<string, unknown> = { role: 'assistant', content: null };
    for (const line of text.split('\n').filter((one) => one.startsWith('data: {'))) {
      const { reasoning_details, tool_calls } = JSON.parse(line.slice(6)).choices[0]?.delta ?? {};
      if (reasoning_details !== undefined) kept['reasoning_details'] = reasoning_details;
      for (const { index, ...one } of tool_calls ?? []) {
        const [before] = (kept['tool_calls'] as (typeof call)[] | undefined) ?? [];
        const args = `${before?.function.arguments ?? ''}${one.function.arguments}`;
        const whole = { ...before, ...one };
        kept['tool_calls'] = [
          { ...whole, function: { ...before?.function, ...one.function, arguments: args } },
        ];
        assert.equal(index, 0);
      }
    }
    return kept;
  }

  for (const kind of ['streamed', 'whole'] as const)
    it(`comes back to it, ${kind}, and to no other`, async () => {
      const asked = { model: messages.model, tools: [tool], reasoning_effort: 'low', messages: [question] };
      at.upstream.script([kind === 'streamed' ? stream([started, ...thinks].join('')) : json(200, answer)]);
      const first = await at.gateway.ask(chat.path, { ...asked, stream: kind === 'streamed' });
      assert.equal(first.status, 200, first.text);
      const done = { role: 'tool', tool_call_id: 'call_a', content: 'a.txt' };
      const history = [question, messageOf(first.text), done];
      for (const [model, back] of [
        [messages.model, true],
        ['anth/other-1', false],
      ] as const) {
        at.upstream.script([json(200, messages.answer())]);
        const next = await at.gateway.ask(chat.path, { ...asked, model, messages: history });
        assert.equal(next.status, 200, next.text);
        const sent = assistantIn(at.upstream.requests[0]?.body).content;
        assert.deepEqual(sent, back ? content : content.slice(1), model);
      }
    });

  it('is left out of a request to another chat server before it is sent', async () => {
    at.upstream.script([json(200, answer)]);
    const asked = { model: messages.model, tools: [tool], messages: [question] };
    const first = await at.gateway.ask(chat.path, asked);
    const done = { role: 'tool', tool_call_id: 'call_a', content: 'a.txt' };
    const history = [question, messageOf(first.text), done];
    at.upstream.script([json(200, chat.answer())]);
    const next = await at.gateway.ask(chat.path, { ...asked, model: chat.model, messages: history });
    assert.equal(next.status, 200, next.text);
    assert.equal(next.header('x-gateway-dropped'), 'reasoning');
    const [one] = at.upstream.requests.map(({ body }) => assistantIn(body));
    assert.equal(one.reasoning_details, undefined);
    assert.equal(one.tool_calls.length, 1);
  });
});

describe('reasoning that a chat server encrypted', () => {
  it('is omitted if another server does not know the field that carries it', async () => {
    const reasoning_details = [{ type: 'reasoning.encrypted', data: 'gAAAA', id: 'rs_1', index: 0 }];
    const history = [question, { role: 'assistant', content: 'Yes', reasoning_details }, question];
    const strict = {
      detail: [
        {
          type: 'extra_forbidden',
          loc: ['body', 'messages', 1, 'assistant', 'reasoning_details'],
          msg: 'Extra inputs are not permitted',
        },
      ],
    };
    for (const [model, refusal] of [
      [
        'up/one',
        json(400, {
          error: { message: "property 'messages.1.reasoning_details' is unsupported", type: 'x' },
        }),
      ],
      ['up/two', json(422, strict)],
    ] as const) {
      at.upstream.script([refusal], [json(200, chat.answer())]);
      const next = await at.gateway.ask(chat.path, { model, messages: history });
      assert.equal(next.status, 200, next.text);
      assert.equal(next.header('x-gateway-dropped'), 'messages.reasoning_details');
      const [one, two] = at.upstream.requests.map(({ body }) => assistantIn(body));
      assert.equal(one.reasoning_details.length, 1);
      assert.equal(two.reasoning_details, undefined);
    }
  });
});
