import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { asAsked } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatStream, messagesStream, responsesStream } from '../../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../../support/upstream/answers-native.ts';
import { stream } from '../../support/upstream/steps.ts';

const at = setting();
/** Servers that speak one format alone. */
const connectPlain = () =>
  before(async () => {
    const baseUrl = at.upstream.url;
    for (const format of ['responses', 'gemini', 'ollama'])
      await at.gateway.connect({ provider: `${format}-compatible`, name: `plain-${format}`, baseUrl });
  });

const hi = [{ role: 'user', content: 'hi' }];

/** How each format is asked for a stream. */
const clients = {
  chat: (model) =>
    at.gateway.ask('/v1/chat/completions', {
      model,
      messages: hi,
      stream: true,
      stream_options: { include_usage: true },
    }),
  responses: (model) => at.gateway.ask('/v1/responses', { model, input: 'hi', stream: true }),
  messages: (model) => at.gateway.ask('/v1/messages', { model, max_tokens: 9, messages: hi, stream: true }),
  completions: (model) => at.gateway.ask('/v1/completions', { model, prompt: 'hi', stream: true }),
  gemini: (model) =>
    at.gateway.ask(`/v1beta/models/${model}:streamGenerateContent?alt=sse`, {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    }),
  ollama: (model) => at.gateway.ask(`/api/v1/editor/${at.gateway.key}/api/chat`, { model, messages: hi }),
} satisfies Record<string, (model: string) => Promise<Reply>>;
type Client = keyof typeof clients;

type Answer = (options: { text: string[]; reasoning?: string[]; tools?: [] }) => string;
const upstreams: Readonly<Partial<Record<Client, { model: string; answer: Answer }>>> = {
  chat: { model: 'up/m-1', answer: (options) => chatStream(options).text },
  responses: { model: 'plain-responses/m-1', answer: (options) => responsesStream(options).text },
  messages: { model: 'anth/m-1', answer: (options) => messagesStream(options).text },
  gemini: { model: 'plain-gemini/m-1', answer: geminiStream },
  ollama: { model: 'plain-ollama/m-1', answer: ollamaStream },
};
/** Clients whose answers from this upstream are translated; the server of chat has completions itself. */
const translatedFrom = (upstream: string) =>
  (Object.keys(clients) as Client[]).filter(
    (client) => client !== upstream && (upstream !== 'chat' || client !== 'completions'),
  );

/** Every JSON text of an answer's records. */
function recordsOf(reply: Reply): string[] {
  const lines = reply.text.split('\n').map((line) => (line.startsWith('data: ') ? line.slice(6) : line));
  return lines.filter((line) => line.startsWith('{'));
}

function eventsOf(reply: Reply): Record<string, unknown>[] {
  return recordsOf(reply).map((record) => JSON.parse(record));
}

describe('a character that an upstream cut in two', () => {
  connectPlain();
  const text = ['a\ud83d', '\ude42b', '\ud83d', '\ude00', '🙂'.repeat(5000), 'c\ud83d', 'd\ude00', 'e\ud83d'];
  const whole = `a🙂b😀${'🙂'.repeat(5000)}c\ufffdd\ufffde\ufffd`;

  for (const [name, upstream] of Object.entries(upstreams))
    it(`is whole again in every other format than ${name}’s`, async () => {
      for (const client of translatedFrom(name)) {
        at.upstream.always(stream(upstream.answer({ text, reasoning: ['x\ud83d', '\ude42'] })));
        const reply = await clients[client](upstream.model);
        assert.equal(reply.status, 200, reply.text);
        for (const record of recordsOf(reply)) assert.doesNotMatch(record, /\\ud[89a-f]/i, client);
        assert.ok(said(client, reply).includes(whole), `${client}: ${said(client, reply).slice(0, 80)}`);
      }
    });
});

/** All that an answer says, its pieces joined. */
function said(client: Client, reply: Reply): string {
  const events = eventsOf(reply) as Wire[];
  switch (client) {
    case 'chat':
      return events.map(({ choices }) => choices?.[0]?.delta?.content ?? '').join('');
    case 'responses':
      return events.map(({ delta, type }) => (type === 'response.output_text.delta' ? delta : '')).join('');
    case 'messages':
      return events.map(({ delta }) => (typeof delta === 'object' ? (delta.text ?? '') : '')).join('');
    case 'completions':
      return events.map(({ choices }) => choices?.[0]?.text ?? '').join('');
    case 'gemini':
      return events
        .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
        .map(({ text, thought }) => (thought ? '' : text))
        .join('');
    case 'ollama':
      return events.map(({ message }) => message?.content ?? '').join('');
  }
}

/** The members of all formats that carry text. */
interface Wire {
  type?: string;
  delta?: string | { text?: string };
  choices?: { text?: string; delta?: { content?: string } }[];
  candidates?: { content?: { parts?: { text: string; thought?: boolean }[] } }[];
  message?: { content?: string };
}

describe('obfuscation padding', () => {
  const padded = (text: string, where: RegExp) => text.replace(where, '$&"obfuscation":"aZ9k2",');

  it('goes to clients of the format, and to no others', async () => {
    const chat = padded(chatStream().text, /data: \{(?="id)/g);
    const responses = padded(responsesStream().text, /data: \{/g);
    for (const [name, model, text] of [
      ['chat', 'up/m-1', chat],
      ['responses', 'plain-responses/m-1', responses],
    ] as const) {
      assert.match(text, /obfuscation/);
      at.upstream.always(stream(text));
      assert.equal((await clients[name](model)).text, asAsked({ model }, text));
      for (const client of translatedFrom(name)) {
        const reply = await clients[client](model);
        assert.equal(reply.status, 200, reply.text);
        assert.doesNotMatch(reply.text, /obfuscation|aZ9k2/, client);
        assert.ok(said(client, reply).startsWith('Hello, wörld'), client);
      }
    }
  });
});

describe('predicted tokens', () => {
  it('are output like any other, and counted once', async () => {
    const details = { reasoning_tokens: 5, accepted_prediction_tokens: 30, rejected_prediction_tokens: 10 };
    const usage = {
      prompt_tokens: 50,
      completion_tokens: 100,
      total_tokens: 150,
      completion_tokens_details: details,
    };
    const answer = stream(chatStream({ usage }).text);
    at.upstream.script([answer], [answer], [answer]);
    const relayed = await clients.chat('up/m-1');
    assert.deepEqual(eventsOf(relayed).at(-1)?.['usage'], usage);
    const messages = await clients.messages('up/m-1');
    const responses = await clients.responses('up/m-1');
    for (const reply of [relayed, messages, responses]) {
      const row = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([row.usage?.['input'], row.usage?.['output'], row.usage?.['reasoning']], [50, 95, 5]);
      if (reply !== relayed) assert.doesNotMatch(reply.text, /prediction/);
    }
    const told = eventsOf(messages).find(({ type }) => type === 'message_delta')?.['usage'];
    assert.equal((told as Record<string, unknown>)['output_tokens'], 100);
  });
});

describe('the tier that an answer was served in', () => {
  /** Frames of each format that name it, in the vendor's own word. */
  const told: Readonly<Record<string, [Client, string, (word: string) => string, string]>> = {
    chat: [
      ...(['chat', 'up/m-1'] as const),
      (word) => chatStream().text.replace(/data: \{(?="id)/g, `$&"service_tier":"${word}",`),
      'default',
    ],
    responses: [
      ...(['responses', 'plain-responses/m-1'] as const),
      (word) => responsesStream().text.replaceAll('"object":"response"', `$&,"service_tier":"${word}"`),
      'default',
    ],
    messages: [
      ...(['messages', 'anth/m-1'] as const),
      (word) => messagesStream({ usage: { service_tier: word } }).text,
      'standard',
    ],
    gemini: [
      ...(['gemini', 'plain-gemini/m-1'] as const),
      (word) =>
        geminiStream({
          usage: { promptTokenCount: 9, candidatesTokenCount: 2, trafficType: word } as object,
        }),
      'ON_DEMAND',
    ],
  };
  const asked = { service_tier: 'auto' };

  for (const [name, [own, model, answer, usual]] of Object.entries(told))
    it(`of ${name} is reported in the terms of every client, whatever was requested`, async () => {
      for (const [word, openai, anthropic] of [
        [usual, 'default', 'standard'],
        ['priority', 'priority', 'priority'],
        ['turbo', 'turbo', undefined],
      ] as const) {
        at.upstream.always(stream(answer(word)));
        if (own !== 'chat')
          assert.equal(eventsOf(await clients.chat(model)).at(-1)?.['service_tier'], openai, word);
        if (own !== 'responses') {
          const body = { model, input: 'hi', stream: false, ...asked };
          const whole = await at.gateway.ask('/v1/responses', body);
          assert.equal(whole.json()['service_tier'], openai, word);
        }
        if (own !== 'messages') {
          const end = eventsOf(await clients.messages(model)).find(({ type }) => type === 'message_delta');
          const used = end?.['usage'] as Record<string, unknown> | undefined;
          assert.equal(used?.['service_tier'], anthropic, word);
        }
      }
    });

  it('is not invented if the provider names none', async () => {
    at.upstream.always(stream(chatStream().text));
    assert.doesNotMatch((await clients.messages('up/m-1')).text, /service_tier/);
    at.upstream.always(stream(messagesStream().text));
    assert.doesNotMatch((await clients.chat('anth/m-1')).text, /service_tier/);
  });
});
