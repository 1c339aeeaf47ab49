import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WireFormat } from '../codecs/model.ts';
import type { OpenConnection } from '../connections/schema.ts';
import type { GatewayError } from '../lib/error.ts';
import type { Provider } from '../providers/provider.ts';
import { type Route, type Routes, resolveTargets } from './resolve.ts';

test('connection/model and provider/model are final, and the first slash splits', () => {
  const routes = routesOf([route('work', 'groq'), route('spare', 'groq'), route('claude-team', 'anthropic')]);
  assert.deepEqual(found('work/openai/gpt-oss-120b', routes), ['work:openai/gpt-oss-120b']);
  assert.deepEqual(found('groq/llama', routes), ['work:llama', 'spare:llama']);
});

test('a bare id goes to the connection that lists it, then to one whose catalogue knows it', () => {
  const routes = routesOf(
    [route('a', 'groq'), route('b', 'groq', { models: ['m1'] }), route('c', 'groq', { defaultModel: 'm1' })],
    (provider, model) => provider.id === 'groq' && model === 'm1',
  );
  assert.deepEqual(found('m1', routes), ['b:m1', 'c:m1', 'a:m1']);
});

test('an id with a slash whose prefix is nobody is taken as a bare id', () => {
  const routes = routesOf([route('a', 'groq', { models: ['meta/llama-4'] })]);
  assert.deepEqual(found('meta/llama-4', routes), ['a:meta/llama-4']);
});

test('ids listed below claude/ for model pickers route to the same model', () => {
  const routes = routesOf([route('a', 'groq')]);
  assert.deepEqual(found('claude/a/m1', routes), ['a:m1']);
});

test('each refusal says what to do', () => {
  const routes = routesOf([route('a', 'anthropic')]);
  assert.equal(refusal('auto', routes).code, 'no_combo_configured');
  assert.match(refusal('auto', routes).message, /\/dashboard\/combos/);
  assert.equal(refusal('nowhere', routes).code, 'model_not_found');
  assert.match(refusal('mistral/large', routes).message, /gateway provider add mistral/);
  const mismatch = refusal('a/claude', routes, 'openai-embeddings');
  assert.equal(mismatch.code, 'format_not_supported');
  assert.equal(mismatch.status, 400);
  assert.match(mismatch.message, /anthropic-messages.*openai-embeddings/);
  assert.equal(mismatch.param, 'model');
});

test('a provider of another message format is asked in its own', () => {
  const routes = routesOf([
    route('a', 'anthropic', { models: ['m'] }),
    route('b', 'groq', { models: ['m'] }),
  ]);
  const targets = resolveTargets('m', 'openai-chat', routes);
  assert.deepEqual(
    targets.map(({ connection, format }) => [connection.name, format]),
    [
      ['a', 'anthropic-messages'],
      ['b', 'openai-chat'],
    ],
  );
});

test('a hostile model id is repeated without control characters and not at length', () => {
  const { message } = refusal(`x\u0007\n${'y'.repeat(5000)}`, routesOf([]));
  assert.ok(message.length < 500);
  assert.ok(!/[\u0000-\u001f]/.test(message));
});

function found(requested: string, routes: Routes): string[] {
  return resolveTargets(requested, 'openai-chat', routes).map(
    ({ connection, model }) => `${connection.name}:${model}`,
  );
}

function refusal(requested: string, routes: Routes, format: WireFormat = 'openai-chat'): GatewayError {
  try {
    resolveTargets(requested, format, routes);
  } catch (error) {
    return error as GatewayError;
  }
  return assert.fail(`${requested} was not refused`);
}

function routesOf(ordered: Route[], knows: Routes['knows'] = () => false): Routes {
  const ids = ['groq', 'anthropic', 'mistral'];
  const byProvider = new Map(ids.map((id) => [id, ordered.filter(({ provider }) => provider.id === id)]));
  for (const [id, list] of byProvider) if (list.length === 0) byProvider.delete(id);
  return {
    ordered,
    byName: new Map(ordered.map((one) => [one.connection.name, one])),
    byProvider,
    knows,
    isProvider: (id) => ids.includes(id),
  };
}

function route(name: string, providerId: string, patch: Partial<OpenConnection> = {}): Route {
  const provider: Provider = {
    id: providerId,
    name: providerId,
    category: 'api-key',
    website: 'https://example.com',
    baseUrl: 'https://example.com',
    auth: { kind: 'bearer' },
    formats:
      providerId === 'anthropic'
        ? { 'anthropic-messages': '/v1/messages' }
        : { 'openai-chat': '/v1/chat/completions' },
    modelsPath: null,
    forwardHeaders: 'standard',
    keyVariables: [],
    prices: null,
    unpriced: 'unknown',
    suggestedModel: null,
  };
  const connection: OpenConnection = {
    id: `id-${name}`,
    provider: providerId,
    name,
    authType: 'none',
    baseUrl: null,
    defaultModel: null,
    active: true,
    priority: 0,
    models: null,
    modelsAt: null,
    status: 'untested',
    lastError: null,
    lastTestedAt: null,
    createdAt: 0,
    credential: null,
    ...patch,
  };
  return { connection, provider };
}
