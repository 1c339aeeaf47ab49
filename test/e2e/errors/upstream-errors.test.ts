import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { Reply } from '../../support/clients/client.ts';
import { chat, type Format, formats, messages, responses } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { body, json, type Step } from '../../support/upstream/steps.ts';

/** The error of a body in the format's own dialect. Fails when the body is in another. */
function errorIn(format: Format, reply: Reply): Record<string, unknown> {
  assert.match(reply.header('content-type') ?? '', /^application\/json/);
  const whole = reply.json();
  const error = whole['error'] as Record<string, unknown>;
  assert.equal(typeof error['message'], 'string', reply.text);
  assert.equal(typeof error['type'], 'string', reply.text);
  if (format.name === 'messages') {
    assert.equal(whole['type'], 'error');
    // An upstream's own error keeps its own id, or none.
    if (whole['request_id'] !== undefined) assert.equal(whole['request_id'], reply.header('x-request-id'));
    return error;
  }
  assert.deepEqual(Object.keys(whole), ['error']);
  assert.ok(error['code'] === null || typeof error['code'] === 'string', `code: ${error['code']}`);
  return error;
}

/** Bodies that are no error of any dialect, and what the client must at least be told. */
const oddities: readonly { what: string; answer: (status: number) => Step; says: RegExp }[] = [
  {
    what: 'an HTML page',
    answer: (status) =>
      body(status, '<html><body><h1>Bad gateway</h1></body></html>', { 'content-type': 'text/html' }),
    says: /answered \d+ with an HTML page/,
  },
  { what: 'an empty body', answer: (status) => body(status, ''), says: /answered \d+ with an empty body/ },
  {
    what: 'plain text',
    answer: (status) => body(status, 'upstream connect error', { 'content-type': 'text/plain' }),
    says: /a body that is not JSON/,
  },
  {
    what: '{"detail"}',
    answer: (status) => json(status, { detail: 'Not enough memory' }),
    says: /^Not enough memory$/,
  },
  {
    what: '{"detail"} of a validator',
    answer: (status) =>
      json(status, { detail: [{ loc: ['body', 'x'], msg: 'field required', type: 'missing' }] }),
    says: /^field required \(body\.x\)$/,
  },
  {
    what: '{"error"} as a string',
    answer: (status) => json(status, { error: 'model is loading' }),
    says: /^model is loading$/,
  },
  {
    what: '{"message"}',
    answer: (status) => json(status, { message: 'no such region' }),
    says: /^no such region$/,
  },
  {
    what: 'an error inside a JSON string',
    answer: (status) =>
      json(status, { error: JSON.stringify({ error: { message: 'inner words', code: 7 } }) }),
    says: /inner words/,
  },
  {
    what: 'a list of errors',
    answer: (status) => json(status, [{ error: { code: status, message: 'listed words' } }]),
    says: /^listed words$/,
  },
  { what: 'a bare string', answer: (status) => json(status, '"just words"'), says: /^just words$/ },
  { what: 'null', answer: (status) => json(status, 'null'), says: /answered \d+/ },
  {
    what: 'JSON that breaks off',
    answer: (status) => json(status, '{"error":{"message":"ha'),
    says: /answered \d+/,
  },
  {
    what: 'an empty message',
    answer: (status) => json(status, { type: 'error', error: { type: 'x', message: '' } }),
    says: /JSON that gives no reason/,
  },
  { what: 'an empty string', answer: (status) => json(status, '""'), says: /JSON that gives no reason/ },
  { what: 'an error without words', answer: (status) => json(status, { error: {} }), says: /answered \d+/ },
];

describe('an upstream that fails', () => {
  const at = setting();

  for (const format of formats) {
    for (const { what, answer, says } of oddities) {
      it(`with ${what} is reported in the dialect of ${format.name}, with its status`, async () => {
        at.upstream.script([answer(500)], [answer(404)]);
        for (const status of [500, 404]) {
          const reply = await at.gateway.ask(format.path, format.request());
          assert.equal(reply.status, status, reply.text);
          assert.match(String(errorIn(format, reply)['message']), says);
          if (format === messages) assert.ok('request_id' in reply.json());
        }
      });
    }

    for (const status of [400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 529]) {
      it(`with a proper ${status} passes to a client of ${format.name} as it is, streamed or not`, async () => {
        const sent = JSON.stringify(format.error(`it says ${status}`, 'some_error'), null, 1);
        at.upstream.always(json(status, sent, { 'x-vendor': 'kept' }));
        for (const stream of [false, true]) {
          const reply = await at.gateway.ask(format.path, format.request({ stream }));
          assert.equal(reply.status, status);
          assert.equal(reply.text, sent);
          assert.equal(reply.header('x-vendor'), 'kept');
          assert.match(reply.header('x-request-id') ?? '', /^req_/);
        }
        assert.equal(at.upstream.requests.length, 2, 'an answer is no reason to ask again');
      });
    }

    it(`with a redirect is refused and not followed for ${format.name}`, async () => {
      for (const status of [301, 302, 303, 307, 308]) {
        const location = `${at.upstream.url}/elsewhere?token=upstream-secret`;
        at.upstream.always(body(status, 'moved', { location }));
        const reply = await at.gateway.ask(format.path, format.request());
        assert.equal(reply.status, 502);
        assert.match(String(errorIn(format, reply)['message']), /redirect \(\d+\).*base URL/);
        assert.equal(reply.header('location'), undefined);
        assert.doesNotMatch(reply.text, /upstream-secret/);
        assert.equal(at.upstream.requests.length, 1);
      }
    });

    it(`with 429 always says to a client of ${format.name} how long to wait`, async () => {
      const error = format.error('slow down', 'rate_limit_error');
      at.upstream.script(
        [json(429, error, { 'retry-after': '17' })],
        [json(429, error)],
        [json(429, error, { 'retry-after-ms': '2100' })],
        [body(429, '<html>', { 'content-type': 'text/html', 'retry-after': '9' })],
        [body(429, '')],
      );
      const waits: (string | undefined)[] = [];
      for (let count = 0; count < 5; count += 1) {
        await at.gateway.forgive();
        const reply = await at.gateway.ask(format.path, format.request());
        assert.equal(reply.status, 429, reply.text);
        errorIn(format, reply);
        waits.push(reply.header('retry-after'));
      }
      assert.deepEqual(waits, ['17', '5', '3', '9', '5']);
    });

    it(`with 401 tells a client of ${format.name} not to retry, without a WWW-Authenticate challenge`, async () => {
      at.upstream.script([
        json(401, format.error('bad key', 'authentication_error'), { 'www-authenticate': 'Bearer' }),
      ]);
      const reply = await at.gateway.ask(format.path, format.request());
      assert.equal(reply.status, 401);
      assert.equal(reply.header('x-should-retry'), 'false');
      assert.equal(reply.header('www-authenticate'), undefined);
    });

    it(`with its credential in the message never shows it to a client of ${format.name}`, async () => {
      at.upstream.script(
        [json(401, format.error('Incorrect API key provided: upstream-secret', 'authentication_error'))],
        [json(401, { detail: 'key upstream-secret is unknown' })],
        [body(500, 'upstream-secret', { 'content-type': 'text/plain' })],
      );
      for (const status of [401, 401, 500]) {
        const reply = await at.gateway.ask(format.path, format.request());
        assert.equal(reply.status, status);
        assert.doesNotMatch(reply.text, /upstream-secret/);
        const row = await at.gateway.entry(reply.header('x-request-id'));
        assert.doesNotMatch(JSON.stringify(row), /upstream-secret/);
      }
    });

    it(`with 200 and no answer is a 502 for a client of ${format.name}`, async () => {
      const page = body(200, '<html><body>Welcome</body></html>', { 'content-type': 'text/html' });
      at.upstream.script([page], [page], [body(200, '')], [body(200, '')]);
      for (const stream of [false, true, false, true]) {
        const reply = await at.gateway.ask(format.path, format.request({ stream }));
        assert.equal(reply.status, 502, reply.text);
        assert.match(String(errorIn(format, reply)['message']), /HTML|html|empty/);
      }
    });

    it(`is recorded with its status for ${format.name}`, async () => {
      at.upstream.script([json(529, format.error('too many here', 'overloaded_error'))]);
      const reply = await at.gateway.ask(format.path, format.request());
      const row = await at.gateway.entry(reply.header('x-request-id'));
      assert.equal(row.status, 529);
      assert.equal(row.outcome, 'failed');
      assert.deepEqual(row.error, { code: 'upstream_error', message: 'too many here' });
      assert.equal(row.cost_usd, null);
    });
  }

  for (const format of [chat, responses]) {
    it(`with a numeric code has it as a string in ${format.name}, everything else kept`, async () => {
      at.upstream.script([
        json(402, { error: { message: 'no credits', code: 402, metadata: { raw: 'x' } }, user_id: 'u' }),
      ]);
      const reply = await at.gateway.ask(format.path, format.request());
      assert.equal(reply.status, 402);
      const { error, user_id } = reply.json() as { error: Record<string, unknown>; user_id: string };
      assert.deepEqual(error, { message: 'no credits', code: '402', metadata: { raw: 'x' } });
      assert.equal(user_id, 'u');
    });
  }

  it('with an OpenAI error on the Anthropic path is reported in the dialect of messages', async () => {
    at.upstream.script([json(429, chat.error('wrong tongue', 'rate_limit_exceeded'))]);
    const reply = await at.gateway.ask(messages.path, messages.request());
    assert.equal(reply.status, 429);
    assert.deepEqual(errorIn(messages, reply), { type: 'rate_limit_error', message: 'wrong tongue' });
  });

  it('with an Anthropic error that names no type gets one', async () => {
    at.upstream.script([json(529, { type: 'error', error: { message: 'full' } })]);
    const reply = await at.gateway.ask(messages.path, messages.request());
    assert.equal(reply.status, 529);
    assert.deepEqual(errorIn(messages, reply), { type: 'overloaded_error', message: 'full' });
  });
});

const classes = [
  [400, 'BadRequestError'],
  [401, 'AuthenticationError'],
  [403, 'PermissionDeniedError'],
  [404, 'NotFoundError'],
  [409, 'ConflictError'],
  [422, 'UnprocessableEntityError'],
  [429, 'RateLimitError'],
  [500, 'InternalServerError'],
  [503, 'InternalServerError'],
  [529, 'InternalServerError'],
] as const;

describe("the vendors' SDKs behind the gateway", () => {
  const at = setting();
  const openai = () => new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
  const anthropic = () => new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
  const calls: Record<Format['name'], (stream: boolean) => Promise<unknown>> = {
    chat: (stream) =>
      openai().chat.completions.create({
        model: chat.model,
        messages: [{ role: 'user', content: 'hi' }],
        stream,
      }),
    responses: (stream) => openai().responses.create({ model: responses.model, input: 'hi', stream }),
    messages: (stream) =>
      anthropic().messages.create({
        model: messages.model,
        max_tokens: 10,
        messages: [{ role: 'user', content: 'hi' }],
        stream,
      }),
  };

  for (const format of formats) {
    const sdk = format.name === 'messages' ? Anthropic : OpenAI;
    for (const [status, name] of classes) {
      it(`throw ${name} for an upstream's ${status} to ${format.name}, whatever its body`, async () => {
        const proper = json(status, format.error('proper words', 'some_error'));
        const page = body(status, '<html></html>', { 'content-type': 'text/html' });
        for (const [answer, says] of [
          [proper, /proper words/],
          [page, /an HTML page/],
        ] as const) {
          at.upstream.always(answer);
          for (const stream of [false, true]) {
            const error: unknown = await calls[format.name](stream).then(
              () => null,
              (thrown) => thrown,
            );
            assert.ok(error instanceof sdk[name], `${error}`);
            assert.equal(error.status, status);
            assert.match(error.message, says);
          }
        }
      });
    }
  }

  it('find the type and the request id where they look for them', async () => {
    at.upstream.script([json(429, { detail: 'slow' })]);
    const error: unknown = await calls.messages(false).then(
      () => null,
      (thrown) => thrown,
    );
    assert.ok(error instanceof Anthropic.RateLimitError);
    assert.equal(error.type, 'rate_limit_error');
    const { request_id } = error.error as { request_id: string };
    assert.match(request_id, /^req_/);
    at.upstream.script([json(429, { detail: 'slow' })]);
    const other: unknown = await calls.chat(false).then(
      () => null,
      (thrown) => thrown,
    );
    assert.ok(other instanceof OpenAI.RateLimitError);
    assert.equal(other.code, 'rate_limit_exceeded');
    assert.match(other.requestID ?? '', /^req_/);
  });
});
