import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { formats } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json, stream } from '../../support/upstream/steps.ts';

const at = setting();

/** What vendors send with HTTP 200, by the connection that sends it. */
const errors: Readonly<Record<string, readonly object[]>> = {
  up: [
    { error: { message: 'Slow down', code: 429 } },
    { error: { message: 'Slow down', type: 'rate_limit_error', param: null, code: null } },
  ],
  resp: [{ error: { message: 'Slow down', code: 'rate_limit_exceeded' } }],
  anth: [{ type: 'error', error: { type: 'rate_limit_error', message: 'Slow down' } }],
  google: [{ error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'Slow down' } }],
};

describe('an error that an upstream of another format sends with HTTP 200', () => {
  before(() =>
    at.gateway.connect({ provider: 'gemini-compatible', name: 'google', baseUrl: at.upstream.url }),
  );

  for (const format of formats)
    for (const [connection, bodies] of Object.entries(errors)) {
      if (format.model.startsWith(`${connection}/`)) continue;
      it(`has the matching status, from ${connection} for a client of ${format.name}`, async () => {
        for (const [index, body] of bodies.entries())
          for (const streamed of [false, true])
            for (const answer of [json(200, body), stream(`data: ${JSON.stringify(body)}\n\n`)]) {
              at.upstream.script([answer]);
              const model = `${connection}/m-${format.name}-${index}`;
              const reply = await at.gateway.ask(format.path, format.request({ model, stream: streamed }));
              assert.equal(reply.status, 429, reply.text);
              assert.match(reply.text, /Slow down/);
              assert.ok(reply.header('retry-after') !== undefined);
            }
      });
    }

  it('makes the gateway retry without a refused field', async () => {
    const message = 'Unsupported parameter: temperature is not supported with this model';
    const error = { message, type: 'invalid_request_error', param: 'temperature', code: 400 };
    at.upstream.script([json(200, { error })], [json(200, formats[0]?.answer() ?? {})]);
    const reply = await at.gateway.ask('/v1/messages', {
      model: 'up/m-tuned',
      max_tokens: 100,
      temperature: 0.5,
      messages: [{ role: 'user', content: 'hi' }],
    });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-dropped'), 'temperature');
  });
});
