import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { readMessage } from './message.ts';

const transport = ['type', 'stream_id', 'generate', 'stream'];

/** Any object, its members of the transport as a message may have them. */
const message = fc
  .record(
    {
      stream_id: fc.stringMatching(/^[A-Za-z0-9._-]{1,8}$/),
      generate: fc.boolean(),
      stream: fc.boolean(),
      model: fc.string(),
      input: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  .chain((fields) =>
    fc
      .dictionary(fc.string(), fc.jsonValue())
      .map((other) => ({ ...other, ...fields, type: 'response.create' }) as Record<string, unknown>),
  );

describe('a message', () => {
  it('becomes the request that it carries, however it is written', () => {
    fc.assert(
      fc.property(message, fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const message = readMessage(Buffer.from(JSON.stringify(value, null, indent)));
        const entries = Object.entries(value).filter(([name]) => !transport.includes(name));
        const expected = JSON.parse(JSON.stringify(Object.fromEntries([['stream', true], ...entries])));
        assert.deepEqual(JSON.parse(message?.body.toString() ?? ''), expected);
        assert.equal(message?.streamId, value['stream_id'] ?? null);
        assert.equal(message?.warmUp, value['generate'] === false);
      }),
    );
  });

  it('that is damaged is refused, and nothing else happens', () => {
    fc.assert(
      fc.property(message, fc.nat(), fc.uint8Array({ maxLength: 4 }), (value, at, bytes) => {
        const text = Buffer.from(JSON.stringify(value));
        const position = at % (text.length + 1);
        const damaged = Buffer.concat([text.subarray(0, position), bytes, text.subarray(position + 1)]);
        try {
          const message = readMessage(damaged);
          if (message !== null) JSON.parse(message.body.toString());
        } catch (error) {
          assert.ok(error instanceof GatewayError, String(error));
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('keeps duplicate fields, which are checked later', () => {
    const message = readMessage(Buffer.from('{"type":"response.create","model":"a","model":"b"}'));
    assert.equal(message?.body.toString(), '{"stream":true,"model":"a","model":"b"}');
  });

  it('without a request is ignored', () => {
    assert.equal(readMessage(Buffer.from('{"type":"response.processed","response_id":"resp_1"}')), null);
  });
});
