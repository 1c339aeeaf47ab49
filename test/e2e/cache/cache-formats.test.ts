import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { chat } from '../../support/formats/formats.ts';
import { bearer } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatAnswer } from '../../support/upstream/answers.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting({ config: { prices: { '*/m-1': { input: 10, output: 10 } } }, oneWorker: true });
const state = (reply: Reply) => reply.header('x-gateway-cache');
const hi = [{ role: 'user', content: 'hi' }];
const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
const embeddings = {
  object: 'list',
  model: 'm-1',
  data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 3, total_tokens: 3 },
};

/** What a request asks that is not looked up unless the client sends `x-gateway-cache: on`. */
interface Case {
  path: string;
  body: object;
  answer?: object;
  /** It streams, by its path or by what it leaves out. */
  streams?: boolean;
}

const cases: Readonly<Record<string, Case>> = {
  'a whole answer of chat': { path: chat.path, body: { model: 'up/m-1', messages: hi } },
  'a response that nobody keeps': {
    path: '/v1/responses',
    body: { model: 'up/m-1', input: 'hi', store: false },
  },
  'an older completion': {
    path: '/v1/completions',
    body: { model: 'up/m-1', prompt: 'hi' },
    answer: {
      object: 'text_completion',
      choices: [{ text: 'ho', index: 0, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    },
  },
  embeddings: { path: '/v1/embeddings', body: { model: 'up/m-1', input: 'hi' }, answer: embeddings },
  'an answer of Gemini': { path: '/v1beta/models/up/m-1:generateContent', body: { contents } },
  'a stream of Gemini': {
    path: '/v1beta/models/up/m-1:streamGenerateContent?alt=sse',
    body: { contents },
    streams: true,
  },
  'an answer of Ollama': {
    path: '/api/v1/editor/KEY/api/chat',
    body: { model: 'up/m-1', stream: false, messages: hi },
  },
  'a stream of Ollama': {
    path: '/api/v1/editor/KEY/api/chat',
    body: { model: 'up/m-1', messages: hi },
    streams: true,
  },
};

describe('the cache of answers, in every format', () => {
  let key = '';
  before(async () => {
    key = String((await at.gateway.cliJson('keys', 'add', 'cached', '--cache-ttl', '600'))['key']);
  });

  for (const [name, { answer = chatAnswer(), body, path, streams = false }] of Object.entries(cases)) {
    it(`returns a cached answer for ${name}${streams ? ' on request' : ''}`, async () => {
      at.upstream.always(json(200, answer));
      const ask = (headers: Readonly<Record<string, string>> = {}) =>
        at.gateway.ask(path.replace('KEY', key), body, { ...bearer(key), ...headers });
      const plain = [await ask(), await ask()];
      assert.deepEqual(
        plain.map(({ status }) => status),
        [200, 200],
        plain[0]?.text,
      );
      assert.deepEqual(plain.map(state), streams ? ['bypass', 'bypass'] : ['miss', 'hit']);
      const wanted = { 'x-gateway-cache': 'on' };
      const [made, again] = streams ? [await ask(wanted), await ask(wanted)] : plain;
      assert.ok(made && again);
      assert.deepEqual([made, again].map(state), ['miss', 'hit']);
      assert.equal(again.text, made.text);
      assert.equal(again.header('content-type'), made.header('content-type'));
      assert.equal(at.upstream.requests.length, streams ? 3 : 1);
    });
  }

  it('looks up nothing that a provider or the gateway keeps', async () => {
    at.upstream.always(json(200, chatAnswer()));
    const body = { model: 'up/m-1', input: 'hi' };
    for (const store of [{}, { store: true }])
      assert.equal(
        state(await at.gateway.ask('/v1/responses', { ...body, ...store }, bearer(key))),
        'bypass',
      );
  });

  it('counts a hit in no budget and no limit', async () => {
    const flags = ['--cache-ttl', '600', '--rpm', '1', '--budget-usd', '0.05'];
    const limited = bearer(String((await at.gateway.cliJson('keys', 'add', 'limited', ...flags))['key']));
    const usage = { prompt_tokens: 10, completion_tokens: 4_990, total_tokens: 5_000 };
    at.upstream.always(json(200, { ...chat.answer(), usage }));
    const ask = (seed: number) => at.gateway.ask(chat.path, chat.request({ seed, max_tokens: 10 }), limited);
    assert.deepEqual(state(await ask(1)), 'miss');
    for (let index = 0; index < 3; index += 1) {
      const reply = await ask(1);
      assert.deepEqual([reply.status, state(reply)], [200, 'hit']);
    }
    const other = await ask(2);
    assert.ok(other.status === 429 || other.status === 402, 'everything is used up');
    assert.equal((await ask(1)).status, 200);
  });
});
