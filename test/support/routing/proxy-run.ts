import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Dispatcher } from 'undici';
import { keyIndexOf } from '../../../src/access/keys/key-index.ts';
import { createCatalog } from '../../../src/catalog/catalog.ts';
import { createRouting } from '../../../src/combos/routing/routing.ts';
import type { Trace } from '../../../src/combos/trace.ts';
import { loadConfig } from '../../../src/config.ts';
import { createAccounts } from '../../../src/health/accounts.ts';
import type { AnyExchange } from '../../../src/http/exchange.ts';
import type { LedgerEntry } from '../../../src/ledger/schema.ts';
import type { ProxyContext } from '../../../src/proxy/context.ts';
import { proxyBody } from '../../../src/proxy/proxy.ts';
import { createUpstreamQuirks } from '../../../src/proxy/quirks/upstream-quirks.ts';
import type { OpenCall } from '../../../src/proxy/request/open-call.ts';
import { createWatch } from '../../../src/proxy/request/watch.ts';
import type { Upstream } from '../../../src/proxy/upstream/attempt.ts';
import { stub } from '../machine/stub.ts';
import { comboOf, connectionAt, routesOf } from './routing.ts';

/** The proxy without sockets: a request in memory, and upstreams that do what a script says. */

/** What an upstream does with one request. */
export type Script = (handler: Dispatcher.DispatchHandler, controller: Dispatcher.DispatchController) => void;

const inert: Dispatcher.DispatchController = {
  aborted: false,
  paused: false,
  reason: null,
  abort() {},
  pause() {},
  resume() {},
};

const headers = (type: string) => ({ 'content-type': type });

export const refused: Script = (handler, controller) =>
  handler.onResponseError?.(
    controller,
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
  );

export const answers =
  (status: number, body: object, more: Record<string, string> = {}): Script =>
  (handler, controller) => {
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, status, { ...headers('application/json'), ...more });
    handler.onResponseData?.(controller, Buffer.from(JSON.stringify(body)));
    handler.onResponseEnd?.(controller, {});
  };

export const fails = (status: number, more: Record<string, string> = {}) =>
  answers(status, { error: { message: 'the upstream is unwell', type: 'server_error' } }, more);

export const whole = answers(200, {
  id: 'c1',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1 },
});

export const chunk = (delta: object, rest: object = {}) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta, finish_reason: null }], ...rest })}\n\n`;
export const role = chunk({ role: 'assistant', content: '' });
export const word = chunk({ content: 'Hello' });

/** A stream of these pieces, which ends, is cut or goes on in silence. */
export const streams =
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

export const silent: Script = (handler, controller) => handler.onRequestStart?.(controller, {});

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

type Provider = 'openai-compatible' | 'anthropic-compatible';

/** What is different from a request for a chat completion that no budget counts. */
export interface RequestOptions {
  stream?: boolean;
  /** Of all connections, but those that are named. */
  provider?: Provider;
  providers?: Readonly<Record<string, Provider>>;
  /** How the client speaks, the path that it asks, and fields of its request beside the usual ones. */
  format?: 'openai-chat' | 'anthropic-messages';
  fields?: object;
  limits?: Pick<ProxyContext['limits'], 'reservationFor'>;
}

/** Runs one request through the proxy without a socket, with an upstream for each connection that does what its scripts say in turn. */
export function request(scripts: Readonly<Record<string, readonly Script[]>>, options: RequestOptions = {}) {
  const {
    stream = false,
    provider = 'openai-compatible',
    providers = {},
    format = 'openai-chat',
    fields = {},
    limits,
  } = options;
  /** What each connection was sent, in order. */
  const sent: { name: string; path: string; body: string }[] = [];
  const names = Object.keys(scripts);
  const targets: string[] = [];
  const left = new Map(names.map((name) => [name, [...(scripts[name] ?? [])]]));
  const upstreamOf = (name: string): Upstream => ({
    dispatch({ body, path }, handler) {
      targets.push(name);
      sent.push({ name, path, body: String(body) });
      const script = left.get(name)?.shift();
      assert.ok(script !== undefined, `${name} was asked once too often`);
      script(handler, inert);
      return true;
    },
  });
  const routes = routesOf({
    connections: names.map((name) =>
      connectionAt(name, providers[name] ?? provider, { baseUrl: `http://${name}.test/v1` }),
    ),
    combos: [
      comboOf(
        'all',
        names.map((name) => `${name}/m`),
      ),
    ],
  });
  const now = () => 1_000_000;
  const accounts = createAccounts({ now, onChange() {} });
  const recorded: Recorded[] = [];
  const ended = Promise.withResolvers<void>();
  const watch = createWatch<OpenCall>();
  const context = stub<ProxyContext>({
    config: loadConfig({ env: {}, flags: { dataDir: '/nowhere' }, file: {} }),
    snapshot: () => ({
      keys: keyIndexOf([]),
      routes,
      catalog: createCatalog({ overrides: {} }),
      revision: 1,
    }),
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
    ...createUpstreamQuirks(),
    accounts,
    tokens: { current: () => null, fresh: async () => '', issued: () => [] },
    limits: { reservationFor: () => null, isPriced: () => false, countMore() {}, ...limits },
    record(entry: LedgerEntry, trace: Trace | null) {
      recorded.push({ entry, trace });
      ended.resolve();
    },
    traceparent: null,
    instance: 'test',
    now,
  });
  const sink = new Sink();
  const exchange = stub<AnyExchange>({
    slot: -1,
    request: { headers: {}, rawHeaders: [], method: 'POST', socket: {} },
    response: sink,
    id: 'req_1',
    path: format === 'openai-chat' ? '/v1/chat/completions' : '/v1/messages',
    query: '',
    startedAt: now(),
    clock: performance.now(),
  });
  const body = Buffer.from(
    JSON.stringify({ model: 'all', stream, messages: [{ role: 'user', content: 'hi' }], ...fields }),
  );
  const begun = proxyBody(
    context,
    { exchange, read: async () => [body] },
    { format },
    { keyId: 'key', name: 'test', models: null },
  );
  return { targets, sent, begun, ended: ended.promise, recorded, sink, watch, accounts };
}

/** What came of a request that is over. */
export async function outcomeOf(running: ReturnType<typeof request>) {
  await running.begun;
  await running.ended;
  assert.equal(running.recorded.length, 1, 'one ledger entry');
  assert.deepEqual(running.watch.members(), [], 'nobody watches it any more');
  const [{ entry, trace } = assert.fail()] = running.recorded;
  return { ...running, entry, attempts: trace?.attempts ?? [] };
}
