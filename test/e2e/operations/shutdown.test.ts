import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { OpenReply, RawClient, Reply } from '../../support/clients/client.ts';
import {
  chat,
  connectionsTo,
  type Format,
  formats,
  messages,
  responses,
} from '../../support/formats/formats.ts';
import { bearer, type RunningGateway, startGateway, waitFor } from '../../support/gateway/gateway.ts';
import { PATIENCE_MS } from '../../support/machine/patience.ts';
import { chunk, end, flood, hang, json, open, type Step, stall } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

const DRAIN_MS = 1000;
/** Longer than anything here waits. */
const LONG_MS = 2 * PATIENCE_MS;

let upstream: Upstream;
let gateway: RunningGateway;
let clients: RawClient[] = [];

before(async () => {
  upstream = await startUpstream();
});
after(() => upstream?.close());

const start = async (drainMs: number) => {
  gateway = await startGateway({ config: { drain_ms: drainMs }, connections: connectionsTo(upstream.url) });
};

afterEach(async () => {
  for (const client of clients) client.destroy();
  clients = [];
  // Asserts exit 0, no run file and no internal error, also for a gateway that was stopped before.
  await gateway?.stop();
});

async function begin(format: Format, more: object): Promise<RawClient> {
  const client = await gateway.client();
  clients.push(client);
  client.socket.on('error', () => {});
  await client.send({
    path: format.path,
    headers: { 'content-type': 'application/json', ...bearer(gateway.key) },
    body: JSON.stringify(format.request(more)),
  });
  return client;
}

/** A stream of which the first content has come. */
async function beginStream(format: Format): Promise<OpenReply> {
  const reply = await (await begin(format, { stream: true })).open();
  await reply.until('Hel');
  return reply;
}

/** What the upstream does for a stream that goes on once `gate` opens. */
function interrupted(format: Format, gate: Promise<unknown>): Step[] {
  const { content, ending, preamble } = format.stream();
  const [first = '', ...rest] = content;
  return [open(), chunk(preamble + first), stall(gate), chunk(rest.join('') + ending), end()];
}

function terminate(signal: NodeJS.Signals = 'SIGTERM'): void {
  process.kill(gateway.pid, signal);
}

/** Waits until the gateway says that it stops. */
async function stopping(): Promise<void> {
  await waitFor('the gateway to say that it stops', () => gateway.output().stderr.includes('stopping'));
}

/** Waits until the process has ended, which with `LONG_MS` it would not do while it waited for anything. */
async function ended(): Promise<void> {
  await waitFor(
    'the end of the gateway',
    () => gateway.output().stderr.includes('stopped') && !existsSync(`/proc/${gateway.pid}/fd/1`),
  );
}

/** Ledger outcomes by request id; readable after the end of the process too. */
async function outcomes(): Promise<Map<string, string>> {
  return new Map((await gateway.entries()).map((row) => [row.id, `${row.outcome} ${row.error?.code ?? ''}`]));
}

describe('SIGTERM while requests are open that can finish', () => {
  beforeEach(() => start(LONG_MS));

  it('lets streams and whole answers of all formats finish', async () => {
    const gate = Promise.withResolvers<void>();
    const waiting: { format: Format; streamed: boolean; reply: Promise<Reply> }[] = [];
    for (const format of formats) {
      upstream.script(interrupted(format, gate.promise));
      waiting.push({ format, streamed: true, reply: (await beginStream(format)).whole });
      upstream.script([stall(gate.promise), json(200, format.answer())]);
      const client = await begin(format, {});
      await upstream.request();
      waiting.push({ format, streamed: false, reply: client.reply() });
    }
    terminate();
    await stopping();
    gate.resolve();
    const ids: string[] = [];
    for (const { format, streamed, reply } of waiting) {
      const { end: ending, header, text } = await reply;
      assert.equal(ending, 'complete');
      assert.equal(text, streamed ? format.stream().text : JSON.stringify(format.answer()));
      ids.push(header('x-request-id') ?? '');
    }
    await ended();
    const rows = await gateway.entries();
    assert.equal(rows.length, ids.length);
    for (const row of rows) {
      assert.ok(ids.includes(row.id));
      assert.equal(row.outcome, 'ok');
      assert.equal(row.usage?.['output'], 5);
    }
  });

  it('takes no new connections meanwhile', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.script(interrupted(chat, gate.promise));
    const reply = await beginStream(chat);
    terminate();
    await stopping();
    await waitFor('connections to be refused', () =>
      gateway.client().then(
        (client) => {
          client.destroy();
          return false;
        },
        (error: NodeJS.ErrnoException) => error.code === 'ECONNREFUSED',
      ),
    );
    gate.resolve();
    assert.equal((await reply.whole).end, 'complete');
    await ended();
  });
});

describe('SIGTERM while requests are open that take too long', () => {
  beforeEach(() => start(DRAIN_MS));

  it('answers 503 in its dialect to each that has no answer yet', async () => {
    upstream.always(hang());
    const waiting: { format: Format; client: RawClient }[] = [];
    for (const format of formats) {
      for (const stream of [false, true]) waiting.push({ format, client: await begin(format, { stream }) });
    }
    const last = await upstream.request(waiting.length - 1);
    terminate();
    const ids: (string | undefined)[] = [];
    for (const { client, format } of waiting) {
      const reply = await client.reply();
      assert.equal(reply.status, 503, reply.text);
      assert.equal(reply.header('retry-after'), '5');
      assert.equal(reply.end, 'complete');
      const { error, type } = reply.json();
      assert.match(JSON.stringify(error), /shutting down/);
      assert.equal(type, format === messages ? 'error' : undefined);
      ids.push(reply.header('x-request-id'));
    }
    await last.closed;
    await ended();
    const byId = await outcomes();
    for (const id of ids) assert.equal(byId.get(id ?? ''), 'failed shutting_down');
  });

  it('ends 100 streams of all formats, each with its own error event', async () => {
    upstream.respond(({ path }) => {
      const format = formats.find((one) => path === one.path) ?? chat;
      return interrupted(format, new Promise(() => {}));
    });
    const all = Array.from({ length: 100 }, (_, index) => formats[index % formats.length] ?? chat);
    const open = await Promise.all(all.map((format) => beginStream(format)));
    const since = performance.now();
    terminate();
    const replies = await Promise.all(open.map(({ whole }) => whole));
    assert.ok(performance.now() - since > DRAIN_MS - 200, 'they got their time');
    for (const [index, format] of all.entries()) {
      const { content, preamble } = format.stream();
      const reply = replies[index];
      assert.ok(reply);
      assert.equal(reply.end, 'cut', 'it must not look as if it were complete');
      const sent = preamble + content[0];
      assert.ok(reply.text.startsWith(sent), reply.text);
      assertErrorEvent(format, reply.text.slice(sent.length));
    }
    await ended();
    assert.equal(upstream.requests.length, 100, 'none is tried again');
    const rows = new Map((await gateway.entries()).map((row) => [row.id, row]));
    for (const reply of replies) {
      const row = rows.get(reply.header('x-request-id') ?? '');
      assert.equal(row?.outcome, 'failed');
      assert.equal(row.error?.code, 'shutting_down');
      assert.equal(row.estimated, true);
      assert.ok((row.usage?.['output'] ?? 0) > 0);
    }
    assert.equal(rows.size, 100);
  });

  it('is not held up by a client that does not read', async () => {
    const piece = chat.stream({ text: ['x'.repeat(16_000)] }).content.join('');
    upstream.script([open(), flood(piece, 1_000_000_000)]);
    const client = await begin(chat, { stream: true });
    client.socket.pause();
    await upstream.request();
    await delay(500);
    terminate();
    await ended();
    const rows = await gateway.entries();
    assert.deepEqual(
      rows.map(({ outcome }) => outcome),
      ['failed'],
    );
  });

  it('is not held up by a request that never becomes whole', async () => {
    upstream.always(json(200, chat.answer()));
    const client = await gateway.client();
    clients.push(client);
    const headers = { 'content-length': '5000', ...bearer(gateway.key) };
    await client.send({ path: chat.path, headers, body: '{"model":' });
    await delay(100);
    terminate();
    await ended();
    assert.equal(upstream.requests.length, 0);
  });
});

describe('a stopping gateway with time', () => {
  beforeEach(() => start(LONG_MS));

  it('does not wait for connections that carry nothing', async () => {
    upstream.always(json(200, chat.answer()));
    const used = await begin(chat, {});
    assert.equal((await used.reply()).status, 200);
    clients.push(await gateway.client());
    terminate();
    await ended();
  });

  it('ends as soon as the last request has', async () => {
    const gate = Promise.withResolvers<void>();
    upstream.script(interrupted(responses, gate.promise));
    const reply = await beginStream(responses);
    terminate('SIGINT');
    await stopping();
    gate.resolve();
    assert.equal((await reply.whole).end, 'complete');
    await ended();
  });

  it('ends as soon as the last client has left', async () => {
    upstream.script(interrupted(chat, new Promise(() => {})));
    const reply = await beginStream(chat);
    terminate();
    await stopping();
    reply.whole.catch(() => {});
    for (const client of clients) client.destroy();
    await ended();
    assert.equal((await outcomes()).get(reply.header('x-request-id') ?? ''), 'aborted client_closed');
  });

  it('writes every record before it ends', async () => {
    upstream.always(json(200, chat.answer()));
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => gateway.ask(chat.path, chat.request())),
    );
    // Sooner than the writer's next turn.
    terminate();
    await ended();
    const byId = await outcomes();
    for (const reply of replies) assert.equal(byId.get(reply.header('x-request-id') ?? ''), 'ok ');
    assert.equal(byId.size, 200);
  });
});

describe('a second signal', () => {
  beforeEach(() => start(LONG_MS));

  it('ends the gateway at once, and it starts again on the same data', async () => {
    upstream.script(interrupted(chat, new Promise(() => {})));
    const reply = await beginStream(chat);
    const left = reply.whole.catch(() => null);
    terminate();
    await stopping();
    terminate();
    await waitFor('the end of the process', () => !existsSync(`/proc/${gateway.pid}/fd/1`));
    assert.equal((await left)?.end, 'cut');
    await gateway.restart();
    upstream.always(json(200, chat.answer()));
    assert.equal((await gateway.ask(chat.path, chat.request())).status, 200);
  });
});

/** One event that a client of the format takes for a failure, and no terminal event. */
function assertErrorEvent(format: Format, text: string): void {
  assert.ok(!text.includes(format.terminal), text);
  assert.ok(text.endsWith('\n\n'), JSON.stringify(text));
  const [frame = '', ...more] = text.split('\n\n').filter((part) => part !== '');
  assert.deepEqual(more, []);
  const fields = frame.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2));
  const { data = '', event } = Object.fromEntries(fields) as { data?: string; event?: string };
  const value = JSON.parse(data) as Record<string, unknown>;
  switch (format.name) {
    case 'chat':
      assert.equal(event, undefined);
      assert.match(JSON.stringify(value['error']), /"message":"The gateway is shutting down/);
      break;
    case 'responses':
      assert.equal(event, value['type']);
      assert.ok(['error', 'response.failed'].includes(event ?? ''), event);
      assert.match(data, /shutting down/);
      break;
    case 'messages':
      assert.equal(event, 'error');
      assert.equal(value['type'], 'error');
      assert.match(JSON.stringify(value['error']), /"type":"overloaded_error".*shutting down/);
      break;
  }
}
