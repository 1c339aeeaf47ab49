import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { describe, it } from 'node:test';
import type { Dispatcher } from 'undici';
import { comboOf, connectionAt, routesOf } from '../../../test/support/routing.ts';
import { createCatalog } from '../../catalog/catalog.ts';
import { createRouting } from '../../combos/routing.ts';
import type { Trace } from '../../combos/trace.ts';
import { loadConfig } from '../../config.ts';
import { createAccounts } from '../../health/accounts.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { GatewayError } from '../../lib/error.ts';
import type { OpenCall, ProxyContext } from '../context.ts';
import { proxyBody } from '../proxy.ts';
import { createLearned } from '../quirks/learned.ts';
import type { Upstream } from '../upstream/attempt.ts';
import { createWatch } from '../upstream/watch.ts';

/** What an upstream does with one request. */
type Script = (handler: Dispatcher.DispatchHandler, controller: Dispatcher.DispatchController) => void;

const inert: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};

const headers = (type: string) => ({ 'content-type': type });

const refused: Script = (handler, controller) =>
  handler.onResponseError?.(
    controller,
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
  );

const answers =
  (status: number, body: object, more: Record<string, string> = {}): Script =>
  (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, status, { ...headers('application/json'), ...more });
    handler.onResponseData?.(controller, Buffer.from(JSON.stringify(body)));
    handler.onResponseEnd?.(controller, {});
  };

const fails = (status: number, more: Record<string, string> = {}) =>
  answers(status, { error: { message: 'the upstream is unwell', type: 'server_error' } }, more);

const whole = answers(200, {
  id: 'c1',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1 },
});

const chunk = (delta: object, rest: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...rest })}\n\n`;
const role = chunk({ role: 'assistant', content: '' });
const word = chunk({ content: 'Hello' });

/** A stream of these pieces, which ends, is cut or goes on in silence. */
const streams =
  (end: 'ends' | 'cut' | 'silent', ...pieces: string[]): Script =>
  (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, 200, headers('text/event-stream'));
    for (const piece of pieces) handler.onResponseData?.(controller, Buffer.from(piece));
    if (end === 'ends') handler.onResponseEnd?.(controller, {});
    if (end === 'cut')
      handler.onResponseError?.(
        controller,
        Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
      );
  };

const silent: Script = (handler, controller) => handler.onRequestStart?.(controller, {});

/** Where an answer goes, in memory. */
class Sink extends EventEmitter {
  destroyed = false;
  headersSent = false;
  writableEnded = false;
  writableNeedDrain = false;
  status: number | null = null;
  text = '';
  wasReset = false;
  readonly socket = {
    bytesWritten: 0,
    resetAndDestroy: () => {
      this.wasReset = true;
      this.leave();
    },
  };
  writeHead(status: number): void {
    this.status = status;
    this.headersSent = true;
  }
  flushHeaders(): void {}
  write(bytes: Buffer | string, onSent?: () => void): boolean {
    this.text += bytes.toString();
    onSent?.();
    return true;
  }
  end(bytes: Buffer | string = ''): void {
    this.text += bytes.toString();
    this.writableEnded = true;
    setImmediate(() => this.leave());
  }
  /** The client is gone. */
  leave(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.emit('close');
  }
}

interface Recorded {
  entry: LedgerEntry;
  trace: Trace | null;
}

/** Runs one request through the loop, with an upstream for each connection that does what its scripts say in turn. */
function request(scripts: Readonly<Record<string, readonly Script[]>>, { stream = false } = {}) {
  const names = Object.keys(scripts);
  const asked: string[] = [];
  const left = new Map(names.map((name) => [name, [...(scripts[name] ?? [])]]));
  const upstreamOf = (name: string): Upstream => ({
    dispatch(_, handler) {
      asked.push(name);
      const script = left.get(name)?.shift();
      assert.ok(script !== undefined, `${name} was asked once too often`);
      script(handler, inert);
      return true;
    },
  });
  const routes = routesOf({
    connections: names.map((name) =>
      connectionAt(name, 'openai-compatible', { baseUrl: `http://${name}.test/v1` }),
    ),
    combos: [
      comboOf(
        'all',
        names.map((name) => `${name}/m`),
      ),
    ],
  });
  const now = () => 1_000_000;
  const accounts = createAccounts({ now, changed() {} });
  const recorded: Recorded[] = [];
  const ended = Promise.withResolvers<void>();
  const watch = createWatch<OpenCall>();
  const context = {
    config: loadConfig({ env: {}, flags: { dataDir: '/nowhere' }, file: {} }),
    snapshot: () => ({ keys: new Map(), routes, catalog: createCatalog({ overrides: {} }), revision: 1 }),
    routing: createRouting({ healthView: accounts, random: () => 0.5, now }),
    pools: {
      endpoint(baseUrl: string) {
        const name = new URL(baseUrl).hostname.replace('.test', '');
        const upstream = upstreamOf(name);
        return { upstream, fresh: () => upstream, origin: baseUrl, host: `${name}.test`, path: '/' };
      },
      close: async () => {},
    },
    watch,
    ...createLearned(),
    accounts,
    tokens: { current: () => null, fresh: async () => '', issued: () => [] },
    limits: { hold: () => null, isPriced: () => false, countMore() {} },
    record(entry: LedgerEntry, trace: Trace | null) {
      recorded.push({ entry, trace });
      ended.resolve();
    },
    traceparent: null,
    instance: 'test',
    now,
  } as unknown as ProxyContext;
  const sink = new Sink();
  const exchange = {
    slot: -1,
    request: { headers: {}, rawHeaders: [], method: 'POST', socket: {} },
    response: sink,
    id: 'req_1',
    path: '/v1/chat/completions',
    query: '',
    startedAt: now(),
    clock: performance.now(),
  } as unknown as AnyExchange;
  const body = Buffer.from(
    JSON.stringify({ model: 'all', stream, messages: [{ role: 'user', content: 'hi' }] }),
  );
  const begun = proxyBody(
    context,
    { exchange, read: async () => [body] },
    { format: 'openai-chat' },
    { keyId: 'key', name: 'test', models: null },
  );
  return { asked, begun, ended: ended.promise, recorded, sink, watch, accounts };
}

/** What came of a request that is over. */
async function outcomeOf(running: ReturnType<typeof request>) {
  await running.begun;
  await running.ended;
  assert.equal(running.recorded.length, 1, 'one ledger entry');
  assert.deepEqual(running.watch.members(), [], 'nobody watches it any more');
  const [{ entry, trace } = assert.fail()] = running.recorded;
  return { ...running, entry, attempts: trace?.attempts ?? [] };
}

describe('the loop of attempts', () => {
  const table: readonly {
    name: string;
    scripts: Record<string, Script[]>;
    stream?: boolean;
    asked: string;
    status: number;
    outcome: LedgerEntry['outcome'];
    code: string | null;
    attempts: readonly string[];
  }[] = [
    {
      name: 'a whole answer',
      scripts: { a: [whole], b: [] },
      asked: 'a',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['answered'],
    },
    {
      name: 'a refused connection is tried once more on a new socket, then elsewhere',
      scripts: { a: [refused, refused], b: [whole] },
      asked: 'aab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'failed', 'answered'],
    },
    {
      name: 'an upstream that is busy',
      scripts: { a: [fails(503)], b: [whole] },
      asked: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
    {
      name: 'a rate limit',
      scripts: { a: [fails(429, { 'retry-after': '9' })], b: [whole] },
      asked: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
    {
      name: 'what is wrong with the request is nobody else’s to answer',
      scripts: {
        a: [answers(400, { error: { message: 'no such field', type: 'invalid_request_error' } })],
        b: [],
      },
      asked: 'a',
      status: 400,
      outcome: 'failed',
      code: 'upstream_error',
      attempts: ['failed'],
    },
    {
      name: 'a stream that breaks off before its first content goes elsewhere',
      scripts: { a: [streams('cut', role)], b: [streams('ends', role, word, 'data: [DONE]\n\n')] },
      stream: true,
      asked: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
    {
      name: 'a stream that breaks off after its first content ends there',
      scripts: { a: [streams('cut', role, word)], b: [] },
      stream: true,
      asked: 'a',
      status: 200,
      outcome: 'failed',
      code: 'upstream_cut',
      attempts: ['failed'],
    },
    {
      name: 'a stream whose upstream reports an error before any content goes elsewhere',
      scripts: {
        a: [streams('ends', 'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n')],
        b: [streams('ends', role, word, 'data: [DONE]\n\n')],
      },
      stream: true,
      asked: 'ab',
      status: 200,
      outcome: 'ok',
      code: null,
      attempts: ['failed', 'answered'],
    },
  ];
  for (const { asked, attempts, code, name, outcome, scripts, status, stream = false } of table)
    it(name, async () => {
      const ended = await outcomeOf(request(scripts, { stream }));
      assert.deepEqual(
        {
          asked: ended.asked.join(''),
          status: ended.sink.status,
          outcome: ended.entry.outcome,
          code: ended.entry.errorCode,
          attempts: ended.attempts.map((attempt) => attempt.outcome),
        },
        { asked, status, outcome, code, attempts },
      );
      assert.equal(ended.entry.attempts, attempts.length);
      assert.equal(
        ended.accounts.inFlight('id-a') + ended.accounts.inFlight('id-b'),
        0,
        'nothing is left in flight',
      );
    });

  it('answers the most useful of the failures when nobody is left', async () => {
    const ended = await outcomeOf(
      request({ a: [fails(429, { 'retry-after': '7' })], b: [fails(500), fails(500), fails(500)] }),
    );
    assert.deepEqual([ended.asked.join(''), ended.sink.status, ended.entry.outcome], ['abbb', 429, 'failed']);
  });

  it('tells the account of what failed', async () => {
    const { accounts } = await outcomeOf(request({ a: [fails(429, { 'retry-after': '7' })], b: [whole] }));
    assert.equal(accounts.standingsOf('id-a').length, 1);
    assert.deepEqual(accounts.standingsOf('id-b'), []);
  });

  for (const [phase, script, status] of [
    ['before the head', silent, null],
    ['between the head and the first content', streams('silent', role), null],
    ['after the first content', streams('silent', role, word), 200],
  ] as const) {
    it(`records a client that leaves ${phase}, and lets go of the upstream`, async () => {
      const running = request({ a: [script], b: [] }, { stream: true });
      await running.begun;
      assert.equal(running.watch.members().length, 1);
      running.sink.leave();
      const { asked, attempts, entry, sink } = await outcomeOf(running);
      assert.deepEqual([asked.join(''), entry.status, entry.outcome], ['a', 499, 'aborted']);
      assert.deepEqual([sink.status, attempts.map(({ outcome }) => outcome)], [status, ['aborted']]);
    });

    it(`ends a request ${phase} when the gateway stops`, async () => {
      const running = request({ a: [script], b: [] }, { stream: true });
      await running.begun;
      const [call] = running.watch.members();
      call?.interrupt(new GatewayError('shutting_down', 'The gateway is shutting down'));
      const { entry, sink } = await outcomeOf(running);
      assert.deepEqual([entry.outcome, entry.errorCode], ['failed', 'shutting_down']);
      assert.equal(sink.status, status ?? 503);
      assert.match(sink.text, /shutting down/);
    });
  }

  it('times out an upstream that sends no head', async () => {
    const running = request({ a: [silent, silent], b: [whole] });
    await running.begun;
    const [call] = running.watch.members();
    call?.tick(600_001);
    const { asked, attempts } = await outcomeOf(running);
    assert.equal(asked.join(''), 'ab');
    assert.equal(attempts[0]?.error?.code, 'upstream_timeout');
  });
});
