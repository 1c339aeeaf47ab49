import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Ollama } from 'ollama';
import { type RunningGateway, startGateway } from '../../support/gateway/gateway.ts';
import { chatStream } from '../../support/upstream/answers.ts';
import { ollamaStream } from '../../support/upstream/answers-native.ts';
import { chunk, json, open, reset, type Step, stream } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

/** Clients of Ollama's own format, with a server that speaks it and with one that speaks chat. */
let upstream: Upstream;
let gateway: RunningGateway;
before(async () => {
  upstream = await startUpstream();
  const baseUrl = upstream.url;
  gateway = await startGateway({
    connections: [
      { provider: 'ollama-compatible', name: 'olla', baseUrl },
      { provider: 'openai-compatible', name: 'chat', baseUrl },
    ],
  });
});
after(async () => {
  await gateway?.stop();
  await upstream?.close();
});

describe('Ollama’s API at the root', () => {
  const client = (key = gateway.key) =>
    new Ollama({ host: gateway.url, headers: { authorization: `Bearer ${key}` } });

  it('serves its SDK with a key in the header', async () => {
    upstream.always(stream(native, 'byte', ndjson));
    const { models } = await client().list();
    assert.ok(models.some(({ name }) => name === 'demo/echo'));
    assert.ok((await client().show({ model: 'demo/echo' })).capabilities.includes('tools'));
    assert.match((await client().version()).version, /^0\./);
    const messages = [{ role: 'user', content: 'Hi' }];
    let text = '';
    for await (const { message } of await client().chat({ model: 'olla/m-1', messages, stream: true }))
      text += message.content;
    assert.equal(text, 'Sunny ☀');
  });

  it('asks for a key in Ollama’s error shape, and leaves the paths of the management API alone', async () => {
    await assert.rejects(client('sk-no').list(), { status_code: 401 });
    const get = (path: string) => gateway.send({ method: 'GET', path });
    assert.deepEqual(Object.keys((await get('/api/tags')).json()), ['error']);
    for (const path of ['/api/keys', '/api/generate', '/api/tags/x'])
      assert.ok((await get(path)).header('content-type')?.startsWith('application/'), path);
    const { error } = (await get('/api/keys')).json() as { error?: unknown };
    assert.notEqual(typeof error, 'string');
  });
});

const ask = (model: string, rest: object = {}) =>
  gateway.ask(`/api/v1/editor/${gateway.key}/api/chat`, {
    model,
    messages: [{ role: 'user', content: 'Hi' }],
    ...rest,
  });
const parsed = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const contentOf = (line: Record<string, unknown> | undefined) =>
  (line?.['message'] as { content?: string } | undefined)?.content;

const ndjson = { 'content-type': 'application/x-ndjson' };
const told = { text: ['Sun', 'ny ☀'], reasoning: [], tools: [] };
const native = ollamaStream(told);
const cutNative = native.slice(0, native.indexOf('\n') + 1);
const chat = chatStream(told);

interface Served {
  model: string;
  whole: Step[];
  streamed: Step[];
  /** Breaks after its first piece of text. */
  broken: Step[];
  usage: { input: number; output: number };
}

const servers: Readonly<Record<string, Served>> = {
  'its own format': {
    model: 'olla/m-1',
    whole: [json(200, { ...parsed(native).at(-1), message: { role: 'assistant', content: 'Sunny ☀' } })],
    streamed: [stream(native, 'byte', ndjson)],
    broken: [open(ndjson), chunk(cutNative), reset()],
    usage: { input: 100, output: 20 },
  },
  chat: {
    model: 'chat/m-1',
    whole: [stream(chat.text)],
    streamed: [stream(chat.text, 'byte')],
    broken: [open(), chunk(chat.preamble + chat.content[0]), reset()],
    usage: { input: 12, output: 5 },
  },
};

for (const [what, { broken, model, streamed, usage, whole }] of Object.entries(servers)) {
  describe(`a client of Ollama's chat, with a server of ${what}`, () => {
    it('gets a stream of lines when it says nothing', async () => {
      upstream.script(streamed);
      const reply = await ask(model);
      assert.deepEqual(
        [reply.status, reply.header('content-type'), reply.end],
        [200, 'application/x-ndjson', 'complete'],
      );
      const lines = parsed(reply.text);
      assert.deepEqual(
        lines.map(({ done }) => done),
        [false, false, true],
      );
      assert.equal(lines.map(contentOf).join(''), 'Sunny ☀');
      const {
        outcome,
        streamed: isStream,
        usage: counted,
      } = await gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([outcome, isStream], ['ok', true]);
      assert.deepEqual({ input: counted?.['input'], output: counted?.['output'] }, usage);
    });

    it('gets one object when it asks for no stream', async () => {
      upstream.script(whole);
      const reply = await ask(model, { stream: false });
      const answer = reply.json();
      assert.deepEqual([reply.status, answer['done'], contentOf(answer)], [200, true, 'Sunny ☀']);
      assert.equal(reply.text.trimEnd().includes('\n'), false);
      const {
        outcome,
        streamed: isStream,
        usage: counted,
      } = await gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([outcome, isStream], ['ok', false]);
      assert.deepEqual({ input: counted?.['input'], output: counted?.['output'] }, usage);
    });

    it('gets one object also where the server streams all the same', async () => {
      upstream.script(streamed);
      const reply = await ask(model, { stream: false });
      const answer = reply.json();
      assert.deepEqual([reply.status, answer['done'], contentOf(answer)], [200, true, 'Sunny ☀']);
      const { outcome, usage: counted } = await gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([outcome, counted?.['input']], ['ok', usage.input]);
    });

    it('gets an error in its own shape, with its status', async () => {
      upstream.script([json(404, { error: 'model "m-1" not found' })]);
      const reply = await ask(model);
      assert.deepEqual([reply.status, reply.json()], [404, { error: 'model "m-1" not found' }]);
    });

    it('never takes a stream that broke for a whole answer', async () => {
      upstream.script(broken);
      const reply = await ask(model);
      assert.equal(reply.end, 'cut');
      assert.deepEqual(
        parsed(reply.text).map((line) => [contentOf(line), line['done']]),
        [['Sun', false]],
      );
      assert.equal((await gateway.entry(reply.header('x-request-id'))).outcome, 'failed');
    });
  });
}

describe('a server of Ollama’s chat that fails inside its answer', () => {
  const failure = '{"error":"an error was encountered while running the model"}\n';

  it('before any content is an HTTP error for every client', async () => {
    for (const reply of [
      () => ask('olla/m-1'),
      () =>
        gateway.ask('/v1/messages', {
          model: 'olla/m-1',
          max_tokens: 9,
          messages: [{ role: 'user', content: 'Hi' }],
        }),
    ]) {
      upstream.script([stream(failure, 'whole', ndjson)]);
      const { status, text } = await reply();
      assert.deepEqual([status, text.includes('while running the model')], [502, true]);
    }
  });

  it('after some content ends the stream of Ollama clients with its message, and breaks off others', async () => {
    upstream.script(
      [stream(cutNative + failure, 'whole', ndjson)],
      [stream(cutNative + failure, 'whole', ndjson)],
    );
    const own = await ask('olla/m-1');
    assert.equal(own.text, cutNative.replace('"m-1"', '"olla/m-1"') + failure);
    const body = { model: 'olla/m-1', stream: true, messages: [{ role: 'user', content: 'Hi' }] };
    const other = await gateway.ask('/v1/chat/completions', body);
    assert.equal(other.end, 'cut');
    assert.equal(other.text.includes('[DONE]'), false);
    assert.equal((await gateway.entry(own.header('x-request-id'))).outcome, 'failed');
  });
});
