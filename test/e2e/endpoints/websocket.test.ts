import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import type { Response } from 'openai/resources/responses/responses';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { openSocket, refusedSocket, type SocketClient, textOf } from '../../support/clients/socket.ts';
import { bearer, settledRows, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatStream, messagesStream, responsesStream } from '../../support/upstream/answers.ts';
import {
  chunk,
  flood,
  hang,
  json,
  open,
  reset,
  type Step,
  stall,
  stream,
} from '../../support/upstream/steps.ts';

/** Requests of the responses format over a WebSocket. */
const at = setting({ config: { limits: { body_bytes: 1_000_000 } } });
const opened: SocketClient[] = [];
after(() => {
  for (const { ws } of opened) ws.terminate();
});

async function connect(options: Parameters<typeof openSocket>[1] = {}): Promise<SocketClient> {
  const client = await openSocket(at.gateway, options);
  assert.equal(client.ws.readyState, client.ws.OPEN);
  opened.push(client);
  return client;
}

/** Waits until the gateway has read everything that was sent, and has had time to act on it. */
async function heardAll({ ws }: SocketClient): Promise<void> {
  ws.ping();
  await once(ws, 'pong');
  await at.gateway.send({ method: 'GET', path: '/healthz' });
}

const sent = async (index: number) => JSON.parse((await (await at.upstream.request(index)).whole).toString());
const newRows = async (before: number, count: number) => {
  await waitFor('the ledger', async () => (await at.gateway.entries()).length >= before + count);
  return (await at.gateway.entries()).slice(before);
};

/** A provider that speaks responses and keeps none, and providers of other formats. */
const providers = {
  responses: { model: 'resp/m-1', stream: responsesStream },
  chat: { model: 'up/m-1', stream: chatStream },
  messages: { model: 'anth/m-1', stream: messagesStream },
} as const;

describe('a response over a WebSocket', () => {
  for (const [name, provider] of Object.entries(providers)) {
    it(`comes as the events of the stream, one message each (${name})`, async () => {
      const before = await settledRows(at.gateway);
      at.upstream.always(stream(provider.stream().text, 'byte'));
      const client = await connect();
      client.create({ model: provider.model, input: 'hi', generate: true });
      const answer = await client.answer();
      assert.equal(answer[0]?.type, 'response.created');
      assert.equal(answer.at(-1)?.type, 'response.completed');
      assert.equal(textOf(answer), 'Hello, wörld 🙂');
      const body = await sent(0);
      assert.equal(body.stream, true);
      assert.equal(body.model, 'm-1');
      for (const member of ['type', 'generate', 'stream_id']) assert.ok(!(member in body), member);
      const [row] = await newRows(before, 1);
      assert.deepEqual(
        [row?.outcome, row?.status, row?.format, row?.streamed, row?.requested_model],
        ['ok', 200, 'openai-responses', true, provider.model],
      );
      assert.ok(row?.usage !== null);
    });

    it(`continues a response of its connection that is not stored (${name})`, async () => {
      const answers = ['Two.', 'Four.', 'Six.'].map((text, index) =>
        provider.stream({ text: [text] }).text.replaceAll('resp_1', `resp_${name}${index}`),
      );
      at.upstream.script(...answers.map((text) => [stream(text)]));
      const client = await connect();
      const other = await connect();
      let previous: string | undefined;
      for (const input of ['One?', 'Three?', 'Five?']) {
        client.create({ model: provider.model, input, store: false, previous_response_id: previous });
        previous = (await client.answer()).at(-1)?.response?.id;
      }
      for (const [index, words] of [
        [0, ['One?']],
        [1, ['One?', 'Two.', 'Three?']],
        [2, ['One?', 'Two.', 'Three?', 'Four.', 'Five?']],
      ] as const) {
        const body = await sent(index);
        assert.equal(body.previous_response_id, undefined);
        const text = JSON.stringify(body.input ?? body.messages);
        assert.deepEqual(text.match(/[A-Z][a-z]+[?.]/g), words);
      }
      // OpenAI could know it, and is asked; to any other provider it means nothing.
      at.upstream.always(json(400, { error: { message: 'gone', code: 'previous_response_not_found' } }));
      other.create({ model: provider.model, input: 'x', previous_response_id: previous });
      const [refused] = await other.answer();
      assert.deepEqual([refused?.status, refused?.error?.code], [400, 'previous_response_not_found']);
    });
  }

  it('keeps the bytes of the request, but for what belongs to the message', async () => {
    at.upstream.always(stream(responsesStream().text));
    const client = await connect();
    client.ws.send(
      ' { "t\\u0079pe": "response.create", "model" : "resp/m-1","generate":true, "x":1.0e2, "input":"a , b" , "stream":false}',
    );
    await client.answer();
    const body = (await (await at.upstream.request(0)).whole).toString();
    assert.equal(body, '{"stream":true,"model" : "m-1","x":1.0e2,"input":"a , b"}');
  });

  it('sends the headers of the handshake upstream, and nothing of the transport', async () => {
    at.upstream.always(stream(responsesStream().text));
    const headers = {
      ...bearer(at.gateway.key),
      'openai-beta': 'responses_websockets=2026-02-06, other=1',
      originator: 'test',
      'user-agent': 'test/1',
    };
    const client = await connect({ headers });
    client.create({ model: 'resp/m-1', input: 'hi' });
    await client.answer();
    const request = await at.upstream.request(0);
    assert.deepEqual(
      ['openai-beta', 'originator', 'user-agent', 'authorization', 'upgrade', 'sec-websocket-key'].map(
        (name) => request.header(name),
      ),
      ['other=1', 'test', 'test/1', 'Bearer upstream-secret', undefined, undefined],
    );
  });

  it('with store continues from another connection, also after one that was not stored', async () => {
    const chat = (text: string) => [stream(chatStream({ text: [text] }).text)];
    at.upstream.script(chat('Two.'), chat('Four.'), chat('Six.'));
    const client = await connect();
    client.create({ model: 'up/m-1', input: 'One?', store: false });
    const first = (await client.answer()).at(-1)?.response?.id;
    client.create({ model: 'up/m-1', input: 'Three?', previous_response_id: first });
    const second = (await client.answer()).at(-1)?.response?.id;
    client.ws.close();
    const other = await connect();
    other.create({ model: 'up/m-1', input: 'Five?', previous_response_id: second });
    await other.answer();
    const text = JSON.stringify((await sent(2)).messages);
    assert.deepEqual(text.match(/[A-Z][a-z]+[?.]/g), ['One?', 'Two.', 'Three?', 'Four.', 'Five?']);
  });

  it('that an upstream gives whole comes as a stream all the same', async () => {
    at.upstream.always(json(200, JSON.parse(responsesStream().ending.split('data: ')[1] ?? '').response));
    const client = await connect();
    client.create({ model: 'resp/m-1', input: 'hi' });
    const answer = await client.answer();
    assert.deepEqual([answer.at(-1)?.type, textOf(answer)], ['response.completed', 'Hello, wörld 🙂']);
  });

  it('survives an upstream that gives every response the same id', async () => {
    at.upstream.always(stream(responsesStream({ text: ['Two.'] }).text));
    const client = await connect();
    for (const previous of [undefined, 'resp_1', 'resp_1', 'resp_1']) {
      client.create({ model: 'resp/m-1', input: 'One?', store: false, previous_response_id: previous });
      await client.answer();
    }
    assert.equal(JSON.stringify((await sent(3)).input).match(/One\?/g)?.length, 4);
  });
});

describe('a warm-up', () => {
  for (const [name, provider] of Object.entries(providers)) {
    it(`is answered at once, and its input is part of the next turn (${name})`, async () => {
      const before = await settledRows(at.gateway);
      at.upstream.always(stream(provider.stream({ text: ['Hi.'] }).text));
      const client = await connect();
      client.create({
        model: provider.model,
        input: 'Be good.',
        instructions: 'x',
        store: false,
        generate: false,
      });
      const answer = await client.answer();
      assert.equal(answer[0]?.type, 'response.created');
      const warm = answer.at(-1)?.response;
      assert.deepEqual([warm?.status, warm?.output], ['completed', []]);
      assert.equal(at.upstream.requests.length, 0);
      client.create({ model: provider.model, input: 'Hello?', store: false, previous_response_id: warm?.id });
      assert.equal(textOf(await client.answer()), 'Hi.');
      assert.match(JSON.stringify(await sent(0)), /Be good\..*Hello\?/);
      assert.equal((await newRows(before, 1)).length, 1, 'only the turn is recorded');
    });
  }

  it('reports errors at once', async () => {
    const client = await connect();
    for (const [message, code] of [
      [{ model: 'nobody/none' }, 'model_not_found'],
      [{}, 'missing_model'],
      [{ model: 'up/m-1', previous_response_id: 'resp_none' }, 'previous_response_not_found'],
    ] as const) {
      client.create({ ...message, input: 'x', generate: false });
      const [refused] = await client.answer();
      assert.deepEqual([refused?.type, refused?.error?.code], ['error', code]);
    }
  });
});

describe('a failure over a WebSocket', () => {
  it('before any content is an error with its status, and the next request is served', async () => {
    // Of its own, for it pauses after this.
    await at.gateway.connect({ provider: 'responses-compatible', name: 'limited', baseUrl: at.upstream.url });
    const before = await settledRows(at.gateway);
    const error = { message: 'slow down', type: 'requests', param: null, code: 'rate_limit_exceeded' };
    at.upstream.script(
      [json(429, { error }, { 'retry-after': '7', 'x-ratelimit-remaining-requests': '0' })],
      [stream(chatStream().text)],
    );
    const client = await connect();
    client.create({ model: 'limited/m-1', input: 'hi' });
    const [refused] = await client.answer();
    assert.deepEqual([refused?.type, refused?.status, refused?.error], ['error', 429, error]);
    assert.equal(refused?.headers?.['retry-after'], '7');
    assert.equal(refused?.headers?.['x-ratelimit-remaining-requests'], '0');
    // The account that said when to come back is not asked before that.
    client.create({ model: 'up/m-1', input: 'hi' });
    assert.equal((await client.answer()).at(-1)?.type, 'response.completed');
    const rows = await newRows(before, 2);
    assert.deepEqual(
      rows.map(({ status }) => status),
      [429, 200],
    );
    const { id } = await at.gateway.entry(refused?.headers?.['x-request-id']);
    assert.equal(id, rows[0]?.id);
  });

  it('of the request itself is reported in the same way, and recorded', async () => {
    const before = await settledRows(at.gateway);
    const client = await connect();
    const requests = [
      [{ model: 'nobody/none', input: 'x' }, 404, 'model_not_found'],
      [{ input: 'x' }, 400, 'missing_model'],
      [{ model: 'up/m-1', input: 5 }, 400, 'invalid_request'],
    ] as const;
    for (const [request, status, code] of requests) {
      client.create(request);
      const [refused] = await client.answer();
      assert.deepEqual([refused?.status, refused?.error?.code], [status, code]);
    }
    assert.equal((await newRows(before, requests.length)).length, requests.length);
  });

  for (const [name, message, param] of [
    ['no JSON', '{"type":"response.create"', undefined],
    ['no object', '[1]', undefined],
    ['another type', '{"type":"response.cancel"}', 'type'],
    ['a strange stream_id', '{"type":"response.create","stream_id":"a b"}', 'stream_id'],
    ['a strange generate', '{"type":"response.create","generate":"no"}', 'generate'],
    ['too deep', `{"type":"response.create","x":${'['.repeat(5000)}${']'.repeat(5000)}}`, undefined],
    ['binary', Buffer.from('{"type":"response.create"}'), undefined],
  ] as const) {
    it(`in the message (${name}) is reported, and the connection stays open`, async () => {
      const client = await connect();
      client.ws.send(message);
      const [refused] = await client.answer();
      assert.equal(refused?.status, 400);
      if (param !== undefined) assert.equal(refused?.error?.param, param);
      client.ws.send('{"type":"response.processed","response_id":"resp_1"}');
      at.upstream.always(stream(responsesStream().text));
      client.create({ model: 'resp/m-1', input: 'hi' });
      assert.equal((await client.answer()).at(-1)?.type, 'response.completed');
    });
  }

  it('by a message beyond the limit closes the connection with 1009', async () => {
    const client = await connect();
    client.create({ model: 'resp/m-1', input: 'x'.repeat(1_100_000) });
    assert.equal(await client.closed, 1009);
  });

  const { content, preamble } = responsesStream();
  const begun = preamble + content[0];
  for (const [name, steps] of Object.entries<Step[]>({
    'between two events': [open(), chunk(begun), reset()],
    'inside an event': [open(), chunk(`${begun}event: response.output_text.delta\ndata: {"ty`), reset()],
  })) {
    it(`in mid-stream ${name} ends with an error, never as if complete`, async () => {
      const before = await settledRows(at.gateway);
      at.upstream.script(steps, [stream(responsesStream().text)]);
      const client = await connect();
      client.create({ model: 'resp/m-1', input: 'hi' });
      const answer = await client.answer();
      assert.equal(textOf(answer), 'Hel');
      const last = answer.at(-1);
      if (name.startsWith('between')) assert.equal(last?.type, 'response.failed');
      else assert.deepEqual([last?.type, last?.status, last?.error?.code], ['error', 502, 'upstream_cut']);
      client.create({ model: 'resp/m-1', input: 'hi' });
      assert.equal((await client.answer()).at(-1)?.type, 'response.completed');
      const rows = await newRows(before, 2);
      assert.deepEqual(
        rows.map(({ outcome }) => outcome),
        ['failed', 'ok'],
      );
    });
  }

  it('that the upstream reports after content has a status, even if the stream named none', async () => {
    const event = { type: 'error', code: 'server_is_overloaded', message: 'busy', param: null };
    at.upstream.always(stream(`${begun}event: error\ndata: ${JSON.stringify(event)}\n\n`));
    const client = await connect();
    client.create({ model: 'resp/m-1', input: 'hi', stream_id: 'a.1' });
    const last = (await client.answer()).at(-1);
    assert.deepEqual(
      [last?.type, last?.status, last?.stream_id, last?.error?.code, last?.error?.message],
      ['error', 503, 'a.1', 'server_is_overloaded', 'busy'],
    );
  });
});

describe('requests on one connection', () => {
  it('wait for each other', async () => {
    const gate = Promise.withResolvers<void>();
    const slow: Step[] = [open(), chunk(responsesStream().preamble), stall(gate.promise)];
    const rest = responsesStream();
    at.upstream.script(
      [...slow, chunk(rest.content.join('') + rest.ending), ({ write }) => write('0\r\n\r\n')],
      [stream(responsesStream({ text: ['second'] }).text)],
    );
    const client = await connect();
    client.create({ model: 'resp/m-1', input: 'one' });
    client.create({ model: 'resp/m-1', input: 'two' });
    await at.upstream.request();
    await heardAll(client);
    assert.equal(at.upstream.requests.length, 1);
    gate.resolve();
    assert.equal(textOf(await client.answer()), 'Hello, wörld 🙂');
    assert.equal(textOf(await client.answer()), 'second');
  });

  it('run beside each other in streams of their own, each message with its name', async () => {
    const gate = Promise.withResolvers<void>();
    at.upstream.respond((request) =>
      request.body.includes('slow')
        ? [async () => gate.promise, stream(responsesStream({ text: ['slow'] }).text)]
        : [stream(responsesStream({ text: ['fast'] }).text)],
    );
    const client = await connect();
    client.create({ model: 'resp/m-1', input: 'slow', stream_id: 'a' });
    client.create({ model: 'resp/m-1', input: 'slow', stream_id: 'a' });
    client.create({ model: 'resp/m-1', input: 'fast', stream_id: 'b' });
    const fast = await client.answer();
    assert.equal(textOf(fast), 'fast');
    assert.ok(fast.every((message) => message.stream_id === 'b'));
    gate.resolve();
    for (const _ of [1, 2]) {
      const slow = await client.answer();
      assert.ok(slow.every((message) => message.stream_id === 'a'));
    }
  });

  it('are refused when too many wait', async () => {
    at.upstream.always(hang());
    const client = await connect();
    for (let index = 0; index < 70; index += 1) client.create({ model: 'resp/m-1', input: 'x' });
    const refused = await client.until('error');
    assert.deepEqual([refused.status, refused.error?.code], [429, 'rate_limit_exceeded']);
    assert.ok(refused.headers?.['retry-after']);
    client.ws.terminate();
  });

  it('do not get in the way of those on twenty others', async () => {
    at.upstream.respond((request) => [
      stream(responsesStream({ text: [JSON.parse(request.body.toString()).input] }).text, 'frame'),
    ]);
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect()));
    await Promise.all(
      clients.map(async (client, index) => {
        for (let turn = 0; turn < 5; turn += 1) {
          client.create({ model: 'resp/m-1', input: `${index}.${turn}` });
          assert.equal(textOf(await client.answer()), `${index}.${turn}`);
        }
      }),
    );
  });
});

describe('a client of a WebSocket', () => {
  for (const [name, leave] of Object.entries<(client: SocketClient) => void>({
    'closes it': ({ ws }) => ws.close(),
    'drops it': ({ ws }) => ws.terminate(),
  })) {
    it(`that ${name} ends the upstream request within 100 ms`, async () => {
      const before = await settledRows(at.gateway);
      const { content, preamble } = responsesStream();
      at.upstream.always(open(), chunk(preamble + content[0]), hang());
      const client = await connect();
      const begun = performance.now();
      client.create({ model: 'resp/m-1', input: 'hi' });
      await client.until('response.output_text.delta');
      const left = performance.now();
      // On a busy machine the way there takes its time as well.
      const bound = Math.max(100, 20 * (left - begun));
      leave(client);
      const request = await at.upstream.request(0);
      await request.closed;
      assert.ok((request.closedAt ?? Infinity) - left < bound, `${(request.closedAt ?? 0) - left} ms`);
      const [row] = await newRows(before, 1);
      assert.deepEqual([row?.outcome, row?.status], ['aborted', 499]);
    });
  }

  it('that does not read slows the upstream down', async () => {
    const frame = `event: response.output_text.delta\ndata: ${JSON.stringify({ type: 'response.output_text.delta', delta: 'x'.repeat(10_000) })}\n\n`;
    at.upstream.always(open(), chunk(responsesStream().preamble), flood(frame, 200_000_000));
    const client = await connect();
    client.ws.pause();
    client.create({ model: 'resp/m-1', input: 'hi' });
    const request = await at.upstream.request(0);
    let stalled = -1;
    await waitFor('the upstream to stand still', async () => {
      const before = stalled;
      await delay(300);
      stalled = request.sentBytes();
      return stalled > 0 && stalled === before;
    });
    assert.ok(stalled < 30_000_000, `${stalled} bytes`);
    client.ws.resume();
    await waitFor('the flow to go on', () => request.sentBytes() > stalled + 10_000_000);
    client.ws.terminate();
    await request.closed;
  });
});

describe('OpenAI’s own library over a WebSocket', () => {
  it('goes through a tool loop that sends nothing but the result', async () => {
    const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Köln"}' };
    at.upstream.script(
      [stream(chatStream({ text: [], tools: [call] }).text)],
      [stream(chatStream({ text: ['21 °C'] }).text)],
    );
    const client = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key });
    const ws = new ResponsesWS(client);
    const finish = () =>
      new Promise<Response>((resolve, reject) => {
        ws.once('response.completed', ({ response }) => resolve(response));
        ws.once('error', reject);
      });
    const weather = { type: 'function', name: 'weather', strict: false, parameters: null } as const;
    const common = { type: 'response.create' as const, model: 'up/m-1', store: false, tools: [weather] };
    ws.send({ ...common, input: 'Weather?' });
    const first = await finish();
    assert.equal(first.output[0]?.type, 'function_call');
    ws.send({
      ...common,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: 'call_1', output: 'warm' }],
    });
    const last = await finish();
    ws.close();
    assert.equal(last.output.length, 1);
    assert.match(JSON.stringify((await sent(1)).messages), /Weather.*Köln.*warm/);
  });
});

describe('the handshake of a WebSocket', () => {
  it('is refused in HTTP without a key, and with a wrong one', async () => {
    for (const headers of [{}, bearer('sk-wrong')]) {
      const refused = await refusedSocket(at.gateway, '/v1/responses', headers);
      assert.equal(refused.status, 401);
      assert.equal(refused.header('x-should-retry'), 'false');
      assert.match(refused.header('x-request-id') ?? '', /^req_/);
      assert.match(JSON.stringify(refused.body), /"code":"invalid_api_key"/);
    }
  });

  it('is refused with 426 on other paths', async () => {
    for (const path of [
      '/v1/chat/completions',
      '/v1/responses/compact',
      '/v1/responses/resp_1',
      '/nowhere',
    ]) {
      const refused = await refusedSocket(at.gateway, path, bearer(at.gateway.key));
      assert.equal(refused.status, 426, path);
    }
  });

  it('is taken where its path is spelled in other ways, and with the key in the path', async () => {
    at.upstream.always(stream(responsesStream().text));
    for (const path of ['/responses', '/v1/v1/responses', '/v1/responses/', '/v1/responses?a=b']) {
      const client = await connect({ path });
      client.create({ model: 'resp/m-1', input: 'hi' });
      assert.equal((await client.answer()).at(-1)?.type, 'response.completed', path);
    }
    const client = await connect({ path: `/api/v1/editor/${at.gateway.key}/v1/responses`, headers: {} });
    client.create({ model: 'resp/m-1', input: 'hi' });
    assert.equal((await client.answer()).at(-1)?.type, 'response.completed');
  });

  it('declines compression, and names its request', async () => {
    const client = await openSocket(at.gateway);
    assert.equal(client.ws.extensions, '');
    client.ws.close();
    assert.equal(await client.closed, 1005);
  });

  it('is served to the WebSocket of Node.js too', async () => {
    at.upstream.always(stream(responsesStream().text));
    const ws = new WebSocket(
      `ws://127.0.0.1:${at.gateway.port}/api/v1/editor/${at.gateway.key}/v1/responses`,
    );
    const types: string[] = [];
    await new Promise<void>((resolve, reject) => {
      ws.onopen = () => ws.send(JSON.stringify({ type: 'response.create', model: 'resp/m-1', input: 'hi' }));
      ws.onerror = () => reject(new Error('no connection'));
      ws.onmessage = ({ data }) => {
        types.push(JSON.parse(String(data)).type);
        if (types.at(-1) === 'response.completed') resolve();
      };
    });
    ws.close();
    assert.equal(types[0], 'response.created');
  });
});

describe('a key that is removed while its connection is open', () => {
  it('is no longer served', async () => {
    const added = await at.gateway.cliJson('keys', 'add', 'short-lived');
    const key = String(added['key']);
    await waitFor('the key', async () => {
      const reply = await at.gateway.send({ method: 'GET', path: '/v1/models', headers: bearer(key) });
      return reply.status === 200;
    });
    const client = await connect({ headers: bearer(key) });
    await at.gateway.cliJson('keys', 'remove', 'short-lived', '--yes');
    await waitFor('the key to be gone', async () => {
      const reply = await at.gateway.send({ method: 'GET', path: '/v1/models', headers: bearer(key) });
      return reply.status === 401;
    });
    client.create({ model: 'resp/m-1', input: 'hi' });
    const [refused] = await client.answer();
    assert.deepEqual([refused?.status, refused?.error?.code], [401, 'invalid_api_key']);
  });
});

describe('a gateway without keys', () => {
  it('takes requests and WebSockets from programs and not from pages', async () => {
    const gateway = await startGateway({ config: { auth: { required: false } } });
    try {
      const refused = await refusedSocket(gateway, '/v1/responses', { origin: 'https://example.com' });
      assert.equal(refused.status, 401);
      const body = JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] });
      const post = (headers: Record<string, string>) =>
        gateway.send({
          method: 'POST',
          path: '/v1/chat/completions',
          headers: { host: 'localhost', ...headers },
          body,
        });
      // What a form of any page can send without asking.
      const form = { 'content-type': 'text/plain' };
      assert.equal((await post({ ...form, origin: 'https://example.com' })).status, 401);
      assert.equal((await post(form)).status, 200);
      const client = await openSocket(gateway, {
        headers: {} as Record<string, string> & { authorization: string },
      });
      client.create({ model: 'demo/echo', input: 'hi' });
      assert.equal((await client.answer()).at(-1)?.type, 'response.completed');
      client.ws.terminate();
    } finally {
      await gateway.stop();
    }
  });
});

describe('a gateway that stops', () => {
  it('closes idle connections, and ends answers with an error', async () => {
    const { startUpstream } = await import('../../support/upstream/upstream.ts');
    const upstream = await startUpstream();
    const gateway = await startGateway({
      config: { drain_ms: 300 },
      connections: [{ provider: 'openai', name: 'resp', baseUrl: upstream.url }],
    });
    const { content, preamble } = responsesStream();
    upstream.script([open(), chunk(preamble + content[0]), hang()], [hang()]);
    const [idle, streaming, silent] = await Promise.all([
      openSocket(gateway),
      openSocket(gateway),
      openSocket(gateway),
    ]);
    streaming.create({ model: 'resp/m-1', input: 'hi' });
    streaming.create({ model: 'resp/m-1', input: 'waits' });
    await streaming.until('response.output_text.delta');
    silent.create({ model: 'resp/m-1', input: 'hi' });
    await upstream.request(1);
    const stopped = gateway.stop();
    assert.equal(await idle.closed, 1001);
    assert.deepEqual(idle.messages, []);
    assert.equal((await streaming.until('response.failed')).type, 'response.failed');
    assert.equal((await streaming.until('error')).status, 503);
    const refused = await silent.until('error');
    assert.deepEqual([refused.status, refused.headers?.['retry-after']], [503, '5']);
    assert.deepEqual(await Promise.all([streaming.closed, silent.closed]), [1001, 1001]);
    await stopped;
    await upstream.close();
  });
});
