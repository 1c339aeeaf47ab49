import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choice, factsOf, frame, record, streamOf } from '../../../test/support/formats/stream-records.ts';
import type { Frame } from '../../lib/streams/sse.ts';
import type { WireFormat } from '../wire-format.ts';

describe('errors inside HTTP 200', () => {
  const errors: [WireFormat, Frame, number, RegExp][] = [
    [
      'openai-chat',
      frame({ error: { message: 'slow down', type: 'requests', code: 'rate_limit_exceeded' } }),
      429,
      /slow down/,
    ],
    ['openai-chat', frame({ error: { message: 'busy', code: 503 } }), 503, /busy/],
    ['openai-chat', frame({ error: { message: 'busy', code: '529' } }), 529, /busy/],
    ['openai-chat', frame({ error: 'it broke' }), 502, /it broke/],
    [
      'openai-chat',
      frame({
        error: { message: 'prompt too long', type: 'invalid_request_error', code: 'context_length_exceeded' },
      }),
      400,
      /too long/,
    ],
    ['openai-chat', frame({ object: 'error', message: 'vllm says no', code: 400 }), 400, /vllm/],
    [
      'openai-chat',
      frame({ id: 'x', error: { code: 502, message: 'Provider lost' }, ...choice({ content: '' }, 'error') }),
      502,
      /Provider lost/,
    ],
    ['openai-chat', frame('plain text', 'error'), 502, /plain text/],
    ['openai-chat', frame({ error: {} }), 502, /without a message/],
    ['openai-completions', frame({ error: { message: 'm', type: 'server_error' } }), 500, /m/],
    [
      'anthropic-messages',
      frame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'error'),
      529,
      /Overloaded/,
    ],
    [
      'anthropic-messages',
      frame({ type: 'error', error: { type: 'rate_limit_error', message: 'm' } }, 'error'),
      429,
      /m/,
    ],
    ['anthropic-messages', frame({ type: 'error', error: { type: 'api_error', message: 'm' } }), 500, /m/],
    [
      'anthropic-messages',
      frame({ type: 'error', error: { type: 'timeout_error', message: 'm' } }),
      504,
      /m/,
    ],
    ['anthropic-messages', frame('not json', 'error'), 502, /not json/],
    [
      'openai-responses',
      frame({
        type: 'response.failed',
        response: { error: { code: 'rate_limit_exceeded', message: 'later' } },
      }),
      429,
      /later/,
    ],
    [
      'openai-responses',
      frame({ type: 'response.failed', response: { error: { code: 'server_error', message: 'm' } } }),
      500,
      /m/,
    ],
    [
      'openai-responses',
      frame({ type: 'response.failed', response: { error: null } }),
      502,
      /without a reason/,
    ],
    [
      'openai-responses',
      frame({ type: 'error', code: 'server_is_overloaded', message: 'busy', param: null }),
      503,
      /busy/,
    ],
    [
      'openai-responses',
      frame({ type: 'error', error: { type: 'invalid_request_error', message: 'bad', code: null } }, 'error'),
      400,
      /bad/,
    ],
  ];
  for (const [format, failing, status, message] of errors) {
    it(`give ${format} ${failing.data.slice(0, 80)} the status ${status}`, () => {
      const stream = streamOf(format);
      assert.equal(stream.classify(failing), 'error');
      const read = stream.readError(failing);
      assert.equal(read.status, status);
      assert.match(read.message, message);
      const facts = factsOf(format, `event: ${failing.event}\n${record(failing.data)}`);
      assert.equal(facts.end, 'error');
      assert.deepEqual(facts.error, read);
    });
  }

  it('have a long message shortened', () => {
    const read = streamOf('openai-chat').readError(frame({ error: { message: 'x'.repeat(100_000) } }));
    assert.ok(read.message.length < 3_000);
  });
});
