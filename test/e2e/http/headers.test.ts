import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openClient, type Reply } from '../../support/clients/client.ts';
import { chat, type Format, formats, messages, responses } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

type Pairs = readonly (readonly [string, string])[];

/** Fails unless the body is an error of the format's own dialect; returns it. */
function errorOf(format: Format, reply: Reply): Record<string, unknown> {
  const whole = reply.json();
  assert.equal(whole['type'], format === messages ? 'error' : undefined, reply.text);
  const error = whole['error'] as Record<string, unknown>;
  assert.equal(typeof error['message'], 'string', reply.text);
  assert.match(reply.header('x-request-id') ?? '', /^req_/);
  return error;
}

describe("a client's headers", () => {
  const at = setting({ config: { limits: { header_bytes: 16_384 } } });
  const send = (format: Format, headers: Pairs, more?: object) => {
    at.upstream.always(json(200, format.answer()));
    const pairs: Pairs = [['content-type', 'application/json'], ...headers];
    return at.gateway.send({ path: format.path, headers: pairs, body: JSON.stringify(format.request(more)) });
  };
  const bearer = (key = at.gateway.key) => ['authorization', `Bearer ${key}`] as const;

  for (const format of formats) {
    describe(`on ${format.name}`, () => {
      const places = ['x-api-key', 'api-key', 'x-goog-api-key'];

      it('carry a key in any of the places that tools use', async () => {
        for (const name of [...places, 'X-Api-Key', 'API-KEY']) {
          assert.equal((await send(format, [[name, at.gateway.key]])).status, 200, name);
        }
        for (const value of [`bearer ${at.gateway.key}`, `BEARER   ${at.gateway.key}  `]) {
          assert.equal((await send(format, [['authorization', value]])).status, 200, value);
        }
      });

      it('may carry a foreign credential beside the right one, whichever stands where', async () => {
        for (const name of places) {
          assert.equal((await send(format, [bearer('sk-foreign'), [name, at.gateway.key]])).status, 200);
          assert.equal((await send(format, [[name, 'sk-foreign'], bearer()])).status, 200);
        }
        const basic = await send(format, [
          ['authorization', 'Basic Zm9vOmJhcg=='],
          ['x-api-key', at.gateway.key],
        ]);
        assert.equal(basic.status, 200);
      });

      it('with two Authorization fields count by the first', async () => {
        assert.equal((await send(format, [bearer(), bearer('sk-foreign')])).status, 200);
        const reply = await send(format, [bearer('sk-foreign'), bearer()]);
        assert.equal(reply.status, 401);
        assert.equal(at.upstream.requests.length, 0);
      });

      it('never take a credential along to the upstream', async () => {
        const secrets: Pairs = [
          bearer(),
          bearer('sk-second-authorization'),
          ['x-api-key', 'sk-foreign-1'],
          ['X-API-Key', 'sk-foreign-2'],
          ['api-key', 'sk-foreign-3'],
          ['x-goog-api-key', 'sk-foreign-4'],
          ['proxy-authorization', 'Basic sk-foreign-5'],
          ['cookie', 'session=sk-foreign-6'],
          ['referer', `http://gateway.test/api/v1/editor/${at.gateway.key}/chat`],
          ['origin', 'http://sk-foreign-7.test'],
          ['x-gateway-anything', 'sk-foreign-8'],
          ['forwarded', 'for=sk-foreign-9'],
          ['x-forwarded-for', '10.1.2.3'],
        ];
        assert.equal((await send(format, secrets)).status, 200);
        const seen = await at.upstream.request();
        const head = seen.rawHead.toString('latin1');
        assert.doesNotMatch(head, /sk-|10\.1\.2\.3/);
        assert.ok(!head.includes(at.gateway.key));
        const credentials = seen.headers.filter(([name]) =>
          /^(authorization|x-api-key|api-key)$/i.test(name),
        );
        const own =
          format === messages
            ? ['x-api-key', 'upstream-secret']
            : ['authorization', 'Bearer upstream-secret'];
        assert.deepEqual(credentials, [own]);
      });

      it('without a key, or with a wrong one, are a 401 that is not to be tried again', async () => {
        const wrong: readonly Pairs[] = [
          [],
          [['authorization', '']],
          [['authorization', 'Bearer']],
          [['authorization', 'Bearer ']],
          [['authorization', at.gateway.key]],
          [['authorization', `Basic ${at.gateway.key}`]],
          [bearer(`${at.gateway.key}x`)],
          [bearer(at.gateway.key.slice(0, -1))],
          [bearer(at.gateway.key.toUpperCase())],
          [bearer('\x80\xff\xe9')],
          [bearer(`${at.gateway.key}\t1`)],
          [bearer('x'.repeat(10_000))],
          [['x-api-key', '__proto__']],
          [
            ['x-api-key', at.gateway.key],
            ['x-api-key', at.gateway.key],
          ],
        ];
        for (const headers of wrong) {
          const reply = await send(format, headers);
          assert.equal(reply.status, 401, JSON.stringify(headers));
          assert.equal(reply.header('x-should-retry'), 'false');
          assert.equal(reply.header('www-authenticate'), 'Bearer');
          const error = errorOf(format, reply);
          if (format === messages) assert.equal(error['type'], 'authentication_error');
          else assert.equal(error['code'], 'invalid_api_key');
          assert.doesNotMatch(reply.text, new RegExp(at.gateway.key.slice(3, 30)));
          assert.equal(at.upstream.requests.length, 0);
        }
      });

      it('with a control character are a 400 in the right dialect', async () => {
        for (const value of [`Bearer ${at.gateway.key}\0`, 'Bearer a\x01b', 'Bearer a\x7fb', 'a\rb']) {
          const reply = await send(format, [['authorization', value]]);
          assert.equal(reply.status, 400, JSON.stringify(value));
          errorOf(format, reply);
          assert.equal(at.upstream.requests.length, 0);
        }
      });

      it('that are too large are a 431 in the right dialect, however they arrive', async () => {
        for (const size of [17_000, 70_000, 300_000]) {
          const reply = await send(format, [bearer(), ['x-large', 'x'.repeat(size)]]);
          assert.equal(reply.status, 431, `${size}`);
          errorOf(format, reply);
        }
        const client = await openClient(at.gateway.port);
        try {
          await client.write(`POST ${format.path} HTTP/1.1\r\nhost: a\r\n`);
          for (let count = 0; count < 40; count += 1) {
            await client.write(`x-part-${count}: ${'x'.repeat(1000)}\r\n`);
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
          const reply = await client.reply();
          // The path has gone by when the limit is reached, so that the dialect is not known any more.
          assert.equal(reply.status, 431);
          assert.match(reply.text, /16384 bytes/);
        } finally {
          client.destroy();
        }
        assert.equal(at.upstream.requests.length, 0);
      });

      it('that say two lengths are a 400, and never a second request', async () => {
        const inner = `POST ${format.path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${at.gateway.key}\r\ncontent-length: 0\r\n\r\n`;
        const tricks: readonly Pairs[] = [
          [
            ['content-length', '4'],
            ['transfer-encoding', 'chunked'],
          ],
          [
            ['transfer-encoding', 'chunked'],
            ['content-length', '4'],
          ],
          [
            ['content-length', '4'],
            ['content-length', '5'],
          ],
          [['content-length', '4, 4']],
          [['content-length', '-1']],
          [['content-length', '0x10']],
          [['content-length', '+4']],
          [['transfer-encoding', 'chunked, identity']],
          [['transfer-encoding', 'xchunked']],
          [
            ['transfer-encoding ', 'chunked'],
            ['content-length', '4'],
          ],
        ];
        at.upstream.always(json(200, format.answer()));
        for (const headers of tricks) {
          const body = `0\r\n\r\n${inner}`;
          const reply = await at.gateway.send({ path: format.path, headers: [bearer(), ...headers], body });
          assert.ok(
            reply.status === 400 || reply.status === 501,
            `${JSON.stringify(headers)}: ${reply.status}`,
          );
          errorOf(format, reply);
          assert.equal(reply.header('connection'), 'close');
        }
        assert.equal(at.upstream.requests.length, 0);
      });

      it('of one hop stay at this hop, also those that Connection names', async () => {
        const hop: Pairs = [
          bearer(),
          ['connection', 'keep-alive, X-Hop, user-agent'],
          ['x-hop', 'stays'],
          ['user-agent', 'stays/1'],
          ['keep-alive', 'timeout=5'],
          ['te', 'trailers'],
          ['trailer', 'x-sum'],
          ['upgrade', 'h2c'],
          ['proxy-connection', 'keep-alive'],
          ['accept-encoding', 'br'],
        ];
        const reply = await send(format, hop);
        assert.equal(reply.status, 200, reply.text);
        const seen = await at.upstream.request();
        assert.doesNotMatch(seen.rawHead.toString('latin1'), /stays|timeout=5|trailer|h2c|proxy-connection/i);
      });

      it('with letters beyond ASCII, empty or odd do no harm', async () => {
        const odd: Pairs = [
          bearer(),
          ['user-agent', 'gr\xf6\xdfe \xff'],
          ['accept', ''],
          ['accept-language', 'de'],
          ['accept-language', 'en'],
          ['__proto__', 'x'],
          ['constructor', 'x'],
          ['x-request-id', 'mine'],
          ["x!#$%&'*+.^_`|~", 'x'],
        ];
        const reply = await send(format, odd);
        assert.equal(reply.status, 200, reply.text);
        assert.match(reply.header('x-request-id') ?? '', /^req_/);
        const seen = await at.upstream.request();
        assert.equal(seen.header('user-agent'), 'gr\xf6\xdfe \xff');
        const row = await at.gateway.entry(reply.header('x-request-id'));
        assert.equal(row.user_agent, 'gr\xf6\xdfe \xff');
      });
    });
  }

  it('that are too large are a 431 in the dialect of any path, and of the headers before them', async () => {
    const large = ['x-large', 'x'.repeat(17_000)] as const;
    const refused = async (path: string, more: Pairs = []) => {
      const reply = await at.gateway.send({ method: 'GET', path, headers: [...more, large] });
      assert.equal(reply.status, 431);
      return reply.json();
    };
    const google = { error: { code: 431, status: 'INVALID_ARGUMENT' } };
    const code = ({ error }: Record<string, unknown>) => ({
      error: {
        code: (error as Record<string, unknown>)['code'],
        status: (error as Record<string, unknown>)['status'],
      },
    });
    assert.deepEqual(code(await refused('/v1beta/models')), google);
    assert.deepEqual(
      code(await refused('http://gateway.test/v1beta/models/m:generateContent?alt=sse')),
      google,
    );
    assert.equal(typeof (await refused('/api/v1/editor/sk-x/api/tags'))['error'], 'string');
    assert.equal((await refused('/v1/models'))['type'], undefined);
    assert.equal((await refused('/v1/models', [['Anthropic-Version', '2023-06-01']]))['type'], 'error');
  });

  it('that belong to the vendor reach it, and no other server of the same format', async () => {
    const own: Pairs = [bearer(), ['x-stainless-lang', 'js'], ['session_id', 's-1'], ['openai-beta', 'x=1']];
    assert.equal((await send(responses, own)).status, 200);
    const vendor = await at.upstream.request();
    assert.equal(vendor.header('session_id'), 's-1');
    assert.equal(vendor.header('x-stainless-lang'), 'js');
    assert.equal((await send(chat, own)).status, 200);
    const other = await at.upstream.request();
    assert.equal(other.header('session_id'), undefined);
    assert.equal(other.header('openai-beta'), 'x=1');
  });

  it('name no host that is missing or doubled', async () => {
    const client = await openClient(at.gateway.port);
    try {
      await client.write(`POST ${messages.path} HTTP/1.1\r\ncontent-length: 0\r\n\r\n`);
      assert.equal((await client.reply()).status, 400);
    } finally {
      client.destroy();
    }
  });
});

describe("an upstream's headers", () => {
  const at = setting();

  for (const format of formats) {
    it(`beside a client's of 60 KB do no harm to ${format.name}, and 70 KB are refused`, async () => {
      at.upstream.always(json(200, format.answer(), { 'x-large': 'y'.repeat(60_000) }));
      const reply = await at.gateway.ask(format.path, format.request(), { 'x-large': 'x'.repeat(60_000) });
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.header('x-large')?.length, 60_000);
      const refused = await at.gateway.ask(format.path, format.request(), { 'x-large': 'x'.repeat(70_000) });
      assert.equal(refused.status, 431);
      assert.match(String(errorOf(format, refused)['message']), /65536 bytes/);
    });
  }

  it('reach the client without those of one hop, cookies and account names', async () => {
    at.upstream.script([
      json(200, chat.answer(), {
        'x-ratelimit-remaining-tokens': '77',
        'set-cookie': 'a=b',
        'openai-organization': 'org-secret',
        'x-gateway-provider': 'forged',
        'x-request-id': 'req_upstream',
        'keep-alive': 'timeout=5',
        server: 'nginx/0.1',
        'access-control-allow-origin': '*',
      }),
    ]);
    const reply = await at.gateway.ask(chat.path, chat.request());
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-ratelimit-remaining-tokens'), '77');
    assert.equal(reply.header('x-upstream-request-id'), 'req_upstream');
    assert.match(reply.header('x-request-id') ?? '', /^req_0/);
    assert.equal(reply.header('x-gateway-provider'), 'openai-compatible');
    const names = reply.headers.map(([name]) => name.toLowerCase());
    assert.equal(new Set(names).size, names.length, names.join());
    for (const name of ['set-cookie', 'openai-organization', 'server', 'access-control-allow-origin']) {
      assert.ok(!names.includes(name), name);
    }
    assert.doesNotMatch(JSON.stringify(reply.headers), /timeout=5/);
  });

  it('with letters beyond Latin-1 do no harm', async () => {
    for (const format of formats) {
      at.upstream.script([json(200, format.answer(), { 'x-odd': Buffer.from('模型').toString('latin1') })]);
      const reply = await at.gateway.ask(format.path, format.request());
      assert.equal(reply.status, 200, reply.text);
    }
  });
});
