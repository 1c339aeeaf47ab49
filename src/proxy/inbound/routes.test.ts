import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialectOf, matchPath, safePath } from './routes.ts';

const key = 'sk-0123456789abcdefghijABCDEFGHIJ01';

test('every way in which tools write the chat path is understood', () => {
  for (const path of [
    '/v1/chat/completions',
    '/chat/completions',
    '/v1/v1/chat/completions',
    '/v1/chat/completions/',
    '//v1//chat/completions',
  ]) {
    assert.deepEqual(
      matchPath(path)?.surface,
      { kind: 'relay', method: 'POST', format: 'openai-chat' },
      path,
    );
    assert.equal(matchPath(path)?.pathKey, null);
  }
});

test('pictures, sound, moderations and reranking stand where OpenAI and Cohere have them, in the same spellings', () => {
  const formats = {
    '/images/generations': 'openai-images',
    '/images/edits': 'openai-image-edits',
    '/audio/speech': 'openai-speech',
    '/audio/transcriptions': 'openai-transcriptions',
    '/audio/translations': 'openai-translations',
    '/moderations': 'openai-moderations',
    '/rerank': 'rerank',
  };
  for (const [path, format] of Object.entries(formats)) {
    for (const spelling of [
      `/v1${path}`,
      path,
      `/v1/v1${path}`,
      `/v1${path}/`,
      `/api/v1/editor/${key}${path}`,
    ])
      assert.deepEqual(matchPath(spelling)?.surface, { kind: 'relay', method: 'POST', format }, spelling);
    assert.equal(dialectOf(`/v1${path}`), format);
  }
});

test('the editor alias carries its key in the path, under both names and with or without /v1', () => {
  for (const path of [
    `/api/v1/editor/${key}/chat/completions`,
    `/api/v1/vscode/${key}/chat/completions`,
    `/api/v1/editor/${key}/v1/chat/completions`,
  ]) {
    const match = matchPath(path);
    assert.equal(match?.pathKey, key, path);
    assert.equal(match?.surface.kind, 'relay', path);
  }
  assert.equal(matchPath(`/api/v1/other/${key}/models`), null);
});

test('a model id may contain slashes, raw or encoded', () => {
  for (const path of ['/v1/models/openai/gpt-5', '/v1/models/openai%2Fgpt-5']) {
    assert.deepEqual(matchPath(path)?.surface, { kind: 'model', method: 'GET', id: 'openai/gpt-5' });
  }
});

test('other paths are not model paths', () => {
  for (const path of ['/', '/v1', '/v2/chat/completions', '/v1/chat', '/healthz', '/v1/chat/completions/x']) {
    assert.equal(matchPath(path), null, path);
  }
});

test('the key of an alias path never reaches a log', () => {
  for (const path of [
    `/api/v1/editor/${key}/models`,
    `/api/v1/vscode/${key}`,
    `/api//v1//editor//${key}/x`,
  ]) {
    assert.ok(!safePath(path).includes(key), path);
  }
  for (const path of [`/api/v1/editor%2F${key}/x`, `/editor/${key}/models`, `/v1/${key}`]) {
    assert.ok(!safePath(path).includes(key), path);
  }
  assert.equal(safePath('/v1/models'), '/v1/models');
  assert.equal(safePath('/v1/task-sk-1'), '/v1/task-sk-1');
});

test('errors are written in the dialect that the path suggests', () => {
  assert.equal(dialectOf('/v1/messages'), 'anthropic-messages');
  assert.equal(dialectOf('/v1/messages/count_tokens'), 'anthropic-messages');
  assert.equal(dialectOf('/v1/responses'), 'openai-responses');
  assert.equal(dialectOf('/nowhere'), 'openai-chat');
  assert.equal(dialectOf('/nowhere', { 'anthropic-version': '2023-06-01' }), 'anthropic-messages');
  assert.equal(dialectOf('/v1/responses', { 'anthropic-version': '2023-06-01' }), 'openai-responses');
});

test('Google’s paths name the model, with or without a version and `models/`, and with slashes in the name', () => {
  for (const path of [
    '/v1beta/models/openai/gpt-5.4:streamGenerateContent',
    '/v1beta/models/openai%2Fgpt-5.4:streamGenerateContent',
    '/v1beta/openai/gpt-5.4:streamGenerateContent',
    '/v1/v1beta/models/openai/gpt-5.4:streamGenerateContent',
    '/models/openai/gpt-5.4:streamGenerateContent',
  ]) {
    assert.deepEqual(
      matchPath(path)?.surface,
      {
        kind: 'relay',
        method: 'POST',
        format: 'gemini',
        named: { model: 'openai/gpt-5.4', stream: true },
      },
      path,
    );
    assert.equal(dialectOf(path), 'gemini');
  }
  assert.deepEqual(matchPath('/v1beta/models')?.surface, { kind: 'gemini-models', method: 'GET' });
  assert.equal(dialectOf('/v1beta/nothing'), 'gemini');
});

test('Ollama’s surface stands at the root and under the editor alias', () => {
  assert.deepEqual(matchPath(`/api/v1/editor/${key}/api/chat`)?.surface, {
    kind: 'relay',
    method: 'POST',
    format: 'ollama',
  });
  assert.equal(matchPath(`/api/v1/editor/${key}/api/tags`)?.pathKey, key);
  assert.equal(matchPath('/api/chat')?.surface.kind, 'relay');
  assert.equal(matchPath('/api/chat')?.pathKey, null);
  for (const path of ['/api/version', '/api/tags', '/api/show'])
    assert.equal(dialectOf(path), 'ollama', path);
  for (const path of ['/api', '/api/keys', '/api/models', '/api/chat/x', '/api/v1/chat', '/api/generate'])
    assert.equal(matchPath(path), null, path);
  assert.equal(dialectOf(`/api/v1/editor/${key}/api/nothing`), 'ollama');
});

test('models are listed in Google’s shape for its SDK, which asks below /v1 too', () => {
  const key = { 'x-goog-api-key': 'sk-1' };
  assert.equal(dialectOf('/v1/models', key), 'gemini');
  assert.equal(dialectOf('/v1/models/m', key), 'gemini');
  assert.equal(dialectOf('/v1/models', {}), 'openai-chat');
  assert.equal(dialectOf('/v1/chat/completions', key), 'openai-chat');
  assert.equal(dialectOf('/v1/models', { ...key, 'anthropic-version': '2023-06-01' }), 'anthropic-messages');
});
