import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before } from 'node:test';
import type { Reply } from '../clients/client.ts';
import { chatStream, messagesStream, responsesStream } from '../upstream/answers.ts';
import { geminiStream, ollamaStream } from '../upstream/answers-native.ts';
import type { Step } from '../upstream/steps.ts';
import { stream } from '../upstream/steps.ts';
import { type SeenRequest, startUpstream, type Upstream } from '../upstream/upstream.ts';
import { type GatewayOptions, type RunningGateway, startGateway, waitFor } from './gateway.ts';

/** How a client of each format asks for a stream of `model`. */
export const clients: Readonly<
  Record<string, (model: string, key: string) => { path: string; body: Record<string, unknown> }>
> = {
  chat: (model) => ({
    path: '/v1/chat/completions',
    body: { model, stream: true, messages: [{ role: 'user', content: 'hi' }] },
  }),
  responses: (model) => ({ path: '/v1/responses', body: { model, stream: true, input: 'hi', store: false } }),
  messages: (model) => ({
    path: '/v1/messages',
    body: { model, stream: true, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] },
  }),
  gemini: (model) => ({
    path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  }),
  ollama: (model, key) => ({
    path: `/api/v1/editor/${key}/api/chat`,
    body: { model, stream: true, messages: [{ role: 'user', content: 'hi' }] },
  }),
};

/** A healthy stream in the format that the path of a request has. */
export function healthyFor({ path }: Pick<SeenRequest, 'path'>): string {
  if (path.includes('/messages')) return messagesStream().text;
  if (path.includes('/responses')) return responsesStream().text;
  if (path.includes('Content')) return geminiStream();
  if (path.includes('/api/chat')) return ollamaStream();
  return chatStream().text;
}

/** The frames before the first content, in the format that the path of a request has. */
export function preambleFor({ path }: Pick<SeenRequest, 'path'>): string {
  if (path.includes('/messages')) return messagesStream().preamble;
  if (path.includes('/responses')) return responsesStream().preamble;
  return path.includes('/chat/completions') ? chatStream().preamble : '';
}

export const healthy = (request: SeenRequest): readonly Step[] => [
  stream(healthyFor(request), 'whole', {
    'content-type': request.path.includes('/api/chat') ? 'application/x-ndjson' : 'text/event-stream',
  }),
];

export interface ShownConnection {
  id: string;
  name: string;
  condition: { state: string; until: string | null; reason: string | null };
  model_conditions: { model: string; state: string; until: string | null; reason: string | null }[];
}

/** A gateway with several upstreams, and the management API by the key of its owner. */
export interface Fleet {
  readonly gateway: RunningGateway;
  readonly upstreams: readonly Upstream[];
  manage(method: string, path: string, body?: unknown): Promise<Reply>;
  /** Adds a connection of the provider to each upstream, the first with the highest priority: `PROVIDER-0` and so on. */
  connectAll(provider: string): Promise<void>;
  /** The same, and a combo of them in that order, named `c-PROVIDER`: the first has the model `m-1`, and so on. */
  combineAll(provider: string): Promise<void>;
  connection(name: string): Promise<ShownConnection>;
  reset(name: string): Promise<void>;
}

/** @param env more of the environment, asked for when the gateway starts */
export function fleet(
  count: number,
  {
    env = () => ({}),
    ...options
  }: Pick<GatewayOptions, 'config' | 'oneWorker'> & { env?(): Readonly<Record<string, string>> } = {},
): Fleet {
  const started: { gateway?: RunningGateway; upstreams: Upstream[] } = { upstreams: [] };
  before(async () => {
    for (let index = 0; index < count; index += 1) started.upstreams.push(await startUpstream());
    started.gateway = await startGateway({ ...options, env: env() });
  });
  after(async () => {
    try {
      await started.gateway?.stop();
    } finally {
      for (const upstream of started.upstreams) await upstream.close();
    }
  });
  const own: Fleet = {
    get gateway() {
      if (started.gateway === undefined) throw new Error('the gateway has not started');
      return started.gateway;
    },
    upstreams: started.upstreams,
    async manage(method, path, body) {
      const run = JSON.parse(await readFile(join(own.gateway.dataDir, 'run.json'), 'utf8')) as {
        key: string;
      };
      const host = `127.0.0.1:${own.gateway.port}`;
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const headers = { host, 'x-auth-token': run.key, ...type };
      return own.gateway.send({
        method,
        path,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    },
    async connectAll(provider) {
      for (const [index, { url }] of started.upstreams.entries()) {
        const name = `${provider}-${index}`;
        const input = { provider, name, base_url: url, api_key: 'upstream-secret', default_model: 'm-1' };
        const reply = await own.manage('POST', '/api/connections', { ...input, priority: count - index });
        assert.equal(reply.status, 200, reply.text);
      }
    },
    async combineAll(provider) {
      await own.connectAll(provider);
      const targets = started.upstreams.map((_, index) => `${provider}-${index}/m-${index + 1}`);
      const reply = await own.manage('POST', '/api/combos', { name: `c-${provider}`, targets });
      assert.equal(reply.status, 200, reply.text);
    },
    async connection(name) {
      const reply = await own.manage('GET', `/api/connections/${name}`);
      assert.equal(reply.status, 200, reply.text);
      return reply.json<ShownConnection>();
    },
    async reset(name) {
      const { condition, id, model_conditions } = await own.connection(name);
      if (condition.state === 'ready' && model_conditions.length === 0) return;
      const reply = await own.manage('POST', `/api/connections/${id}`, { action: 'reset' });
      assert.equal(reply.status, 200, reply.text);
    },
  };
  return own;
}

export interface ShownTrace {
  candidates: { connection: string }[];
  skipped: { connection: string; reason: string; detail: string }[];
  attempts: {
    connection: string;
    status: number | null;
    outcome: string;
    begun_with?: number;
    error: { code: string; message: string } | null;
    effect: string | null;
  }[];
}

/** The trace of a request, once it is written. */
export async function traceOf({ manage }: Fleet, reply: Reply): Promise<ShownTrace> {
  let trace: unknown = null;
  await waitFor('the trace', async () => {
    const shown = await manage('GET', `/api/requests/${reply.header('x-request-id')}`);
    trace = shown.status === 200 ? shown.json()['trace'] : null;
    return trace !== null && trace !== undefined;
  });
  return trace as ShownTrace;
}
