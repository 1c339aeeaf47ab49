import assert from 'node:assert/strict';
import { afterEach, before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { codecOf } from '../../../src/codecs/index.ts';
import type { StreamPart } from '../../../src/codecs/model/stream-part.ts';
import type { Reply } from '../../support/clients/client.ts';
import { clients, fleet, traceOf } from '../../support/gateway/fleet.ts';
import { waitFor } from '../../support/gateway/gateway.ts';
import { chatStream, messagesStream, responsesStream } from '../../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../../support/upstream/answers-native.ts';
import { chunk, json, open, reset, type Step, stream } from '../../support/upstream/steps.ts';
import type { SeenRequest } from '../../support/upstream/upstream.ts';

const providers = [
  'openai-compatible',
  'anthropic-compatible',
  'responses-compatible',
  'gemini-compatible',
  'ollama-compatible',
  'llama-cpp',
  'vllm',
  'moonshot',
  'mistral',
];

const wires = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
  gemini: 'gemini',
  ollama: 'ollama',
} as const;
type Client = keyof typeof wires;

interface Said {
  text?: string[];
  reasoning?: string[];
  tools?: { id: string; name: string; arguments: string }[];
}

/** A stream in the format that the path of a request has. */
function streamFor({ path }: Pick<SeenRequest, 'path'>, said: Said): string {
  if (path.includes('/messages')) return messagesStream(said).text;
  if (path.includes('/responses')) return responsesStream(said).text;
  if (path.includes('Content')) return geminiStream(said);
  return path.includes('/api/chat') ? ollamaStream(said) : chatStream(said).text;
}

const typeOf = ({ path }: Pick<SeenRequest, 'path'>) => ({
  'content-type': path.includes('/api/chat') ? 'application/x-ndjson' : 'text/event-stream',
});

const whole = (said: Said) => (request: SeenRequest) => [
  stream(streamFor(request, said), 'whole', typeOf(request)),
];

/** A stream that breaks off inside the frame after the one that says `last`, or goes on with `instead`. */
const broken = (said: Said, last: string, instead?: string) => (request: SeenRequest) => {
  const lines = request.path.includes('/api/chat');
  const frames = streamFor(request, said).split(lines ? /(?<=\n)/ : /(?<=\n\r?\n)/);
  const at = frames.findIndex((frame) => frame.includes(last));
  const next = frames[at + 1];
  assert.ok(at !== -1 && next !== undefined);
  const begun = frames.slice(0, at + 1).join('');
  if (instead !== undefined) return [stream(begun + instead + next, 'whole', typeOf(request))];
  return [open(typeOf(request)), chunk(begun + next.slice(0, next.length / 2)), reset()];
};

/** What a client understands of a stream. */
function understood(
  client: Client,
  { body }: Reply,
): { text: string; thoughts: string; parts: StreamPart[] } {
  const { conversation, stream: own } = codecOf(wires[client]);
  const reader = conversation?.reader();
  assert.ok(reader && own);
  const { frames, rest } = own.split(body);
  assert.equal(rest.toString(), '', 'whole frames');
  const parts = [...frames.flatMap((frame) => reader.push(frame)), ...reader.end()];
  const all = (type: StreamPart['type']) =>
    parts.map((part) => (part.type === type && 'text' in part ? part.text : '')).join('');
  return { text: all('text-delta'), thoughts: all('reasoning-delta'), parts };
}

describe('an answer that breaks off', () => {
  const at = fleet(2);
  const upstreams = () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    return { first, second };
  };
  before(async () => {
    for (const provider of providers) await at.connectAll(provider);
  });

  const ready = async () => {
    for (const provider of providers) {
      await at.reset(`${provider}-0`);
      await at.reset(`${provider}-1`);
    }
  };
  afterEach(ready);

  async function combo(
    one: string,
    two: string,
    options: object = { continue_stream: true },
  ): Promise<string> {
    const name = `${one}.${two}.${Object.values(options).join('')}`;
    const targets = [`${one}-0/m-1`, `${two}-1/m-2`];
    const known = await at.manage('GET', `/api/combos/${name}`);
    if (known.status === 200) return name;
    const reply = await at.manage('POST', '/api/combos', { name, targets, options });
    assert.equal(reply.status, 200, reply.text);
    return name;
  }

  const ask = (client: string, model: string, more: object = {}) => {
    const asking = clients[client];
    assert.ok(asking);
    const { body, path } = asking(model, at.gateway.key);
    return at.gateway.ask(path, { ...body, ...more });
  };

  async function row(reply: Reply): Promise<Record<string, unknown>> {
    let shown: Record<string, unknown> | null = null;
    await waitFor('the row', async () => {
      const found = await at.manage('GET', `/api/requests/${reply.header('x-request-id')}`);
      shown = found.status === 200 ? found.json() : null;
      return shown !== null;
    });
    return shown ?? {};
  }

  const lastMessage = ({ body }: SeenRequest) => {
    const sent = JSON.parse(body.toString());
    return (sent.messages ?? sent.contents).at(-1);
  };

  for (const client of Object.keys(clients) as Client[]) {
    for (const one of [
      'openai-compatible',
      'anthropic-compatible',
      'gemini-compatible',
      'ollama-compatible',
    ]) {
      for (const two of ['anthropic-compatible', 'gemini-compatible', 'ollama-compatible', 'llama-cpp']) {
        it(`is continued by ${two} after ${one}, for clients of ${client}`, async () => {
          const { first, second } = upstreams();
          const model = await combo(one, two);
          first.respond(broken({ text: ['One ', 'two ', 'lost'] }, 'two '));
          second.respond(whole({ text: [' three', ' four'] }));
          const reply = await ask(client, model);
          assert.equal(reply.status, 200, reply.text);
          const { parts, text } = understood(client, reply);
          assert.equal(text, 'One two three four', reply.text);
          assert.equal(parts.filter(({ type }) => type === 'message-start').length, 1);
          assert.equal(parts.at(-1)?.type, 'message-end', reply.text);
          assert.equal(parts.filter(({ type }) => type === 'text-start').length, 1);
          const ids = reply.text.matchAll(/^data: .*?"(?:id":"(?:chatcmpl-)|responseId":")([^"]+)"/gm);
          assert.ok(new Set([...ids].map(([, id]) => id)).size <= 1, 'one id');
          const [request] = second.requests;
          assert.ok(request);
          assert.match(
            JSON.stringify(lastMessage(request)),
            /"role":"(assistant|model)".*"One two"|"One two".*"role":"(assistant|model)"/,
          );
          const { attempts } = await traceOf(at, reply);
          assert.deepEqual(
            attempts.map(({ connection, outcome, begun_with }) => [connection, outcome, begun_with]),
            [
              [`${one}-0`, 'failed', undefined],
              [`${two}-1`, 'answered', 8],
            ],
          );
          const { continued, outcome, attempts: count } = await row(reply);
          assert.deepEqual([continued, outcome, count], [1, 'ok', 2]);
        });
      }
    }
  }

  const begun = { text: ['One ', 'two ', 'lost'] };

  it('is continued with the flag that a server needs, without repeated text', async () => {
    const { first, second } = upstreams();
    const told: Record<string, object> = {
      vllm: { continue_final_message: true, add_generation_prompt: false },
      moonshot: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'One two', partial: true },
        ],
      },
      mistral: {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: 'One two', prefix: true },
        ],
      },
    };
    for (const [provider, members] of Object.entries(told)) {
      await ready();
      const model = await combo('openai-compatible', provider);
      first.respond(broken(begun, 'two '));
      const text = provider === 'mistral' ? ['One', ' two', ' three', ' four'] : ['three', ' four'];
      second.respond(whole({ text }));
      const reply = await ask('chat', model);
      assert.equal(understood('chat', reply).text, 'One two three four');
      assert.deepEqual(
        { ...JSON.parse(second.requests[0]?.body.toString() ?? ''), ...members },
        JSON.parse(second.requests[0]?.body.toString() ?? ''),
      );
    }
  });

  it('is requested again if it broke off during reasoning', async () => {
    const { first, second } = upstreams();
    for (const client of ['chat', 'messages', 'responses'] as const) {
      await ready();
      const model = await combo('anthropic-compatible', 'openai-compatible');
      first.respond(broken({ reasoning: ['Let me', ' see'], text: ['lost'] }, ' see'));
      second.respond(whole({ reasoning: ['Well'], text: ['Four'] }));
      const reply = await ask(client, model);
      const { parts, text, thoughts } = understood(client, reply);
      assert.equal(text, 'Four', reply.text);
      assert.match(thoughts, /Let me see.*Well/s);
      assert.equal(parts.at(-1)?.type, 'message-end');
      assert.equal(JSON.parse(second.requests[0]?.body.toString() ?? '').messages.length, 1);
    }
  });

  it('is continued after an error inside the stream, which the client does not see', async () => {
    const { first, second } = upstreams();
    const error = `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}\n\n`;
    const model = await combo('anthropic-compatible', 'anthropic-compatible');
    first.respond(broken(begun, 'two ', error));
    second.respond(whole({ text: ['three'] }));
    const reply = await ask('messages', model);
    assert.equal(understood('messages', reply).text, 'One two three');
    assert.equal(reply.text.includes('verloaded'), false);
  });

  it('goes from target to target as often as it breaks off', async () => {
    const { first, second } = upstreams();
    const model = await combo('anthropic-compatible', 'gemini-compatible');
    const turns = [broken({ text: ['One', ' two', 'lost'] }, ' two'), whole({ text: [' five'] })];
    first.respond((request) => turns.shift()?.(request) ?? []);
    second.respond(broken({ text: [' three', ' four', 'lost'] }, ' four'));
    const reply = await ask('messages', model);
    assert.equal(understood('messages', reply).text, 'One two three four five');
    assert.equal((await row(reply))['continued'], 2);
    const { attempts } = await traceOf(at, reply);
    assert.deepEqual(
      attempts.map((one) => one.begun_with),
      [undefined, 7, 18],
    );
  });

  it('counts what each target used, and costs what each of them does', async () => {
    const { first, second } = upstreams();
    const own = await combo('openai-compatible', 'anthropic-compatible');
    first.respond(broken({ text: ['x'.repeat(400), ' lost', ' lost'] }, 'xxxx'));
    second.respond(whole({ text: ['three'] }));
    const reply = await ask('chat', own, { stream_options: { include_usage: true } });
    const { estimated, input_tokens, output_tokens } = await row(reply);
    assert.equal(estimated, true);
    // The second target reports 12 and 5; of the first it is known what was read and written, about.
    assert.ok(Number(output_tokens) >= 5 + 90 && Number(output_tokens) <= 5 + 200, String(output_tokens));
    assert.ok(Number(input_tokens) > 12);
    const end = understood('chat', reply).parts.at(-1);
    assert.ok(end?.type === 'message-end' && end.usage !== null);
    assert.equal(end.usage.output, output_tokens);
  });

  const ends: readonly [string, () => Promise<string>, (request: SeenRequest) => Step[], object][] = [
    [
      'where the combo does not want that',
      () => combo('openai-compatible', 'anthropic-compatible', { continue_stream: false }),
      broken(begun, 'two '),
      {},
    ],
    ['where nobody can', () => combo('openai-compatible', 'openai-compatible'), broken(begun, 'two '), {}],
    [
      'after a call has begun',
      () => combo('openai-compatible', 'anthropic-compatible'),
      broken({ text: ['One '], tools: [{ id: 'call_1', name: 'f', arguments: '{"a":1}' }] }, 'call_1'),
      {},
    ],
    [
      'for one of several answers',
      () => combo('openai-compatible', 'anthropic-compatible'),
      broken(begun, 'two '),
      { n: 2 },
    ],
    [
      'for an answer in a form',
      () => combo('openai-compatible', 'anthropic-compatible'),
      broken(begun, 'two '),
      { response_format: { type: 'json_object' } },
    ],
  ];
  for (const [what, made, answer, more] of ends) {
    it(`is not continued ${what}`, async () => {
      const { first, second } = upstreams();
      const model = await made();
      first.respond(answer);
      second.respond(whole({ text: ['three'] }));
      const reply = await ask('chat', model, more);
      assert.equal(reply.end, 'cut');
      assert.match(reply.text, /One /);
      assert.equal(second.requests.length, 0);
      const { continued, error, outcome } = await row(reply);
      assert.deepEqual([continued, outcome], [0, 'failed']);
      assert.equal((error as { code: string }).code, 'upstream_cut');
    });
  }

  it('ends with the original error if the others refuse to continue', async () => {
    const { first, second } = upstreams();
    const model = await combo('openai-compatible', 'anthropic-compatible');
    const refusal = {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'This model does not support assistant message prefill.',
      },
    };
    for (const client of ['chat', 'messages', 'responses'] as const) {
      await ready();
      first.respond(broken(begun, 'two '));
      second.always(json(400, refusal));
      const reply = await ask(client, model);
      assert.equal(reply.status, 200);
      assert.equal(second.requests.length, 1);
      const endings = { chat: /lost|$/, messages: /event: error/, responses: /response\.failed/ };
      assert.match(reply.text, endings[client]);
      assert.equal(reply.text.includes('prefill'), false);
      const { attempts, continued, error, outcome } = await row(reply);
      assert.deepEqual([attempts, continued, outcome], [2, 0, 'failed']);
      assert.equal((error as { code: string }).code, 'upstream_cut');
      assert.equal((await at.connection('anthropic-compatible-1')).condition.state, 'ready');
    }
  });

  it('is shown by `explain`', async () => {
    const { first, second } = upstreams();
    const model = await combo('openai-compatible', 'anthropic-compatible');
    first.respond(broken(begun, 'two '));
    second.respond(whole({ text: ['three'] }));
    const reply = await ask('chat', model);
    await traceOf(at, reply);
    const told = await at.gateway.cli('explain', reply.header('x-request-id') ?? '');
    assert.match(
      told.stdout,
      /anthropic-compatible-1\/m-2, going on after 8 characters, after \d+ ms: 200 answered/,
    );
  });

  it('is one answer to the vendors’ own clients', async () => {
    const { first, second } = upstreams();
    const model = await combo('openai-compatible', 'anthropic-compatible');
    const base = `http://127.0.0.1:${at.gateway.port}`;
    const message = { role: 'user' as const, content: 'hi' };
    const answers = {
      openai: () =>
        new OpenAI({ baseURL: `${base}/v1`, apiKey: at.gateway.key, maxRetries: 0 }).chat.completions
          .stream({ model, messages: [message] })
          .finalContent(),
      anthropic: () =>
        new Anthropic({ baseURL: base, apiKey: at.gateway.key, maxRetries: 0 }).messages
          .stream({ model, max_tokens: 50, messages: [message] })
          .finalText(),
    };
    for (const answer of Object.values(answers)) {
      await ready();
      first.respond(broken(begun, 'two '));
      second.respond(whole({ text: ['three'] }));
      assert.equal(await answer(), 'One two three');
      assert.equal(second.requests.length, 1);
    }
  });
});
