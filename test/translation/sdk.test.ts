import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { setting } from '../support/gateway/setting.ts';
import { chatStream, messagesStream } from '../support/upstream/answers.ts';
import { body, json, stream } from '../support/upstream/steps.ts';

/** The official SDKs as clients, each through a whole tool loop with a provider of another format. */
const running = setting();
const gateway = () => running.gateway;
const upstream = () => running.upstream;

const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Köln"}' };
const usage = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 60 },
};
const messagesUsage = { input_tokens: 40, cache_read_input_tokens: 60, output_tokens: 20 };
const schema = { type: 'object' as const, properties: { city: { type: 'string' } } };

/** What the upstream of a format answers with: first a call, then words. */
const upstreams = {
  chat: {
    model: 'up/m-1',
    first: () => chatStream({ text: ['Let me see. '], reasoning: ['Hm.'], tools: [call], usage }).text,
    second: () => chatStream({ text: ['Sun', 'ny ☀'], usage }).text,
    resultIn: (sent: string) => JSON.parse(sent).messages.at(-1),
    result: { role: 'tool', tool_call_id: 'call_1', content: '21 °C' },
  },
  messages: {
    model: 'anth/m-1',
    first: () =>
      messagesStream({ text: ['Let me see. '], reasoning: ['Hm.'], tools: [call], usage: messagesUsage })
        .text,
    second: () => messagesStream({ text: ['Sun', 'ny ☀'], usage: messagesUsage }).text,
    resultIn: (sent: string) => JSON.parse(sent).messages.at(-1),
    result: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '21 °C' }] },
  },
} as const;

type Served = (typeof upstreams)[keyof typeof upstreams];

async function script(served: Served, split: 'frame' | 'byte' | 'whole') {
  upstream().script([stream(served.first(), split)], [stream(served.second(), split)]);
}

async function sentSecond(): Promise<string> {
  return (await (await upstream().request(1)).whole).toString();
}

describe('@anthropic-ai/sdk with a chat provider', () => {
  const client = () => new Anthropic({ baseURL: gateway().url, apiKey: gateway().key, maxRetries: 0 });
  const tools = [{ name: 'weather', input_schema: schema }];

  for (const split of ['frame', 'byte'] as const) {
    it(`finishes a streamed tool loop, frames cut by ${split}`, async () => {
      const served = upstreams.chat;
      await script(served, split);
      const question = { role: 'user' as const, content: 'Weather?' };
      const ask = { model: served.model, max_tokens: 500, tools };
      const first = await client()
        .messages.stream({ ...ask, messages: [question] })
        .finalMessage();
      assert.deepEqual(
        first.content.map(({ type }) => type),
        ['thinking', 'text', 'tool_use'],
      );
      const used = first.content.find((block) => block.type === 'tool_use');
      assert.deepEqual([used?.id, used?.name, used?.input], ['call_1', 'weather', { city: 'Köln' }]);
      assert.deepEqual([first.stop_reason, first.model], ['tool_use', served.model]);
      assert.deepEqual([first.usage.input_tokens, first.usage.cache_read_input_tokens], [40, 60]);
      const result = { type: 'tool_result' as const, tool_use_id: 'call_1', content: '21 °C' };
      const last = await client()
        .messages.stream({
          ...ask,
          messages: [
            question,
            { role: 'assistant', content: first.content },
            { role: 'user', content: [result] },
          ],
        })
        .finalMessage();
      assert.deepEqual(
        last.content.map((block) => block.type === 'text' && block.text),
        ['Sunny ☀'],
      );
      assert.deepEqual(served.resultIn(await sentSecond()), served.result);
    });
  }

  it('gets a whole answer where it asked for one', async () => {
    const answer = { id: 'c', object: 'chat.completion', created: 1, model: 'm-1', usage };
    const message = {
      role: 'assistant',
      content: 'Hi',
      tool_calls: [{ id: 'call_1', type: 'function', function: call }],
    };
    upstream().always(
      json(200, { ...answer, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }),
    );
    const {
      content,
      stop_reason,
      usage: counted,
    } = await client().messages.create({
      model: 'up/m-1',
      max_tokens: 9,
      tools,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'tool_use'],
    );
    assert.deepEqual([stop_reason, counted.input_tokens, counted.output_tokens], ['tool_use', 40, 20]);
  });

  it('gets the provider’s failure as its own typed error', async () => {
    const rateLimit = { error: { message: 'slow down', type: 'requests', code: null, param: null } };
    upstream().always(json(429, rateLimit, { 'retry-after': '7', 'x-ratelimit-remaining-requests': '0' }));
    await assert.rejects(
      client().messages.create({
        model: 'up/m-1',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
      (error) =>
        error instanceof Anthropic.RateLimitError &&
        error.headers.get('retry-after') === '7' &&
        error.message.includes('slow down'),
    );
    // It said when to come back, and until then nobody would be asked.
    await gateway().forgive();
    upstream().always(body(502, '<html>Bad gateway</html>', { 'content-type': 'text/html' }));
    await assert.rejects(
      client().messages.create({
        model: 'up/m-1',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
      Anthropic.InternalServerError,
    );
  });
});

describe('openai chat with a messages provider', () => {
  const client = () => new OpenAI({ baseURL: `${gateway().url}/v1`, apiKey: gateway().key, maxRetries: 0 });
  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: schema } }];

  it('finishes a streamed tool loop', async () => {
    const served = upstreams.messages;
    await script(served, 'frame');
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Weather?' }];
    const ask = { model: served.model, tools, stream_options: { include_usage: true } };
    const first = await client()
      .chat.completions.stream({ ...ask, messages })
      .finalChatCompletion();
    const [choice] = first.choices;
    assert.deepEqual([choice?.finish_reason, choice?.message.content], ['tool_calls', 'Let me see. ']);
    const [used] = choice?.message.tool_calls ?? [];
    assert.deepEqual(used?.type === 'function' && [used.id, used.function.name, used.function.arguments], [
      'call_1',
      'weather',
      '{"city":"Köln"}',
    ]);
    assert.deepEqual(
      [first.usage?.prompt_tokens, first.usage?.prompt_tokens_details?.cached_tokens],
      [100, 60],
    );
    assert.ok(choice);
    messages.push(choice.message, { role: 'tool', tool_call_id: 'call_1', content: '21 °C' });
    const last = await client()
      .chat.completions.stream({ ...ask, messages })
      .finalChatCompletion();
    assert.equal(last.choices[0]?.message.content, 'Sunny ☀');
    assert.deepEqual(served.resultIn(await sentSecond()), served.result);
  });
});

describe('openai responses', () => {
  const client = () => new OpenAI({ baseURL: `${gateway().url}/v1`, apiKey: gateway().key, maxRetries: 0 });
  const tools = [{ type: 'function' as const, name: 'weather', parameters: schema, strict: false }];

  for (const [name, served] of Object.entries(upstreams)) {
    it(`finishes a streamed tool loop with a ${name} provider`, async () => {
      await script(served, 'frame');
      const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Weather?' }];
      const ask = { model: served.model, tools };
      const first = await client()
        .responses.stream({ ...ask, input })
        .finalResponse();
      assert.deepEqual(
        first.output.map(({ type }) => type),
        ['reasoning', 'message', 'function_call'],
      );
      const used = first.output.find((item) => item.type === 'function_call');
      assert.deepEqual(
        [used?.call_id, used?.name, used?.arguments],
        ['call_1', 'weather', '{"city":"Köln"}'],
      );
      assert.deepEqual(
        [first.usage?.input_tokens, first.usage?.input_tokens_details.cached_tokens],
        [100, 60],
      );
      input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]), {
        type: 'function_call_output',
        call_id: 'call_1',
        output: '21 °C',
      });
      const last = await client()
        .responses.stream({ ...ask, input })
        .finalResponse();
      assert.equal(last.output_text, 'Sunny ☀');
      assert.deepEqual(served.resultIn(await sentSecond()), served.result);
    });
  }

  it('names dropped fields in a header', async () => {
    upstream().always(stream(chatStream().text));
    const reply = await gateway().ask('/v1/responses', {
      model: 'up/m-1',
      input: 'hi',
      stream: true,
      client_metadata: { a: 1 },
    });
    assert.equal(reply.header('x-gateway-dropped'), 'client_metadata');
    assert.match(reply.text, /response\.completed/);
  });

  it('is refused with the field whose omission would change the answer', async () => {
    upstream().always(stream(chatStream().text));
    const reply = await gateway().ask('/v1/responses', {
      model: 'up/m-1',
      input: 'hi',
      previous_response_id: 'r',
    });
    assert.equal(reply.status, 400);
    assert.deepEqual(
      (reply.json()['error'] as { param: string; code: string }).param,
      'previous_response_id',
    );
    assert.equal(upstream().requests.length, 0);
  });

  it('ends with response.failed when the provider broke off after words', async () => {
    const { content, preamble } = chatStream();
    upstream().always(stream(preamble + content.join('')));
    const reply = await gateway().ask('/v1/responses', { model: 'up/m-1', input: 'hi', stream: true });
    assert.match(reply.text, /event: response\.failed/);
    assert.doesNotMatch(reply.text, /response\.completed/);
    const row = await gateway().entry(reply.header('x-request-id'));
    assert.deepEqual([row.outcome, row.estimated], ['failed', true]);
  });

  it('is in the ledger with the provider’s own usage', async () => {
    upstream().always(stream(messagesStream({ usage: messagesUsage }).text));
    const reply = await gateway().ask('/v1/responses', { model: 'anth/m-1', input: 'hi', stream: true });
    const row = await gateway().entry(reply.header('x-request-id'));
    assert.deepEqual(
      [
        row.format,
        row.model,
        row.streamed,
        row.usage?.['input'],
        row.usage?.['cache_read'],
        row.usage?.['output'],
      ],
      ['openai-responses', 'm-1', true, 40, 60, 20],
    );
  });
});
