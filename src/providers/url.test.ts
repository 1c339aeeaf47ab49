import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GatewayError } from '../lib/error.ts';
import { upstreamUrl } from './url.ts';

const chat = '/v1/chat/completions';

test('a base URL works as people type it: root, version, trailing slashes, a path of its own', () => {
  for (const [base, expected] of [
    ['http://host:8000', 'http://host:8000/v1/chat/completions'],
    ['http://host:8000/', 'http://host:8000/v1/chat/completions'],
    ['http://host:8000/v1', 'http://host:8000/v1/chat/completions'],
    ['http://host:8000/v1/', 'http://host:8000/v1/chat/completions'],
    ['http://host:8000/v1///', 'http://host:8000/v1/chat/completions'],
    [' http://host:8000/v1 ', 'http://host:8000/v1/chat/completions'],
    ['HTTPS://Host/v1', 'https://host/v1/chat/completions'],
    ['https://host/proxy', 'https://host/proxy/v1/chat/completions'],
    ['https://host/proxy/v1', 'https://host/proxy/v1/chat/completions'],
    ['https://host/api/paas/v4', 'https://host/api/paas/v4/chat/completions'],
    ['https://host/v1beta', 'https://host/v1beta/chat/completions'],
    ['https://host/v1/chat/completions', 'https://host/v1/chat/completions'],
    ['https://host/vision', 'https://host/vision/v1/chat/completions'],
    ['http://[::1]:8000/v1', 'http://[::1]:8000/v1/chat/completions'],
    ['https://host/a%20b', 'https://host/a%20b/v1/chat/completions'],
  ]) {
    assert.equal(upstreamUrl(base ?? '', chat), expected, base);
  }
});

test('segments that the base already has are not repeated', () => {
  const gemini = '/v1beta/openai/chat/completions';
  for (const base of [
    'https://g/',
    'https://g/v1beta',
    'https://g/v1beta/openai',
    'https://g/v1beta/openai/',
  ]) {
    assert.equal(upstreamUrl(base, gemini), 'https://g/v1beta/openai/chat/completions', base);
  }
  for (const base of ['https://x.openai.azure.com', 'https://x.openai.azure.com/openai/v1/']) {
    assert.equal(
      upstreamUrl(base, '/openai/v1/responses'),
      'https://x.openai.azure.com/openai/v1/responses',
      base,
    );
  }
  assert.equal(
    upstreamUrl('https://d/anthropic', '/anthropic/v1/messages'),
    'https://d/anthropic/v1/messages',
  );
});

test('a base with another version than the path keeps its own', () => {
  assert.equal(
    upstreamUrl('https://api.z.ai/api/coding/paas/v4', '/paas/v4/chat/completions'),
    'https://api.z.ai/api/coding/paas/v4/chat/completions',
  );
  assert.equal(upstreamUrl('https://host/v2', '/v1/messages'), 'https://host/v2/messages');
  assert.equal(upstreamUrl('https://host/v1', '/models'), 'https://host/v1/models');
});

test('the base of one surface of a provider serves its other surfaces', () => {
  for (const base of [
    'https://api.deepseek.com',
    'https://api.deepseek.com/v1',
    'https://api.deepseek.com/anthropic',
  ]) {
    const paths = ['/chat/completions', '/anthropic/v1/messages'];
    assert.equal(
      upstreamUrl(base, '/anthropic/v1/messages', paths),
      'https://api.deepseek.com/anthropic/v1/messages',
    );
  }
  const qwen = ['/compatible-mode/v1/chat/completions', '/apps/anthropic/v1/messages'];
  for (const path of qwen) {
    for (const base of ['', '/compatible-mode', '/compatible-mode/v1/', '/apps/anthropic']) {
      assert.equal(
        upstreamUrl(`https://w.maas.aliyuncs.com${base}`, path, qwen),
        `https://w.maas.aliyuncs.com${path}`,
      );
    }
  }
  assert.equal(
    upstreamUrl('https://api.z.ai/api/paas/v4', '/anthropic/v1/messages', ['/paas/v4/chat/completions']),
    'https://api.z.ai/api/anthropic/v1/messages',
  );
});

test('a query on the base stays at the end', () => {
  assert.equal(
    upstreamUrl('https://x.openai.azure.com/openai/v1/?api-version=preview', '/openai/v1/models'),
    'https://x.openai.azure.com/openai/v1/models?api-version=preview',
  );
});

test('what is no usable base URL is refused with the field, the reason and never the value', () => {
  for (const [base, reason] of [
    ['', /not a URL|is not/],
    ['localhost', /is not a URL/],
    ['localhost:8000', /must start with http/],
    ['ftp://host/secret', /must start with http/],
    ['file:///etc/secret', /must start with http/],
    ['https://user:secret@host', /user name or password/],
    ['https://secret@host', /user name or password/],
    ['https://host/#secret', /fragment/],
    ['https://host/#', /fragment/],
    ['http://', /is not a URL/],
  ] as const) {
    assert.throws(
      () => upstreamUrl(base, chat),
      (error) => {
        assert.ok(error instanceof GatewayError);
        assert.equal(error.code, 'invalid_request');
        assert.equal(error.param, 'base_url');
        assert.match(error.message, /^base_url /);
        assert.match(error.message, reason);
        assert.ok(!error.message.includes('secret'), error.message);
        return true;
      },
      base,
    );
  }
});
