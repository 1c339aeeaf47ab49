import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, errorRows, GatewayError } from '../../lib/error.ts';
import { splitFrames } from '../../lib/streams/sse.ts';
import type { StreamCodec } from '../codec.ts';
import { codecOf, codecs } from '../index.ts';
import { objectOf } from '../json/values.ts';
import type { WireFormat } from '../wire-format.ts';

const codes = Object.keys(errorRows) as ErrorCode[];
const openAi = (error: GatewayError) => objectOf(codecOf('openai-chat').encodeError(error, 'req_1')['error']);
const anthropic = (error: GatewayError) => codecOf('anthropic-messages').encodeError(error, 'req_1');

describe('encodeError', () => {
  const rows: [GatewayError, string, string, string][] = [
    [
      new GatewayError('invalid_request', 'm', { param: 'n' }),
      'invalid_request_error',
      'invalid_request',
      'invalid_request_error',
    ],
    [
      new GatewayError('invalid_api_key', 'm'),
      'invalid_request_error',
      'invalid_api_key',
      'authentication_error',
    ],
    [
      new GatewayError('upstream_error', 'm', { status: 402 }),
      'insufficient_quota',
      'insufficient_quota',
      'billing_error',
    ],
    [
      new GatewayError('upstream_error', 'm', { status: 403 }),
      'invalid_request_error',
      'permission_denied',
      'permission_error',
    ],
    [
      new GatewayError('model_not_allowed', 'm'),
      'invalid_request_error',
      'model_not_allowed',
      'permission_error',
    ],
    [new GatewayError('model_not_found', 'm'), 'invalid_request_error', 'model_not_found', 'not_found_error'],
    [
      new GatewayError('request_too_large', 'm'),
      'invalid_request_error',
      'request_too_large',
      'request_too_large',
    ],
    [
      new GatewayError('rate_limit_exceeded', 'm'),
      'rate_limit_error',
      'rate_limit_exceeded',
      'rate_limit_error',
    ],
    [new GatewayError('upstream_overloaded', 'm'), 'server_error', 'upstream_overloaded', 'overloaded_error'],
    [new GatewayError('internal_error', 'm'), 'server_error', 'internal_error', 'api_error'],
    [new GatewayError('upstream_timeout', 'm'), 'server_error', 'timeout', 'timeout_error'],
  ];
  for (const [error, type, code, anthropicType] of rows) {
    it(`renders ${error.code} with status ${error.status}`, () => {
      assert.deepEqual(openAi(error), { message: 'm', type, param: error.param, code });
      assert.deepEqual(anthropic(error), {
        type: 'error',
        error: { type: anthropicType, message: 'm' },
        request_id: 'req_1',
      });
    });
  }

  it('never has the code server_is_overloaded, after which Codex gives up', () => {
    for (const code of codes) {
      for (const codec of codecs) {
        const error = new GatewayError(code, 'm');
        assert.doesNotMatch(JSON.stringify(codec.encodeError(error, 'r')), /server_is_overloaded/);
        assert.doesNotMatch(String(codec.stream?.encodeErrorFrame(error, 'r')), /server_is_overloaded/);
      }
    }
  });
});

const splitOf = (stream: StreamCodec, bytes: Buffer) => stream.split(bytes);

describe('encodeErrorFrame', () => {
  it('is one complete record that its own codec classifies as an error, without a regular end', () => {
    for (const { format, stream } of codecs) {
      if (stream === null) continue;
      for (const code of codes) {
        const bytes: Buffer = Buffer.from(
          stream.encodeErrorFrame(new GatewayError(code, 'broke: "x"\nand more'), 'req_1'),
        );
        const { frames, rest } = splitOf(stream, bytes);
        assert.equal(rest.length, 0);
        const [frame, ...more] = frames;
        assert.ok(frame !== undefined && more.length === 0, format);
        assert.equal(stream.classify(frame), 'error');
        // Anthropic's clients know one error by words before it.
        assert.ok(stream.readError(frame).message.endsWith('broke: "x"\nand more'));
        assert.equal(stream.readStream(bytes, bytes).end, 'error');
        assert.equal(stream.assemble(frames), null);
      }
    }
  });

  it('has the event name that each format requires', () => {
    const names: Partial<Record<WireFormat, string>> = {
      'openai-responses': 'response.failed',
      'anthropic-messages': 'error',
    };
    for (const { format, stream } of codecs) {
      if (stream === null) continue;
      const bytes = Buffer.from(stream.encodeErrorFrame(new GatewayError('upstream_cut', 'm'), 'r'));
      assert.equal(stream.split(bytes).frames[0]?.event, names[format] ?? '', format);
    }
  });

  it('has a code after which Codex tries again', () => {
    const codeOf = (error: GatewayError) => {
      const frame = splitFrames(
        Buffer.from(codecOf('openai-responses').stream?.encodeErrorFrame(error, 'req_1') ?? ''),
      ).frames[0];
      const event = objectOf(JSON.parse(frame?.data ?? ''));
      assert.ok(Number.isInteger(event['sequence_number']));
      const response = objectOf(event['response']);
      assert.equal(response['status'], 'failed');
      assert.equal(response['id'], 'resp_req_1');
      assert.deepEqual(response['output'], []);
      return objectOf(response['error'])['code'];
    };
    assert.equal(codeOf(new GatewayError('rate_limit_exceeded', 'm')), 'rate_limit_exceeded');
    assert.equal(codeOf(new GatewayError('upstream_overloaded', 'm')), 'server_error');
    assert.equal(codeOf(new GatewayError('upstream_cut', 'm')), 'server_error');
  });

  it('ends a broken stream so that the clients recover as well as they can', () => {
    const withFrame = (formats: WireFormat[], format: WireFormat) =>
      formats.includes(format) ? 'error-frame' : 'reset';
    for (const { format, stream } of codecs) {
      if (stream === null) continue;
      const cut = withFrame(['openai-responses', 'anthropic-messages'], format);
      const reported = withFrame(['openai-responses', 'anthropic-messages', 'gemini', 'ollama'], format);
      assert.deepEqual(stream.endings, { cut, reported }, format);
    }
  });
});

describe('keepAlive', () => {
  it('is a ping event for messages, nothing for Gemini CLI and NDJSON, and a comment for the others', () => {
    for (const { format, stream } of codecs) {
      if (stream === null) continue;
      if (format === 'gemini' || format === 'ollama') {
        assert.equal(stream.keepAlive, null);
        continue;
      }
      assert.ok(stream.keepAlive !== null);
      assert.ok(stream.keepAlive.toString().endsWith('\n\n'));
      const { frames, rest } = splitFrames(Buffer.from(stream.keepAlive));
      assert.equal(rest.length, 0);
      assert.deepEqual(
        frames,
        format === 'anthropic-messages' ? [{ event: 'ping', data: '{"type": "ping"}' }] : [],
      );
    }
  });
});
