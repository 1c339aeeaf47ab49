import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import {
  formatAsked,
  pairs,
  speakerOf,
  streamIn,
  streamRequest,
  streamType,
  understood,
} from '../../support/formats/formats-matrix.ts';
import { fleet } from '../../support/gateway/fleet.ts';
import { chatAnswer, messagesAnswer, responsesAnswer } from '../../support/upstream/answers.ts';
import { body, chunk, end, json, open, type Step, stream } from '../../support/upstream/steps.ts';

const hi = [{ role: 'user', content: 'hi' }];

/** A request of each format whose answer is one JSON document, and a good answer to it. */
const whole = {
  'openai-compatible /v1/chat/completions': [{ messages: hi }, chatAnswer()],
  'openai-compatible /v1/completions': [
    { prompt: 'hi' },
    { id: 'cmpl-1', choices: [{ index: 0, text: 'Hello' }] },
  ],
  'openai-compatible /v1/embeddings': [{ input: 'hi' }, { object: 'list', data: [{ embedding: [1, 2] }] }],
  'openai-compatible /v1/moderations': [{ input: 'hi' }, { id: 'modr-1', results: [{ flagged: false }] }],
  'openai-compatible /v1/rerank': [
    { query: 'hi', documents: ['ho'] },
    { results: [{ index: 0, relevance_score: 1 }] },
  ],
  'openai-compatible /v1/images/generations': [
    { prompt: 'hi' },
    { created: 1, data: [{ b64_json: 'aGk=' }] },
  ],
  'responses-compatible /v1/responses': [{ input: 'hi', store: false }, responsesAnswer()],
  'anthropic-compatible /v1/messages': [{ max_tokens: 9, messages: hi }, messagesAnswer()],
  'gemini-compatible /v1beta/models/{}:generateContent': [
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
    { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP' }] },
  ],
  'ollama-compatible /api/v1/editor/{key}/api/chat': [
    { messages: hi, stream: false },
    { model: 'm', message: { role: 'assistant', content: 'Hello' }, done: true },
  ],
} as const satisfies Record<string, readonly [object, object]>;

/** What stands in the place of an answer, labelled as JSON. */
const damaged = {
  'half a document': '{"choices": [',
  'the word null': 'null',
  'a number': '42',
  'a number that is none': '{"choices":[],"logprobs":NaN}',
  'bytes behind a document': '{"choices":[]} {"debug":1}',
  'a control character in a text': '{"choices":"a\u0001b"}',
  nothing: '',
};

describe('an upstream that answers 200 with invalid JSON', () => {
  const at = fleet(2);
  before(async () => {
    const providers = new Set([...Object.values(speakerOf), 'openai-compatible']);
    for (const provider of providers) await at.combineAll(provider);
  });
  beforeEach(() => at.gateway.forgive());

  const upstreams = () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    return { first, second };
  };

  const askWhole = (model: (provider: string) => string): Promise<[string, Reply][]> =>
    Promise.all(
      Object.entries(whole).map(async ([name, [request]]): Promise<[string, Reply]> => {
        const [provider = '', path = ''] = name.split(' ');
        const own = path.replace('{}', model(provider)).replace('{key}', at.gateway.key);
        return [name, await at.gateway.ask(own, { model: model(provider), ...request })];
      }),
    );

  for (const [what, text] of Object.entries(damaged)) {
    it(`counts as failed in every format, and another target is tried, when it is ${what}`, async () => {
      const { first, second } = upstreams();
      // A target that has failed for one request would not be the first of the next.
      const allAsked: Step = () => first.request(Object.keys(whole).length - 1);
      first.always(allAsked, body(200, text, { 'content-type': 'application/json' }));
      second.respond(({ path }) => {
        const found = Object.entries(whole).find(([name]) => path.endsWith(name.split(/[/}:]/).at(-1) ?? ''));
        return [json(200, found?.[1][1])];
      });
      for (const [name, reply] of await askWhole((provider) => `c-${provider}`)) {
        assert.equal(reply.status, 200, `${name}: ${reply.text}`);
        assert.match(reply.header('x-gateway-connection') ?? '', /-1$/, name);
        assert.equal(reply.header('x-gateway-attempts'), '2', name);
      }
    });
  }

  it('is reported as such if there is no other target', async () => {
    const { first } = upstreams();
    first.always(body(200, '{"choices": [', { 'content-type': 'application/json' }));
    for (const [name, reply] of await askWhole((provider) => `${provider}-0/m-1`)) {
      assert.equal(reply.status, 502, `${name}: ${reply.text}`);
      assert.match(reply.text, /not a complete JSON object/, name);
    }
  });

  it('may return a list of results if the format has one', async () => {
    const { first } = upstreams();
    first.always(json(200, [{ index: 0, score: 1 }]));
    const ask = (path: string, request: object) =>
      at.gateway.ask(path, { model: 'openai-compatible-0/m-1', ...request });
    assert.equal((await ask('/v1/rerank', { query: 'hi', documents: ['ho'] })).status, 200);
    assert.equal((await ask('/v1/chat/completions', { messages: hi })).status, 502);
  });

  it('never reaches a client with a page that is larger than the buffer', async () => {
    const { first } = upstreams();
    first.always(body(200, `Sorry. ${'x'.repeat(9 * 1024 * 1024)}`, { 'content-type': 'application/json' }));
    const reply = await at.gateway.ask('/v1/chat/completions', {
      model: 'openai-compatible-0/m-1',
      messages: hi,
    });
    assert.equal(reply.status, 502, reply.text.slice(0, 200));
  });

  it('in all frames of its stream counts as failed in all pairs of formats', async () => {
    const { first, second } = upstreams();
    const allAsked: Step = () => first.request(pairs.length - 1);
    first.respond(({ path }) => {
      const format = formatAsked(path);
      const { preamble } = streamIn(format);
      const line =
        format === 'ollama'
          ? '{"message": {"content": "Hel\n'
          : 'data: {"choices": [{"delta": {"content": "Hel\n\n';
      return [allAsked, open(streamType(format)), chunk(`${preamble}${line}`), end()];
    });
    second.respond(({ path }) => {
      const format = formatAsked(path);
      return [stream(streamIn(format).text, 'whole', streamType(format))];
    });
    const replies = await Promise.all(
      pairs.map(async ({ client, upstream }) => {
        const { body: request, path } = streamRequest(client, `c-${speakerOf[upstream]}`, at.gateway.key);
        return { about: `${client} from ${upstream}`, client, reply: await at.gateway.ask(path, request) };
      }),
    );
    for (const { about, client, reply } of replies) {
      assert.equal(understood(client, reply.body).text, 'Hello, wörld 🙂', `${about}: ${reply.text}`);
      assert.match(reply.header('x-gateway-connection') ?? '', /-1$/, about);
    }
  });
});
