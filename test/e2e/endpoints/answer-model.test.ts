import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import type { Reply } from '../../support/clients/client.ts';
import { openSocket } from '../../support/clients/socket.ts';
import { setting } from '../../support/gateway/setting.ts';
import {
  chatAnswer,
  chatStream,
  messagesAnswer,
  messagesStream,
  responsesAnswer,
  responsesStream,
} from '../../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../../support/upstream/answers-native.ts';
import { json, stream } from '../../support/upstream/steps.ts';

const at = setting();
const messages = [{ role: 'user' as const, content: 'hi' }];

/** One format, relayed: how it is asked for, and what the upstream answers, which calls its model `m-1`. */
interface Case {
  connection: string;
  ask(model: string, stream: boolean): Promise<Reply>;
  whole: object;
  streamed: string;
  type?: string;
}

const post = (path: string, body: object) => (model: string, streams: boolean) =>
  at.gateway.ask(path, { model, stream: streams, ...body });
const completion = (text: string, reason: string | null) => ({
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1,
  model: 'm-1',
  choices: [{ index: 0, text, logprobs: null, finish_reason: reason }],
});
const geminiChunk = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
};

const cases: Readonly<Record<string, Case>> = {
  'chat completions': {
    connection: 'up',
    ask: post('/v1/chat/completions', { messages }),
    whole: chatAnswer(),
    streamed: chatStream().text,
  },
  completions: {
    connection: 'up',
    ask: post('/v1/completions', { prompt: 'hi' }),
    whole: completion('Hi', 'stop'),
    streamed: `${[completion('Hi', null), completion('', 'stop')].map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')}data: [DONE]\n\n`,
  },
  responses: {
    connection: 'resp',
    ask: post('/v1/responses', { input: 'hi', store: false }),
    whole: responsesAnswer(),
    streamed: responsesStream({ reasoning: ['Think'] }).text,
  },
  messages: {
    connection: 'anth',
    ask: post('/v1/messages', { messages, max_tokens: 9 }),
    whole: messagesAnswer(),
    streamed: messagesStream().text,
  },
  gemini: {
    connection: 'goog',
    ask: (model, streams) =>
      at.gateway.ask(
        `/v1beta/models/${model}:${streams ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
        {
          contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
        },
      ),
    whole: { ...geminiChunk, modelVersion: 'm-1' },
    streamed: geminiStream(),
  },
  ollama: {
    connection: 'olla',
    ask: (model, streams) => post(`/api/v1/editor/${at.gateway.key}/api/chat`, { messages })(model, streams),
    whole: {
      model: 'm-1',
      created_at: '2026-11-21T10:00:00.000Z',
      message: { role: 'assistant', content: 'Hi' },
      done: true,
    },
    streamed: ollamaStream(),
    type: 'application/x-ndjson',
  },
};

/** Every place in these bytes where an upstream called its model `m-1`. */
const named = (text: string, model: string) => text.replaceAll('"m-1"', JSON.stringify(model));
/** As some vendors write: white space, escapes, numbers that JavaScript cannot hold, members of the same name. */
const odd = (text: string) =>
  text.replace(
    /"m-1"/g,
    '"m-1" , "future":12345678901234567890,"esc":"\\u0068\\/","metadata":{"model":"mine"}',
  );
const streamOf = (text: string, type?: string) =>
  stream(text, 'byte', type === undefined ? {} : { 'content-type': type });

const askChat = (streams: boolean) => post('/v1/chat/completions', { messages })('nick-up', streams);

describe('an answer names the requested model', () => {
  before(async () => {
    const baseUrl = at.upstream.url;
    await at.gateway.connect({ provider: 'gemini-compatible', name: 'goog', baseUrl });
    await at.gateway.connect({ provider: 'ollama-compatible', name: 'olla', baseUrl });
    for (const connection of ['up', 'resp', 'anth', 'goog', 'olla']) {
      await at.gateway.cliJson('combo', 'create', `combo-${connection}`, '--target', `${connection}/m-1`);
      await at.gateway.cliJson('alias', 'add', `nick-${connection}`, `${connection}/m-1`);
    }
  });

  for (const [format, { ask, connection, streamed, type, whole }] of Object.entries(cases)) {
    const check = async (model: string) => {
      const body = odd(JSON.stringify(whole));
      at.upstream.script([json(200, body)]);
      const reply = await ask(model, false);
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.text, named(body, model));
      assert.equal(reply.header('content-length'), String(reply.body.length));
      assert.notEqual(reply.text, body);
      const frames = odd(streamed);
      at.upstream.script([streamOf(frames, type)]);
      const stream = await ask(model, true);
      assert.equal(stream.end, 'complete');
      assert.equal(stream.text, named(frames, model));
      assert.notEqual(stream.text, frames);
      const rows = await Promise.all(
        [reply, stream].map((one) => at.gateway.entry(one.header('x-request-id'))),
      );
      assert.deepEqual(
        rows.map((row) => [row.outcome, row.model]),
        [
          ['ok', 'm-1'],
          ['ok', 'm-1'],
        ],
      );
    };

    it(`by its connection, an alias and a combo, and keeps everything else (${format})`, async () => {
      for (const model of [`${connection}/m-1`, `nick-${connection}`, `combo-${connection}`])
        await check(model);
    });

    it(`as auto (${format})`, async () => {
      await at.gateway.cliJson('combo', 'switch', `combo-${connection}`);
      await check('auto');
    });

    // A line of Ollama's is a whole answer too.
    if (type !== undefined) continue;
    it(`even if the upstream streams a whole answer or the reverse (${format})`, async () => {
      const model = `nick-${connection}`;
      at.upstream.script([json(200, whole)], [streamOf(streamed)]);
      const framed = await ask(model, true);
      const assembled = await ask(model, false);
      for (const reply of [framed, assembled]) {
        assert.equal(reply.status, 200, reply.text);
        assert.ok(reply.text.includes(`"${model}"`), reply.text);
        assert.ok(!reply.text.includes('"m-1"'), reply.text);
      }
      assert.equal(assembled.header('content-length'), String(assembled.body.length));
    });
  }

  it('in embeddings, moderations and rerankings, if they name one', async () => {
    const vectors = Array.from({ length: 3_000 }, (_, index) => ({ index, embedding: [0.25, -1e-7, index] }));
    const kinds = {
      '/v1/embeddings': {
        input: 'hi',
        answer: { object: 'list', data: vectors, model: 'm-1', usage: { prompt_tokens: 1, total_tokens: 1 } },
      },
      '/v1/moderations': { input: 'hi', answer: { id: 'm', model: 'm-1', results: [] } },
      '/v1/rerank': {
        query: 'q',
        documents: ['a'],
        answer: { results: [{ index: 0, relevance_score: 0.5 }], model: 'm-1' },
      },
    };
    for (const [path, { answer, ...body }] of Object.entries(kinds)) {
      at.upstream.script([json(200, answer)]);
      const reply = await at.gateway.ask(path, { model: 'nick-up', ...body });
      assert.equal(reply.text, named(JSON.stringify(answer), 'nick-up'));
    }
  });

  it('in an answer that is too large to be held, wherever the name is', async () => {
    const pad = 'x'.repeat(9_000_000);
    for (const [body, length] of [
      [`{"id":"1","model":"m-1","choices":[],"pad":"${pad}"}`, true],
      [`{"id":"1","choices":[],"pad":"${pad}","model":"m-1"}`, false],
    ] as const) {
      at.upstream.script([json(200, body)]);
      const reply = await askChat(false);
      assert.ok(reply.body.equals(Buffer.from(named(body, 'nick-up'))));
      assert.equal(reply.header('content-length'), length ? String(reply.body.length) : undefined);
      assert.equal(reply.end, 'complete');
    }
  });

  it('but not in an error, which passes unchanged', async () => {
    const error = {
      error: { message: 'No such thing', type: 'invalid_request_error', param: 'x', code: null },
      model: 'm-1',
    };
    at.upstream.script([json(400, error)]);
    const reply = await askChat(false);
    assert.equal(reply.text, JSON.stringify(error));
  });

  it('in a stored response, and in one that continues it', async () => {
    const kept = { ...responsesAnswer({ text: ['One.'] }), id: 'resp_kept' };
    await at.gateway.connect({ provider: 'responses-compatible', name: 'router', baseUrl: at.upstream.url });
    at.upstream.script(
      [json(200, kept)],
      [streamOf(responsesStream().text.replaceAll('resp_1', 'resp_streamed'))],
    );
    for (const streams of [false, true]) {
      const first = await at.gateway.ask('/v1/responses', {
        model: 'router/m-1',
        input: 'hi',
        stream: streams,
      });
      assert.equal(first.status, 200, first.text);
      const id = streams ? 'resp_streamed' : 'resp_kept';
      const again = await at.gateway.send({
        method: 'GET',
        path: `/v1/responses/${id}`,
        headers: { authorization: `Bearer ${at.gateway.key}` },
      });
      assert.equal(again.status, 200, again.text);
      assert.equal(again.json()['model'], 'router/m-1');
    }
  });

  it('in each event over a WebSocket', async () => {
    at.upstream.script([streamOf(responsesStream().text)]);
    const client = await openSocket(at.gateway);
    client.create({ model: 'nick-resp', input: 'hi', store: false });
    const events = await client.answer();
    client.ws.terminate();
    const models = events.flatMap(({ response }) => (response === undefined ? [] : [Object(response).model]));
    assert.ok(models.length >= 2);
    assert.deepEqual(new Set(models), new Set(['nick-resp']));
  });
});

describe('the vendors’ own clients see the requested model', () => {
  it('by OpenAI’s, of chat and responses', async () => {
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
    at.upstream.script([json(200, chatAnswer())], [streamOf(chatStream().text)]);
    const whole = await client.chat.completions.create({ model: 'nick-up', messages });
    assert.equal(whole.model, 'nick-up');
    const seen = new Set<string>();
    for await (const { model } of await client.chat.completions.create({
      model: 'combo-up',
      messages,
      stream: true,
    }))
      seen.add(model);
    assert.deepEqual([...seen], ['combo-up']);
    at.upstream.script([streamOf(responsesStream().text)]);
    const response = await client.responses
      .stream({ model: 'nick-resp', input: 'hi', store: false })
      .finalResponse();
    assert.equal(response.model, 'nick-resp');
  });

  it('by Anthropic’s', async () => {
    const client = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
    at.upstream.script([streamOf(messagesStream().text)]);
    const message = await client.messages
      .stream({ model: 'nick-anth', messages, max_tokens: 9 })
      .finalMessage();
    assert.equal(message.model, 'nick-anth');
  });

  it('by Google’s', async () => {
    const client = new GoogleGenAI({ apiKey: at.gateway.key, httpOptions: { baseUrl: at.gateway.url } });
    at.upstream.script([streamOf(geminiStream())]);
    const seen = new Set<string | undefined>();
    for await (const { modelVersion } of await client.models.generateContentStream({
      model: 'nick-goog',
      contents: 'hi',
    }))
      seen.add(modelVersion);
    assert.deepEqual([...seen], ['nick-goog']);
  });
});
