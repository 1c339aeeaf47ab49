import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { allProviders, findProvider, ownProviders } from './index.ts';
import type { Provider, ProviderAuth } from './provider.ts';
import { upstreamUrl } from './url.ts';

/** A base URL for those whose connections must name their own. */
const examples: Readonly<Record<string, string>> = {
  'azure-openai': 'https://name.openai.azure.com',
  'azure-openai-deployments': 'https://name.openai.azure.com',
  bedrock: 'https://bedrock-runtime.us-east-1.amazonaws.com',
  'bedrock-openai': 'https://bedrock-runtime.us-east-1.amazonaws.com',
  'sap-ai-core': 'https://api.ai.prod.eu-central-1.aws.ml.hana.ondemand.com',
  vertex: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global',
  'vertex-anthropic': 'https://aiplatform.googleapis.com/v1/projects/p/locations/global',
  'openai-compatible': 'http://host:8000/v1',
  'responses-compatible': 'http://host:8000/v1',
  'completions-compatible': 'http://host:8000/v1',
  'anthropic-compatible': 'http://host:8000/v1',
  'gemini-compatible': 'http://host:8000',
  'ollama-compatible': 'http://host:8000',
};

/** Every address that the gateway ever calls, unless a connection has its own base URL. */
const addresses: Readonly<Record<string, Readonly<Record<string, string | null>>>> = {
  openai: {
    'openai-chat': 'https://api.openai.com/v1/chat/completions',
    'openai-responses': 'https://api.openai.com/v1/responses',
    'openai-completions': 'https://api.openai.com/v1/completions',
    'openai-embeddings': 'https://api.openai.com/v1/embeddings',
    'openai-images': 'https://api.openai.com/v1/images/generations',
    'openai-image-edits': 'https://api.openai.com/v1/images/edits',
    'openai-speech': 'https://api.openai.com/v1/audio/speech',
    'openai-transcriptions': 'https://api.openai.com/v1/audio/transcriptions',
    'openai-translations': 'https://api.openai.com/v1/audio/translations',
    'openai-moderations': 'https://api.openai.com/v1/moderations',
    models: 'https://api.openai.com/v1/models',
  },
  anthropic: {
    'anthropic-messages': 'https://api.anthropic.com/v1/messages',
    models: 'https://api.anthropic.com/v1/models',
  },
  gemini: {
    'openai-chat': 'https://generativelanguage.googleapis.com/v1beta/openai/chat/completions',
    'openai-embeddings': 'https://generativelanguage.googleapis.com/v1beta/openai/embeddings',
    gemini: 'https://generativelanguage.googleapis.com/v1beta/models',
    models: 'https://generativelanguage.googleapis.com/v1beta/openai/models',
  },
  openrouter: {
    'openai-chat': 'https://openrouter.ai/api/v1/chat/completions',
    'openai-responses': 'https://openrouter.ai/api/v1/responses',
    'openai-embeddings': 'https://openrouter.ai/api/v1/embeddings',
    'anthropic-messages': 'https://openrouter.ai/api/v1/messages',
    'openai-transcriptions': 'https://openrouter.ai/api/v1/audio/transcriptions',
    rerank: 'https://openrouter.ai/api/v1/rerank',
    models: 'https://openrouter.ai/api/v1/models/user',
  },
  groq: {
    'openai-chat': 'https://api.groq.com/openai/v1/chat/completions',
    'openai-responses': 'https://api.groq.com/openai/v1/responses',
    'openai-speech': 'https://api.groq.com/openai/v1/audio/speech',
    'openai-transcriptions': 'https://api.groq.com/openai/v1/audio/transcriptions',
    'openai-translations': 'https://api.groq.com/openai/v1/audio/translations',
    models: 'https://api.groq.com/openai/v1/models',
  },
  deepseek: {
    'openai-chat': 'https://api.deepseek.com/chat/completions',
    'openai-completions': 'https://api.deepseek.com/beta/completions',
    'anthropic-messages': 'https://api.deepseek.com/anthropic/v1/messages',
    models: 'https://api.deepseek.com/models',
  },
  mistral: {
    'openai-chat': 'https://api.mistral.ai/v1/chat/completions',
    'openai-embeddings': 'https://api.mistral.ai/v1/embeddings',
    'openai-transcriptions': 'https://api.mistral.ai/v1/audio/transcriptions',
    'openai-moderations': 'https://api.mistral.ai/v1/moderations',
    models: 'https://api.mistral.ai/v1/models',
  },
  xai: {
    'openai-chat': 'https://api.x.ai/v1/chat/completions',
    'openai-responses': 'https://api.x.ai/v1/responses',
    'openai-completions': 'https://api.x.ai/v1/completions',
    'openai-images': 'https://api.x.ai/v1/images/generations',
    models: 'https://api.x.ai/v1/models',
  },
  together: {
    'openai-chat': 'https://api.together.ai/v1/chat/completions',
    'openai-completions': 'https://api.together.ai/v1/completions',
    'openai-embeddings': 'https://api.together.ai/v1/embeddings',
    'openai-images': 'https://api.together.ai/v1/images/generations',
    'openai-speech': 'https://api.together.ai/v1/audio/speech',
    'openai-transcriptions': 'https://api.together.ai/v1/audio/transcriptions',
    'openai-translations': 'https://api.together.ai/v1/audio/translations',
    rerank: 'https://api.together.ai/v1/rerank',
    models: 'https://api.together.ai/v1/models',
  },
  fireworks: {
    'openai-chat': 'https://api.fireworks.ai/inference/v1/chat/completions',
    'openai-responses': 'https://api.fireworks.ai/inference/v1/responses',
    'openai-completions': 'https://api.fireworks.ai/inference/v1/completions',
    'openai-embeddings': 'https://api.fireworks.ai/inference/v1/embeddings',
    'anthropic-messages': 'https://api.fireworks.ai/inference/v1/messages',
    models: 'https://api.fireworks.ai/inference/v1/models',
  },
  cerebras: {
    'openai-chat': 'https://api.cerebras.ai/v1/chat/completions',
    'openai-completions': 'https://api.cerebras.ai/v1/completions',
    models: 'https://api.cerebras.ai/v1/models',
  },
  nvidia: {
    'openai-chat': 'https://integrate.api.nvidia.com/v1/chat/completions',
    'openai-embeddings': 'https://integrate.api.nvidia.com/v1/embeddings',
    models: 'https://integrate.api.nvidia.com/v1/models',
  },
  moonshot: {
    'openai-chat': 'https://api.moonshot.ai/v1/chat/completions',
    'openai-responses': 'https://api.moonshot.ai/v1/responses',
    'anthropic-messages': 'https://api.moonshot.ai/anthropic/v1/messages',
    models: 'https://api.moonshot.ai/v1/models',
  },
  zai: {
    'openai-chat': 'https://api.z.ai/api/paas/v4/chat/completions',
    'anthropic-messages': 'https://api.z.ai/api/anthropic/v1/messages',
    models: null,
  },
  qwen: {
    'openai-chat': 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions',
    'openai-responses': 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/responses',
    'openai-embeddings': 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/embeddings',
    'anthropic-messages': 'https://dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages',
    models: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1/models',
  },
  minimax: {
    'openai-chat': 'https://api.minimax.io/v1/chat/completions',
    'openai-responses': 'https://api.minimax.io/v1/responses',
    'anthropic-messages': 'https://api.minimax.io/anthropic/v1/messages',
    models: 'https://api.minimax.io/v1/models',
  },
  'azure-openai': {
    'openai-chat': 'https://name.openai.azure.com/openai/v1/chat/completions',
    'openai-responses': 'https://name.openai.azure.com/openai/v1/responses',
    'openai-embeddings': 'https://name.openai.azure.com/openai/v1/embeddings',
    'openai-images': 'https://name.openai.azure.com/openai/v1/images/generations',
    'openai-image-edits': 'https://name.openai.azure.com/openai/v1/images/edits',
    'openai-speech': 'https://name.openai.azure.com/openai/v1/audio/speech',
    'openai-transcriptions': 'https://name.openai.azure.com/openai/v1/audio/transcriptions',
    'openai-translations': 'https://name.openai.azure.com/openai/v1/audio/translations',
    models: null,
  },
  // The model comes behind these, where a format has it in the path.
  'azure-openai-deployments': {
    'openai-chat': 'https://name.openai.azure.com/openai/deployments',
    'openai-completions': 'https://name.openai.azure.com/openai/deployments',
    'openai-embeddings': 'https://name.openai.azure.com/openai/deployments',
    models: null,
  },
  bedrock: {
    'anthropic-messages': 'https://bedrock-runtime.us-east-1.amazonaws.com/model',
    models: null,
  },
  'bedrock-openai': {
    'openai-chat': 'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/chat/completions',
    models: null,
  },
  'sap-ai-core': {
    'openai-chat': 'https://api.ai.prod.eu-central-1.aws.ml.hana.ondemand.com/v2/inference/deployments',
    'openai-embeddings': 'https://api.ai.prod.eu-central-1.aws.ml.hana.ondemand.com/v2/inference/deployments',
    models: null,
  },
  vertex: {
    gemini: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/google/models',
    models: null,
  },
  'vertex-anthropic': {
    'anthropic-messages':
      'https://aiplatform.googleapis.com/v1/projects/p/locations/global/publishers/anthropic/models',
    models: null,
  },
  ollama: {
    'openai-chat': 'http://127.0.0.1:11434/v1/chat/completions',
    'openai-responses': 'http://127.0.0.1:11434/v1/responses',
    'openai-completions': 'http://127.0.0.1:11434/v1/completions',
    'openai-embeddings': 'http://127.0.0.1:11434/v1/embeddings',
    'anthropic-messages': 'http://127.0.0.1:11434/v1/messages',
    models: 'http://127.0.0.1:11434/v1/models',
    ollama: 'http://127.0.0.1:11434/api/chat',
  },
  'lm-studio': {
    'openai-chat': 'http://127.0.0.1:1234/v1/chat/completions',
    'openai-responses': 'http://127.0.0.1:1234/v1/responses',
    'openai-completions': 'http://127.0.0.1:1234/v1/completions',
    'openai-embeddings': 'http://127.0.0.1:1234/v1/embeddings',
    'anthropic-messages': 'http://127.0.0.1:1234/v1/messages',
    models: 'http://127.0.0.1:1234/v1/models',
  },
  'llama-cpp': {
    'openai-chat': 'http://127.0.0.1:8080/v1/chat/completions',
    'openai-responses': 'http://127.0.0.1:8080/v1/responses',
    'openai-completions': 'http://127.0.0.1:8080/v1/completions',
    'openai-embeddings': 'http://127.0.0.1:8080/v1/embeddings',
    'anthropic-messages': 'http://127.0.0.1:8080/v1/messages',
    rerank: 'http://127.0.0.1:8080/v1/rerank',
    models: 'http://127.0.0.1:8080/v1/models',
  },
  vllm: {
    'openai-chat': 'http://127.0.0.1:8000/v1/chat/completions',
    'openai-responses': 'http://127.0.0.1:8000/v1/responses',
    'openai-completions': 'http://127.0.0.1:8000/v1/completions',
    'openai-embeddings': 'http://127.0.0.1:8000/v1/embeddings',
    'anthropic-messages': 'http://127.0.0.1:8000/v1/messages',
    'openai-transcriptions': 'http://127.0.0.1:8000/v1/audio/transcriptions',
    'openai-translations': 'http://127.0.0.1:8000/v1/audio/translations',
    rerank: 'http://127.0.0.1:8000/v1/rerank',
    models: 'http://127.0.0.1:8000/v1/models',
  },
  'openai-compatible': {
    'openai-chat': 'http://host:8000/v1/chat/completions',
    'openai-completions': 'http://host:8000/v1/completions',
    'openai-embeddings': 'http://host:8000/v1/embeddings',
    'openai-images': 'http://host:8000/v1/images/generations',
    'openai-image-edits': 'http://host:8000/v1/images/edits',
    'openai-speech': 'http://host:8000/v1/audio/speech',
    'openai-transcriptions': 'http://host:8000/v1/audio/transcriptions',
    'openai-translations': 'http://host:8000/v1/audio/translations',
    'openai-moderations': 'http://host:8000/v1/moderations',
    rerank: 'http://host:8000/v1/rerank',
    models: 'http://host:8000/v1/models',
  },
  'anthropic-compatible': {
    'anthropic-messages': 'http://host:8000/v1/messages',
    models: 'http://host:8000/v1/models',
  },
  'responses-compatible': {
    'openai-responses': 'http://host:8000/v1/responses',
    models: 'http://host:8000/v1/models',
  },
  'completions-compatible': {
    'openai-completions': 'http://host:8000/v1/completions',
    models: 'http://host:8000/v1/models',
  },
  'gemini-compatible': {
    gemini: 'http://host:8000/v1beta/models',
    models: 'http://host:8000/v1beta/models',
  },
  'ollama-compatible': {
    ollama: 'http://host:8000/api/chat',
    models: 'http://host:8000/api/tags',
  },
  acp: { 'openai-chat': 'http://acp.invalid/v1/chat/completions', models: null },
  demo: {
    'openai-chat': 'http://demo.invalid/v1/chat/completions',
    'openai-responses': 'http://demo.invalid/v1/responses',
    'openai-completions': 'http://demo.invalid/v1/completions',
    'openai-embeddings': 'http://demo.invalid/v1/embeddings',
    'anthropic-messages': 'http://demo.invalid/v1/messages',
    models: 'http://demo.invalid/v1/models',
  },
};

function root(provider: Provider): string {
  const base =
    provider.baseUrl ?? examples[provider.id] ?? provider.baseUrlOf?.replace(/\{(\w+)\}/g, 'example');
  assert.ok(base, `${provider.id} needs an example base URL`);
  return base;
}

const providers = allProviders();

test('every provider has an id of its own, by which it is found', () => {
  assert.equal(new Set(providers.map(({ id }) => id)).size, providers.length);
  for (const provider of providers) {
    assert.match(provider.id, /^[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.equal(findProvider(provider.id), provider);
  }
  assert.equal(findProvider('OpenAI'), undefined);
  assert.equal(findProvider('nobody'), undefined);
});

test('the addresses are the ones listed', () => {
  const actual = Object.fromEntries(
    ownProviders.map((provider) => [
      provider.id,
      {
        ...Object.fromEntries(
          Object.entries(provider.formats).map(([format, path]) => [
            format,
            upstreamUrl(root(provider), path),
          ]),
        ),
        models: provider.modelsPath === null ? null : upstreamUrl(root(provider), provider.modelsPath),
      },
    ]),
  );
  assert.deepEqual(actual, addresses);
});

test('base URLs parse and have no trailing slash, paths start with one slash', () => {
  for (const { id, baseUrl, documentation, formats, freeTier, modelsPath, website } of providers) {
    if (baseUrl !== null) assert.ok(URL.canParse(baseUrl) && !baseUrl.endsWith('/'), id);
    for (const link of [website, documentation, freeTier ?? website])
      assert.ok(URL.canParse(link) && link.startsWith('https://'), `${id}: ${link}`);
    const paths = [...Object.values(formats), ...(modelsPath === null ? [] : [modelsPath])];
    assert.ok(paths.length > 0, id);
    for (const path of paths) assert.match(path, /^\/[^/].*[^/]$/, id);
  }
});

test('keys travel to remote providers over TLS only', () => {
  for (const { id, baseUrl, baseUrlOf, category } of providers) {
    if (baseUrlOf !== undefined) assert.ok(baseUrlOf.startsWith('https://'), id);
    if (baseUrl !== null && (category === 'api-key' || category === 'cloud'))
      assert.match(baseUrl, /^(https:\/\/|http:\/\/127\.0\.0\.1:)/, id);
  }
});

test('the base URL of any surface, as the provider documents it, leads to every address', () => {
  for (const provider of providers) {
    const base = root(provider).replace(/\/v1$/, '');
    const paths = Object.values(provider.formats);
    for (const documented of paths) {
      const version = /^.*?\/v\d+[a-z0-9]*(?=\/)/.exec(documented)?.[0];
      if (version === undefined) continue;
      for (const path of paths) {
        assert.equal(upstreamUrl(`${base}${version}/`, path, paths), upstreamUrl(base, path), provider.id);
      }
    }
  }
});

test('what stands in a path instead of the body belongs to a format that the provider speaks', () => {
  for (const { id, formats, modelInPath } of providers)
    for (const [format, rule] of Object.entries(modelInPath ?? {})) {
      assert.ok(format in formats, `${id}: ${format}`);
      for (const end of [rule.whole, rule.stream]) assert.match(end, /^\/\{model\}[:/]\w/, id);
      assert.ok(rule.without.includes('model'), id);
    }
});

test('an address that is made of parameters belongs to a provider without one', () => {
  for (const { id, baseUrl, baseUrlOf } of providers) {
    if (baseUrlOf === undefined) continue;
    assert.equal(baseUrl, null, id);
    assert.match(baseUrlOf, /^https:\/\/[^{]*(\{\w+\}[^{]*)+$/, id);
  }
});

test('header names are lower case and hold no credential', () => {
  for (const { id, headers, auth, formatAuth } of providers) {
    const named = [auth, ...Object.values(formatAuth ?? {})].filter(
      (each): each is ProviderAuth & { kind: 'header' } => each.kind === 'header',
    );
    for (const name of [...Object.keys(headers ?? {}), ...named.map(({ name }) => name)]) {
      assert.match(name, /^[a-z][a-z0-9-]*$/, id);
    }
    for (const name of ['authorization', 'x-api-key', 'api-key'])
      assert.equal(headers?.[name], undefined, id);
  }
});

test('auth of one format belongs to a format that the provider speaks', () => {
  for (const { id, formats, formatAuth } of providers) {
    for (const format of Object.keys(formatAuth ?? {})) assert.ok(format in formats, `${id}: ${format}`);
  }
});

test('only OpenAI and Anthropic get the headers of the client', () => {
  const all = providers.filter(({ forwardHeaders }) => forwardHeaders === 'all').map(({ id }) => id);
  assert.deepEqual(all, ['openai', 'anthropic']);
});

test('Anthropic always gets a version of its API', () => {
  assert.equal(findProvider('anthropic')?.headers?.['anthropic-version'], '2023-06-01');
});

test('key variables are upper case, and no variable belongs to two providers with a file of their own', () => {
  const seen = new Set<string>();
  for (const { id, keyVariables } of ownProviders) {
    for (const variable of keyVariables) {
      assert.match(variable, /^[A-Z][A-Z0-9_]*$/, id);
      assert.ok(!seen.has(variable), variable);
      seen.add(variable);
    }
  }
});

test('local servers listen on loopback at their well-known port, ask for no key and cost nothing', () => {
  for (const { id, category, baseUrl, auth, localPort, unpriced } of providers) {
    assert.equal(localPort !== undefined, category === 'local', id);
    if (category !== 'local') continue;
    assert.equal(baseUrl, `http://127.0.0.1:${localPort}`, id);
    assert.ok(auth.kind === 'none' || auth.optional === true, id);
    assert.equal(unpriced, 'free', id);
  }
});

test('a provider that must be told its base URL is a generic one or a cloud', () => {
  const without = ownProviders.filter(({ baseUrl }) => baseUrl === null).map(({ id }) => id);
  assert.deepEqual(without, Object.keys(examples));
});

test('the documentation names every provider and every key variable', () => {
  const page = readFileSync(new URL('../../docs/providers.md', import.meta.url), 'utf8');
  for (const { id, name, keyVariables, localPort } of providers) {
    for (const name of [id, ...keyVariables])
      assert.ok(page.includes(`\`${name}\``), `docs/providers.md lacks \`${name}\``);
    assert.ok(page.includes(name), `docs/providers.md lacks ${name}`);
    if (localPort !== undefined)
      assert.ok(page.includes(String(localPort)), `docs/providers.md lacks port ${localPort}`);
  }
});
