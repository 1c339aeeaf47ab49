import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stub } from '../../../test/support/machine/stub.ts';
import { codecOf } from '../../codecs/index.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { readUpstreamError, type UpstreamError } from './error.ts';

const target = stub<Target>({
  connection: { credential: 'AIza-secret' },
  provider: { name: 'Google' },
  model: 'm',
  format: 'gemini',
});

const redact = (text: string) => text.replaceAll('AIza-secret', '[redacted]');

function read(format: WireFormat, status: number, json: unknown, headers = {}): UpstreamError {
  return readUpstreamError({
    format,
    status,
    headers,
    body: Buffer.from(JSON.stringify(json)),
    target,
    redact,
  });
}

describe('the message of a vendor’s error', () => {
  const problem = {
    type: 'extra_forbidden',
    loc: ['body', 'messages', 2, 'reasoning_content'],
    msg: 'Not permitted',
  };
  const place = 'Not permitted (body.messages.2.reasoning_content)';
  const shapes: [string, unknown, string][] = [
    ['FastAPI', { detail: [problem] }, place],
    ['Mistral', { object: 'error', message: { detail: [problem] }, type: 'invalid_request_error' }, place],
    ['several of them', { detail: [problem, { msg: 'Too long' }] }, `${place}; Too long`],
    ['a sentence in an envelope in an envelope', { error: { error: { message: 'No.' } } }, 'No.'],
    ['a bare sentence', { error: 'No.' }, 'No.'],
  ];
  for (const [name, json, sentence] of shapes)
    it(`is a sentence: ${name}`, () => {
      assert.equal(read('openai-chat', 422, json).error.message, sentence);
    });

  const missing: [WireFormat, unknown][] = [
    ['openai-chat', { error: { message: 'The model `x` does not exist', code: 'model_not_found' } }],
    [
      'openai-chat',
      { error: { message: 'The model `x` does not exist.', type: 'NotFoundError', code: 404 } },
    ],
    ['anthropic-messages', { type: 'error', error: { type: 'not_found_error', message: 'model: x' } }],
    ['gemini', { error: { code: 404, message: 'models/x is not found', status: 'NOT_FOUND' } }],
    ['ollama', { error: 'model "x" not found, try pulling it first' }],
  ];
  for (const [format, json] of missing)
    it(`has the code of ${format} for a model that does not exist`, () => {
      const { error } = read(format, 404, json);
      assert.equal(error.status, 404);
      for (const to of ['openai-chat', 'openai-responses', 'openai-completions'] as const)
        assert.equal(Object(codecOf(to).encodeError(error, 'r')['error']).code, 'model_not_found');
      const anthropic = Object(codecOf('anthropic-messages').encodeError(error, 'r')['error']);
      assert.equal(anthropic.type, 'not_found_error');
    });

  it('keeps the vendor’s error type where clients branch on it', () => {
    const { error } = read('openai-chat', 400, { error: { message: 'No.', code: 'invalid_prompt' } });
    assert.equal(Object(codecOf('openai-responses').encodeError(error, 'r')['error']).code, 'invalid_prompt');
    const odd = read('openai-chat', 400, { error: { message: 'No.', code: 'Not a word!' } }).error;
    assert.equal(odd.vendorCode, null);
  });
});

const quota = {
  error: {
    code: 429,
    message: 'You exceeded your current quota.',
    status: 'RESOURCE_EXHAUSTED',
    details: [
      { '@type': 'type.googleapis.com/google.rpc.QuotaFailure', violations: [{ quotaValue: '5' }] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.07s' },
    ],
  },
};
const invalidKey = {
  error: {
    code: 400,
    message: 'API key not valid. Please pass a valid API key.',
    status: 'INVALID_ARGUMENT',
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }],
  },
};

describe('an HTTP error of Google', () => {
  it('keeps its number and its details for clients of the same format', () => {
    const { body, error } = read('gemini', 429, quota);
    assert.deepEqual(JSON.parse(String(body)), quota);
    assert.equal(error.status, 429);
  });

  it('says when to retry, because its servers send no header', () => {
    assert.equal(read('gemini', 429, quota).error.retryAfter, 35);
    assert.equal(read('openai-chat', 429, [quota]).error.retryAfter, 35);
    assert.equal(read('gemini', 429, quota, { 'retry-after': '7' }).error.retryAfter, 7);
    for (const retryDelay of ['0s', '-1s', 'soon', '1e999s', 5, null]) {
      const odd = { error: { ...quota.error, details: [{ ...quota.error.details[1], retryDelay }] } };
      assert.equal(read('gemini', 429, odd).error.retryAfter, null, String(retryDelay));
    }
  });

  it('is 401 for a key that is not valid, which Google answers with 400', () => {
    for (const format of ['gemini', 'openai-chat'] as const) {
      const { error } = read(format, 400, invalidKey);
      assert.equal(error.status, 401);
      assert.equal(error.kind, 'authentication');
    }
    const other = { error: { ...invalidKey.error, details: [] } };
    assert.equal(read('gemini', 400, other).error.status, 400);
  });

  it('is read in a list, as a stream has it, and rendered anew', () => {
    const { body, error } = read('gemini', 429, [quota]);
    assert.equal(body, null);
    assert.equal(error.message, 'You exceeded your current quota.');
  });

  it('is rendered anew when it is not in the shape that Google’s clients read', () => {
    for (const error of [
      { message: 'busy' },
      { code: '429', message: 'busy', status: 'X' },
      { code: 503, message: 'busy' },
    ])
      assert.equal(read('gemini', 503, { error }).body, null);
  });

  it('has details of any shape', () => {
    for (const details of [null, 7, 'x', [null, 7, 'x', [], { reason: [] }, { '@type': 7 }], {}]) {
      const { error } = read('gemini', 400, { error: { ...invalidKey.error, details } });
      assert.deepEqual([error.status, error.retryAfter], [400, null]);
    }
  });
});

describe('a conversation that is too long for its model', () => {
  const cases: [WireFormat, unknown, RegExp][] = [
    [
      'openai-chat',
      {
        error: {
          message:
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens.",
          type: 'invalid_request_error',
          code: 'context_length_exceeded',
        },
      },
      /^prompt is too long: 150000 tokens > 128000 maximum/,
    ],
    [
      'anthropic-messages',
      {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'prompt is too long: 208310 tokens > 200000 maximum',
        },
      },
      /^prompt is too long: 208310 tokens > 200000 maximum$/,
    ],
    [
      'gemini',
      {
        error: {
          code: 400,
          message: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
      /^prompt is too long: 1200000 tokens > 1048576 maximum/,
    ],
    [
      'openai-chat',
      { error: { message: 'the request exceeds the available context size' } },
      /^prompt is too long: the/,
    ],
  ];
  for (const [format, json, sentence] of cases) {
    it(`is recognized from ${format}, and reported to every client in the words that make it compact`, () => {
      const { error } = read(format, 400, json);
      assert.deepEqual([error.code, error.status], ['context_length_exceeded', 400]);
      const errorOf = (to: WireFormat) =>
        codecOf(to).encodeError(error, 'req_1')['error'] as Record<string, unknown>;
      assert.equal(errorOf('openai-responses')['code'], 'context_length_exceeded');
      assert.equal(errorOf('gemini')['status'], 'INVALID_ARGUMENT');
      assert.match(String(errorOf('anthropic-messages')['message']), sentence);
    });
  }

  it('is not confused with other refused requests', () => {
    for (const message of ['max_tokens is too large', 'The model does not support this length of name'])
      assert.equal(read('openai-chat', 400, { error: { message } }).error.code, 'upstream_error');
    const code = read('openai-chat', 500, { error: { message: 'maximum context length' } }).error.code;
    assert.equal(code, 'upstream_error');
  });
});
