import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type RunningGateway, startGateway } from '../support/gateway/gateway.ts';
import { chatAnswer, chatStream, messagesAnswer, messagesStream } from '../support/upstream/answers.ts';
import { chunk, fin, json, open, stream } from '../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';

/** The official SDKs: one as a client of the older completions, both with a provider that speaks nothing else. */
const running: { gateway?: RunningGateway; upstream?: Upstream } = {};
before(async () => {
  running.upstream = await startUpstream();
  const { url: baseUrl } = running.upstream;
  running.gateway = await startGateway({
    connections: [
      // The first two do not speak completions, the third nothing else.
      { provider: 'groq', name: 'chat', baseUrl },
      { provider: 'anthropic-compatible', name: 'anth', baseUrl },
      { provider: 'completions-compatible', name: 'base', baseUrl },
    ],
  });
});
after(async () => {
  try {
    await running.gateway?.stop();
  } finally {
    await running.upstream?.close();
  }
});

function client(): OpenAI {
  const { key, url } = running.gateway ?? assert.fail('the gateway has not started');
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
}

function upstream(): Upstream {
  return running.upstream ?? assert.fail('the upstream has not started');
}

const text = ['Sun', 'ny ☀'];
const upstreams = {
  chat: { model: 'chat/m-1', streamed: () => chatStream({ text }).text, whole: () => chatAnswer({ text }) },
  messages: {
    model: 'anth/m-1',
    streamed: () => messagesStream({ text }).text,
    whole: () => messagesAnswer({ text }),
  },
};

async function sent(): Promise<Record<string, unknown>> {
  return JSON.parse((await (await upstream().request(0)).whole).toString());
}

for (const [name, { model, streamed, whole }] of Object.entries(upstreams)) {
  describe(`openai completions with a ${name} provider`, () => {
    it('gets a stream with its usage', async () => {
      upstream().script([stream(streamed(), 'byte')]);
      const options = { stream: true, stream_options: { include_usage: true } } as const;
      let said = '';
      let reason: string | null = null;
      let usage: OpenAI.CompletionUsage | null | undefined;
      for await (const chunk of await client().completions.create({
        model,
        prompt: 'Weather?',
        ...options,
      })) {
        said += chunk.choices[0]?.text ?? '';
        reason = chunk.choices[0]?.finish_reason ?? reason;
        usage = chunk.usage ?? usage;
      }
      assert.deepEqual([said, reason], ['Sunny ☀', 'stop']);
      assert.ok((usage?.total_tokens ?? 0) > 0);
    });

    it('gets a whole answer, with the default output limit of the format', async () => {
      upstream().script([json(200, whole())]);
      const { choices, model: named, object } = await client().completions.create({ model, prompt: ['Hi'] });
      assert.deepEqual([choices[0]?.text, choices[0]?.finish_reason], ['Sunny ☀', 'stop']);
      assert.deepEqual([named, object], [model, 'text_completion']);
      const body = await sent();
      assert.equal(body['max_tokens'] ?? body['max_completion_tokens'], 16);
      assert.match(JSON.stringify(body['messages']), /^\[\{"role":"user","content":.*Hi/);
    });

    it('gets an error that names what the provider cannot do, before a request is sent', async () => {
      upstream().script([json(200, whole())]);
      await assert.rejects(
        client().completions.create({ model, prompt: 'def f(', suffix: ')' }),
        (error) =>
          error instanceof OpenAI.BadRequestError &&
          error.param === 'suffix' &&
          error.code === 'not_translatable',
      );
    });

    it('does not take a stream that was cut for a whole one', async () => {
      const all = streamed();
      upstream().script([open(), chunk(all.slice(0, all.indexOf('ny ☀'))), fin()]);
      const read = async () => {
        const chunks = await client().completions.create({ model, prompt: 'Weather?', stream: true });
        for await (const chunk of chunks) assert.equal(chunk.choices[0]?.finish_reason ?? null, null);
      };
      await assert.rejects(read());
    });
  });
}

const completion = {
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1_790_000_000,
  model: 'm-1',
  choices: [{ text: 'Sunny ☀', index: 0, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 },
};
const streamedCompletion = ['Sun', 'ny ☀', ''].map((said, index) => {
  const finish_reason = index === 2 ? 'stop' : null;
  return `data: ${JSON.stringify({ ...completion, choices: [{ text: said, index: 0, logprobs: null, finish_reason }] })}\n\n`;
});

describe('a provider of completions alone', () => {
  it('answers openai chat with a transcript before it', async () => {
    upstream().script([json(200, completion)]);
    const { choices, usage } = await client().chat.completions.create({
      model: 'base/m-1',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Weather?' },
      ],
    });
    assert.deepEqual([choices[0]?.message.content, choices[0]?.finish_reason], ['Sunny ☀', 'stop']);
    assert.deepEqual([usage?.prompt_tokens, usage?.completion_tokens], [30, 4]);
    const body = await sent();
    assert.equal(body['prompt'], 'System:\nBe brief.\n\nUser:\nWeather?\n\nAssistant:\n');
    assert.equal((await upstream().request(0)).path, '/v1/completions');
  });

  it('answers a stream of @anthropic-ai/sdk', async () => {
    upstream().script([stream(`${streamedCompletion.join('')}data: [DONE]\n\n`, 'byte')]);
    const { key, url } = running.gateway ?? assert.fail('the gateway has not started');
    const { content, stop_reason } = await new Anthropic({
      baseURL: url,
      apiKey: key,
      maxRetries: 0,
    }).messages
      .stream({ model: 'base/m-1', max_tokens: 9, messages: [{ role: 'user', content: 'Weather?' }] })
      .finalMessage();
    const [block] = content;
    assert.deepEqual([block?.type === 'text' && block.text, stop_reason], ['Sunny ☀', 'end_turn']);
  });

  it('receives no request that it cannot serve', async () => {
    upstream().script([json(200, completion)]);
    const tools = [{ type: 'function' as const, function: { name: 'f' } }];
    await assert.rejects(
      client().chat.completions.create({
        model: 'base/m-1',
        tools,
        messages: [{ role: 'user', content: 'a' }],
      }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === 'tools',
    );
  });
});
