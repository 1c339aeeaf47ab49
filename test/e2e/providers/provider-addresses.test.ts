import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { parametersOf } from '../../../src/connections/base-url.ts';
import { allProviders } from '../../../src/providers/index.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { isBuiltIn } from '../../../src/providers/provider.ts';
import { type ConnectionInput, type RunningGateway, startGateway } from '../../support/gateway/gateway.ts';
import { anyHostAt } from '../../support/upstream/any-host.ts';
import { json } from '../../support/upstream/steps.ts';
import { type SeenRequest, startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

/**
 * What every provider's documentation says: id, format, address, and the header with the key. The model is `MODEL` where
 * it stands in the path, parameters of an address are called `example`. Compared by hand with the pages that
 * `scripts/catalog/corrections.ts`, the data set and the files in `src/providers/` name.
 */
const documented = readFileSync(new URL('./provider-addresses.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '');

const messages = [{ role: 'user', content: 'hi' }];

/** A request of each format that is no upload. */
const requests: Readonly<Record<string, (model: string) => [path: string, body: object]>> = {
  'openai-chat': (model) => ['/v1/chat/completions', { model, messages }],
  'openai-responses': (model) => ['/v1/responses', { model, input: 'hi' }],
  'openai-completions': (model) => ['/v1/completions', { model, prompt: 'hi' }],
  'openai-embeddings': (model) => ['/v1/embeddings', { model, input: 'hi' }],
  'openai-images': (model) => ['/v1/images/generations', { model, prompt: 'a cat' }],
  'openai-speech': (model) => ['/v1/audio/speech', { model, input: 'hi', voice: 'alloy' }],
  'openai-moderations': (model) => ['/v1/moderations', { model, input: 'hi' }],
  'anthropic-messages': (model) => ['/v1/messages', { model, max_tokens: 9, messages }],
  gemini: (model) => [
    `/v1beta/models/${model}:generateContent`,
    { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] },
  ],
  ollama: (model) => ['/api/chat', { model, messages, stream: false }],
  rerank: (model) => ['/v1/rerank', { model, query: 'hi', documents: ['hi'] }],
};

const asked = allProviders().filter((provider) => !isBuiltIn(provider) && provider.category !== 'generic');

function connectionTo(provider: Provider): ConnectionInput {
  const parameters = Object.fromEntries(parametersOf(provider).map((name) => [name, 'example']));
  return {
    provider: provider.id,
    name: provider.id,
    ...(provider.baseUrlOf === undefined ? {} : { parameters }),
  };
}

/** The line of the table that a request would be. */
function lineOf(id: string, format: string, model: string, seen: SeenRequest): string {
  const secure = new Set(['443', undefined]).has(portOf(seen.header('host')));
  const address = `${secure ? 'https' : 'http'}://${seen.header('host')}${seen.path}`.replaceAll(
    model,
    'MODEL',
  );
  const header = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'].find((name) =>
    seen.header(name)?.endsWith('upstream-secret'),
  );
  return `${id} ${format} ${address} ${header ?? 'none'}`;
}

function portOf(host: string | undefined): string | undefined {
  return host?.split(':')[1];
}

describe('every provider', () => {
  let gateway: RunningGateway;
  let upstream: Upstream;
  before(async () => {
    upstream = await startUpstream();
    upstream.always(json(200, {}));
    gateway = await startGateway({
      env: anyHostAt(upstream.port),
      connections: asked.map(connectionTo),
    });
  });
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  it('is asked at the host and path that it documents, with the key in the header that it documents', async () => {
    assert.ok(asked.length >= 140, `${asked.length} providers`);
    const cases = asked.flatMap(({ formats, id }) =>
      Object.keys(formats).flatMap((format) => {
        const request = requests[format];
        return request === undefined ? [] : [{ id, format, request }];
      }),
    );
    const lines: string[] = [];
    for (const [index, { format, id, request }] of cases.entries()) {
      const model = `asked-${index}-`;
      const [path, body] = request(`${id}/${model}`);
      const reply = await gateway.ask(path, body);
      const names = (seen: SeenRequest) =>
        seen.method === 'POST' && (seen.path.includes(model) || seen.body.includes(model));
      const seen = upstream.requests.find(names);
      assert.ok(seen, `${id}, ${format}: nothing arrived, ${reply.status} ${reply.text.slice(0, 300)}`);
      lines.push(lineOf(id, format, model, seen));
    }
    assert.deepEqual(lines, documented);
  });
});
