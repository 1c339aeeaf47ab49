import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Reply } from '../../support/clients/client.ts';
import {
  chat,
  connectionsTo,
  type Format,
  formats,
  messages,
  responses,
} from '../../support/formats/formats.ts';
import {
  bearer,
  type ConnectionInput,
  type RunningGateway,
  startGateway,
  waitFor,
} from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { runScript, type Script } from '../../support/machine/process.ts';
import {
  chunk,
  fin,
  hang,
  head,
  json,
  open,
  pause,
  raw,
  readAll,
  reset,
  resetNow,
  type Step,
  stream,
} from '../../support/upstream/steps.ts';

/** The error as the client of each format reads it. */
function errorOf(reply: Reply): { message: string; type: string } {
  const { error } = reply.json();
  assert.ok(typeof error === 'object' && error !== null, reply.text);
  const { message, type } = { message: null, type: null, ...error } as Record<string, unknown>;
  assert.ok(typeof message === 'string' && typeof type === 'string', reply.text);
  return { message, type };
}

describe('an upstream that cannot be reached', () => {
  let gateway: RunningGateway;

  before(async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const address = closed.address();
    assert.ok(typeof address === 'object' && address !== null);
    await new Promise((resolve) => closed.close(resolve));
    const refused = connectionsTo(`http://127.0.0.1:${address.port}/secret-path`);
    const unknown: ConnectionInput = {
      provider: 'openai-compatible',
      name: 'unknown',
      baseUrl: 'http://no-such-host.invalid/v1',
    };
    gateway = await startGateway({ connections: [...refused, unknown] });
  });

  after(() => gateway?.stop());

  for (const format of formats) {
    for (const streamed of [false, true]) {
      it(`answers 502 when it refuses connections (${format.name}, stream ${streamed})`, async () => {
        const reply = await gateway.ask(format.path, format.request({ stream: streamed }));
        assert.equal(reply.status, 502);
        const { message } = errorOf(reply);
        assert.match(message, /127\.0\.0\.1:\d+.*refused/);
        assert.doesNotMatch(reply.text, /secret/, 'neither path nor credential is told');
        assert.equal(reply.header('content-type'), 'application/json; charset=utf-8');
        const entry = await gateway.entry(reply.header('x-request-id'));
        assert.equal(entry.outcome, 'failed');
        assert.equal(entry.status, 502);
        assert.equal(entry.error?.code, 'upstream_unreachable');
        assert.equal(entry.attempts, 2);
        assert.equal(entry.usage, null);
        assert.equal(entry.cost_usd, null);
      });
    }
  }

  it('answers 502 when its name cannot be resolved', async () => {
    const reply = await gateway.ask(chat.path, chat.request({ model: 'unknown/m-1' }));
    assert.equal(reply.status, 502);
    assert.match(errorOf(reply).message, /no-such-host\.invalid.*cannot be resolved/);
    assert.equal((await gateway.entry(reply.header('x-request-id'))).error?.code, 'upstream_unreachable');
  });
});

describe('an upstream that takes no connection', () => {
  const timeoutMs = 1000;
  let gateway: RunningGateway;
  let host: Script;
  let waiting: Socket[] = [];

  before(async () => {
    host = runScript(
      null,
      import.meta.dirname,
      `
        import { connect, createServer, type Socket } from 'node:net';
        const server = createServer();
        server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => say(server.address().port));
        await go();
      `,
    );
    const port = Number(await host.line());
    // Stopped, it accepts nothing; once its queue is full the kernel drops what asks for a connection.
    host.child.kill('SIGSTOP');
    waiting = await fillQueue(port);
    const plain = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    plain.listen(0, '127.0.0.1').unref();
    await once(plain, 'listening');
    const address = plain.address();
    assert.ok(typeof address === 'object' && address !== null);
    gateway = await startGateway({
      config: { timeouts: { connect_ms: timeoutMs } },
      connections: [
        ...connectionsTo(`http://127.0.0.1:${port}`),
        { provider: 'openai-compatible', name: 'plain', baseUrl: `https://127.0.0.1:${address.port}` },
      ],
    });
  });

  after(async () => {
    for (const socket of waiting) socket.destroy();
    try {
      await gateway?.stop();
    } finally {
      await host?.kill();
    }
  });

  for (const format of formats) {
    it(`gets 504 after the time for connecting, tried twice (${format.name})`, async () => {
      const since = performance.now();
      const reply = await gateway.ask(format.path, format.request({ stream: true }));
      const ms = performance.now() - since;
      assert.equal(reply.status, 504, reply.text);
      assert.match(errorOf(reply).message, /did not accept a connection in time/);
      assert.ok(ms > timeoutMs, `${ms} ms`);
      const entry = await gateway.entry(reply.header('x-request-id'));
      assert.equal(entry.error?.code, 'upstream_timeout');
      assert.equal(entry.attempts, 2);
    });
  }

  it('is not waited for when the client leaves, which is recorded at once', async () => {
    const client = await gateway.client();
    const headers = { 'user-agent': 'left while connecting', ...bearer(gateway.key) };
    await client.send({ path: chat.path, headers, body: JSON.stringify(chat.request()) });
    await delay(100);
    client.destroy();
    await waitFor('the ledger entry', async () => {
      const row = (await gateway.entries()).find((line) => line.user_agent === 'left while connecting');
      if (row === undefined) return false;
      assert.equal(row.outcome, 'aborted');
      assert.equal(row.status, 499);
      assert.equal(row.attempts, 1);
      assert.equal(row.usage, null);
      return true;
    });
  });

  it('is distinguished from one that does not speak TLS', async () => {
    const reply = await gateway.ask(chat.path, chat.request({ model: 'plain/m-1' }));
    assert.equal(reply.status, 502, reply.text);
    assert.match(errorOf(reply).message, /TLS/);
    assert.equal((await gateway.entry(reply.header('x-request-id'))).error?.code, 'upstream_unreachable');
  });
});

/** Connects until the kernel lets no more wait. */
async function fillQueue(port: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let number = 0; number < 20; number += 1) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    sockets.push(socket);
    await Promise.race([once(socket, 'connect'), delay(500)]);
    // On a busy machine the time may be over before this process has looked at the socket.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    if (socket.connecting) return sockets;
  }
  throw new Error('the queue of a stopped server never filled');
}

describe('a connection that breaks', () => {
  const s = setting();

  /** Sends one request and gives back its answer, its ledger entry and on which connections it came. */
  const run = async (format: Format, scripts: readonly (readonly Step[])[], more: object = {}) => {
    s.upstream.script(...scripts);
    const reply = await s.gateway.ask(format.path, format.request(more));
    const entry = await s.gateway.entry(reply.header('x-request-id'));
    return { reply, entry, connections: s.upstream.requests.map(({ connection }) => connection) };
  };

  const broken: Record<string, readonly Step[]> = {
    'is reset before an answer': [readAll, resetNow()],
    'is closed before an answer': [readAll, fin()],
    'is reset while the request is being sent': [resetNow()],
    'is closed in the middle of the headers': [readAll, raw('HTTP/1.1 200 OK\r\ncontent-ty'), fin()],
    'is reset after the headers': [open(), reset()],
  };

  for (const [name, steps] of Object.entries(broken)) {
    for (const format of formats) {
      it(`is tried once more on a new socket when it ${name} (${format.name})`, async () => {
        const { reply, entry, connections } = await run(format, [steps, [json(200, format.answer())]]);
        assert.equal(reply.status, 200, reply.text);
        assert.deepEqual(reply.json(), format.answer());
        assert.equal(reply.header('x-gateway-attempts'), '2');
        assert.equal(new Set(connections).size, 2);
        assert.equal(entry.attempts, 2);
        assert.equal(entry.outcome, 'ok');
      });
    }

    it(`is given up after the second time when it ${name}`, async () => {
      const { reply, entry, connections } = await run(chat, [steps, steps, [json(200, chat.answer())]]);
      assert.equal(reply.status, 502, reply.text);
      assert.equal(connections.length, 2);
      assert.equal(entry.error?.code, 'upstream_cut');
      assert.equal(entry.attempts, 2);
    });
  }

  for (const format of formats) {
    it(`is not tried again once a part of the answer came (${format.name})`, async () => {
      const part = JSON.stringify(format.answer()).slice(0, 30);
      const headers = { 'content-type': 'application/json', 'content-length': '5000' };
      const { reply, entry, connections } = await run(format, [[head(200, headers), raw(part), reset()]]);
      assert.equal(reply.status, 502, reply.text);
      assert.equal(connections.length, 1);
      assert.equal(entry.error?.code, 'upstream_cut');
      assert.equal(entry.attempts, 1);
    });

    it(`is not tried again once a part of the stream came (${format.name})`, async () => {
      const { preamble, content } = format.stream();
      const { reply, entry, connections } = await run(
        format,
        [[open(), chunk(preamble + content[0]), reset()]],
        { stream: true },
      );
      assert.equal(reply.status, 200);
      assert.ok(reply.text.startsWith(preamble + content[0]));
      assert.doesNotMatch(reply.text, new RegExp(format.terminal.replace(/[[\]]/g, '\\$&')));
      assert.equal(connections.length, 1);
      assert.equal(entry.outcome, 'failed');
      assert.equal(entry.error?.code, 'upstream_cut');
      assert.equal(entry.estimated, true);
    });
  }

  it('is an HTTP error when only a preamble had come, and is not tried again', async () => {
    const { reply, entry, connections } = await run(
      messages,
      [[open(), chunk(messages.stream().preamble), reset()]],
      { stream: true },
    );
    assert.equal(reply.status, 502, reply.text);
    assert.equal(connections.length, 1);
    assert.equal(entry.error?.code, 'upstream_cut');
  });

  it('is tried again with the whole request, however large', async () => {
    const body = JSON.stringify(
      chat.request({ messages: [{ role: 'user', content: 'x'.repeat(6_000_000) }] }),
    );
    s.upstream.script([pause(50), resetNow()], [json(200, chat.answer())]);
    const reply = await s.gateway.ask(chat.path, body);
    assert.equal(reply.status, 200, reply.text);
    const seen = await (await s.upstream.request(1)).whole;
    assert.equal(seen.toString(), body.replace('up/m-1', 'm-1'));
  });

  it('passes on an error that came before the request was read', async () => {
    const body = JSON.stringify(
      chat.request({ messages: [{ role: 'user', content: 'x'.repeat(6_000_000) }] }),
    );
    const refusal = JSON.stringify(chat.error('too large for me', 'invalid_request_error'));
    const answer = `HTTP/1.1 413 Too Large\r\ncontent-type: application/json\r\ncontent-length: ${refusal.length}\r\nconnection: close\r\n\r\n${refusal}`;
    s.upstream.script([raw(answer), pause(300), fin()]);
    const reply = await s.gateway.ask(chat.path, body);
    assert.equal(reply.status, 413, reply.text);
    assert.match(reply.text, /too large for me/);
    assert.equal(s.upstream.requests.length, 1);
  });
});

describe('kept connections', () => {
  const s = setting({ oneWorker: true });

  it('carry one request after the other', async () => {
    s.upstream.always(json(200, chat.answer()));
    for (let number = 0; number < 5; number += 1) await s.gateway.ask(chat.path, chat.request());
    assert.equal(new Set(s.upstream.requests.map(({ connection }) => connection)).size, 1);
  });

  it('are kept after a whole stream', async () => {
    s.upstream.always(stream(chat.stream().text));
    for (let number = 0; number < 3; number += 1) {
      const reply = await s.gateway.ask(chat.path, chat.request({ stream: true }));
      assert.match(reply.text, /\[DONE\]/);
    }
    assert.equal(new Set(s.upstream.requests.map(({ connection }) => connection)).size, 1);
  });

  it('are given up without an error when the upstream closed them while idle', async () => {
    s.upstream.always(json(200, chat.answer()));
    await s.gateway.ask(chat.path, chat.request());
    await s.upstream.dropConnections();
    const reply = await s.gateway.ask(chat.path, chat.request());
    assert.equal(reply.status, 200, reply.text);
  });

  for (const [name, close] of Object.entries({ resets: resetNow(), closes: fin() })) {
    it(`cost no request when the upstream ${name} every one of them just as the next arrives`, async () => {
      await s.upstream.dropConnections();
      // Several idle connections: the second try must not go to another that is just as stale.
      const gate = Promise.withResolvers<void>();
      s.upstream.always(readAll, () => gate.promise, json(200, chat.answer()));
      const first = Array.from({ length: 4 }, () => s.gateway.ask(chat.path, chat.request()));
      await s.upstream.request(3);
      gate.resolve();
      assert.deepEqual(
        (await Promise.all(first)).map(({ status }) => status),
        [200, 200, 200, 200],
      );
      const stale = new Set(s.upstream.requests.map(({ connection }) => connection));
      assert.equal(stale.size, 4);
      s.upstream.respond(({ connection }) => (stale.has(connection) ? [close] : [json(200, chat.answer())]));
      const reply = await s.gateway.ask(chat.path, chat.request());
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.header('x-gateway-attempts'), '2');
      const [raced, fresh] = s.upstream.requests.map(({ connection }) => connection);
      assert.ok(raced !== undefined && stale.has(raced));
      assert.ok(fresh !== undefined && !stale.has(fresh));
    });
  }

  it('are not used again after `connection: close`', async () => {
    s.upstream.always(json(200, chat.answer(), { connection: 'close' }));
    for (let number = 0; number < 3; number += 1) {
      assert.equal((await s.gateway.ask(chat.path, chat.request())).status, 200);
    }
    assert.equal(new Set(s.upstream.requests.map(({ connection }) => connection)).size, 3);
  });

  it('are not used again after an answer that was not read to its end', async () => {
    s.upstream.script(
      [head(302, { location: 'http://127.0.0.1:1/', 'content-length': '5' }), raw('moved')],
      [json(200, chat.answer())],
    );
    assert.equal((await s.gateway.ask(chat.path, chat.request())).status, 502);
    const reply = await s.gateway.ask(chat.path, chat.request());
    assert.deepEqual(reply.json(), chat.answer());
  });
});

describe('an upstream that is silent', () => {
  const s = setting({
    config: { timeouts: { connect_ms: 1000, headers_ms: 600, first_byte_ms: 600, idle_ms: 600 } },
  });

  for (const format of formats) {
    for (const streamed of [false, true]) {
      it(`gets 504 when it accepts and never answers (${format.name}, stream ${streamed})`, async () => {
        s.upstream.always(hang());
        const reply = await s.gateway.ask(format.path, format.request({ stream: streamed }));
        assert.equal(reply.status, 504, reply.text);
        assert.match(errorOf(reply).message, /no response headers came within 0\.6 s/);
        const entry = await s.gateway.entry(reply.header('x-request-id'));
        assert.equal(entry.outcome, 'failed');
        assert.equal(entry.error?.code, 'upstream_timeout');
        // It may still be at work on it: a second request would be paid twice.
        assert.equal(entry.attempts, 1);
        assert.equal(s.upstream.requests.length, 1);
        await (await s.upstream.request()).closed;
      });
    }

    it(`gets 504 when only its headers come (${format.name})`, async () => {
      s.upstream.always(open(), hang());
      const reply = await s.gateway.ask(format.path, format.request({ stream: true }));
      assert.equal(reply.status, 504, reply.text);
      assert.match(errorOf(reply).message, /no first byte came within 0\.6 s/);
      assert.equal(s.upstream.requests.length, 1);
      await (await s.upstream.request()).closed;
    });

    it(`ends a stream that stalls with an error (${format.name})`, async () => {
      const { preamble, content } = format.stream();
      s.upstream.always(open(), chunk(preamble + content[0]), hang());
      const reply = await s.gateway.ask(format.path, format.request({ stream: true }));
      assert.equal(reply.status, 200);
      assert.equal(reply.end, 'cut');
      const entry = await s.gateway.entry(reply.header('x-request-id'));
      assert.equal(entry.outcome, 'failed');
      assert.equal(entry.error?.code, 'upstream_timeout');
      await (await s.upstream.request()).closed;
    });
  }

  it('is waited for as long as it says something in time', async () => {
    const { preamble, content, ending } = responses.stream();
    const slow = [preamble, ...content, ending].flatMap((piece) => [chunk(piece), pause(300)]);
    s.upstream.always(pause(300), open(), pause(300), ...slow, raw('0\r\n\r\n'));
    const reply = await s.gateway.ask(responses.path, responses.request({ stream: true }));
    assert.equal(reply.text, responses.stream().text);
    assert.equal(reply.end, 'complete');
  });

  it('is closed when it has sent its final event and does not end, relayed and translated', async () => {
    for (const path of [messages.path, chat.path]) {
      s.upstream.always(open(), chunk(messages.stream().text), hang());
      const { model } = messages.request();
      const request = { model, stream: true, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };
      const reply = await s.gateway.ask(path, request);
      assert.equal(reply.end, 'complete', reply.text);
      const seen = await s.upstream.request();
      await waitFor('its connection to be closed', () => seen.closedAt !== null);
    }
  });
});
