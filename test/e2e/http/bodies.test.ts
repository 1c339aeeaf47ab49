import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import type { Reply } from '../../support/clients/client.ts';
import { chat, type Format, formats, messages } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const LIMIT = 2_000_000;
const compress = {
  gzip: (bytes: Buffer | string) => gzipSync(bytes),
  deflate: (bytes: Buffer | string) => deflateSync(bytes),
  br: (bytes: Buffer | string) =>
    brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (bytes: Buffer | string) => zstdCompressSync(bytes),
};

/** The `code` where the dialect has one, else its `type`. Fails when the error is of another dialect. */
function nameOf(format: Format, reply: Reply): unknown {
  const whole = reply.json();
  const error = whole['error'] as Record<string, unknown>;
  assert.equal(typeof error['message'], 'string', reply.text);
  if (format !== messages) return error['code'];
  assert.equal(whole['type'], 'error');
  assert.equal(whole['request_id'], reply.header('x-request-id'));
  return error['type'];
}

/** The body text with `model` replaced by what the upstream is to see. */
function atUpstream(format: Format, text: string): string {
  return text.replaceAll(`"${format.model}"`, '"m-1"');
}

describe('a request body', () => {
  const at = setting({ config: { limits: { body_bytes: LIMIT } } });

  for (const format of formats) {
    describe(`of ${format.name} that is too large`, () => {
      const tooLarge = async (body: Buffer | string, headers: Record<string, string> = {}) => {
        at.upstream.always(json(200, format.answer()));
        const reply = await at.gateway.ask(format.path, body, headers);
        assert.equal(reply.status, 413, reply.text);
        assert.equal(nameOf(format, reply), 'request_too_large');
        assert.equal(at.upstream.requests.length, 0);
        return reply.header('x-request-id');
      };
      const large = JSON.stringify(format.request({ metadata: { pad: 'x'.repeat(LIMIT) } }));

      it('is refused with 413 in its dialect, with its length announced or not', async () => {
        const row = await at.gateway.entry(await tooLarge(large));
        assert.equal(row.status, 413);
        assert.equal(row.error?.code, 'request_too_large');
        const chunked = `${Buffer.byteLength(large).toString(16)}\r\n${large}\r\n0\r\n\r\n`;
        await tooLarge(chunked, { 'transfer-encoding': 'chunked' });
      });

      for (const [name, encode] of Object.entries(compress)) {
        it(`is refused when it grows by ${name}`, async () => {
          const bomb = encode(large);
          assert.ok(bomb.length < 10_000);
          await tooLarge(bomb, { 'content-encoding': name });
        });
      }

      it('is refused when it grows by two codings', async () => {
        await tooLarge(gzipSync(gzipSync(Buffer.alloc(100_000_000))), { 'content-encoding': 'gzip, gzip' });
      });

      it('is served right at the limit', async () => {
        const bare = JSON.stringify(format.request({ pad: '' })).length;
        const text = JSON.stringify(format.request({ pad: 'x'.repeat(LIMIT - bare) }));
        assert.equal(text.length, LIMIT);
        at.upstream.always(json(200, format.answer()));
        for (const coding of ['identity', 'gzip']) {
          const body = coding === 'gzip' ? gzipSync(text) : text;
          const reply = await at.gateway.ask(format.path, body, { 'content-encoding': coding });
          assert.equal(reply.status, 200, reply.text);
        }
      });
    });

    describe(`of ${format.name} that is compressed`, () => {
      const text = JSON.stringify(format.request({ user: 'größe 🙂' }));
      const codings = { ...compress, 'x-gzip': compress.gzip, GZIP: compress.gzip, identity: Buffer.from };

      for (const [name, encode] of Object.entries(codings)) {
        it(`with ${name} reaches the upstream unpacked`, async () => {
          at.upstream.always(json(200, format.answer()));
          const reply = await at.gateway.ask(format.path, encode(text), { 'content-encoding': name });
          assert.equal(reply.status, 200, reply.text);
          const seen = await at.upstream.request();
          assert.equal((await seen.whole).toString(), atUpstream(format, text));
          assert.equal(seen.header('content-encoding'), undefined);
          assert.equal(seen.header('content-length'), String(seen.body.length));
        });
      }

      it('with two codings reaches the upstream unpacked', async () => {
        at.upstream.always(json(200, format.answer()));
        const body = brotliCompressSync(gzipSync(text));
        const reply = await at.gateway.ask(format.path, body, { 'content-encoding': 'gzip, br' });
        assert.equal(reply.status, 200, reply.text);
        assert.equal((await (await at.upstream.request()).whole).toString(), atUpstream(format, text));
      });

      it('but damaged, cut or not compressed at all is a 400 that names the coding', async () => {
        for (const [name, encode] of Object.entries(compress)) {
          const whole = encode(text);
          for (const body of [whole.subarray(0, whole.length >> 1), text]) {
            const reply = await at.gateway.ask(format.path, body, { 'content-encoding': name });
            assert.equal(reply.status, 400, `${name}: ${reply.text}`);
            assert.match(reply.text, new RegExp(name));
            nameOf(format, reply);
          }
        }
      });

      it('in an unknown way is a 415 that names the known ones', async () => {
        const reply = await at.gateway.ask(format.path, text, { 'content-encoding': 'compress' });
        assert.equal(reply.status, 415, reply.text);
        assert.equal(reply.header('accept-encoding'), 'gzip, deflate, br, zstd');
        nameOf(format, reply);
      });
    });

    describe(`of ${format.name} that is not a JSON object`, () => {
      const bad: readonly (readonly [what: string, body: Buffer | string])[] = [
        ['nothing', ''],
        ['white space', ' \n\t'],
        ['no JSON', 'model=up/m-1'],
        ['a page', '<html></html>'],
        ['a list', '[{"model":"m"}]'],
        ['a string', '"model"'],
        ['null', 'null'],
        ['a number', '1e999'],
        ['an open object', '{'],
        ['an object that breaks off in a name', '{"mod'],
        ['an object that breaks off in the model', `{"model":"${format.model}`],
        ['an unquoted name', '{model:"m"}'],
        ['single quotes', "{'model':'m'}"],
        ['a comment', '{/* hi */"model":"m"}'],
        ['NUL before it', '\0{"model":"m"}'],
        ['UTF-16', Buffer.from(JSON.stringify(format.request()), 'utf16le')],
        ['bytes at random', Buffer.from([0xff, 0xfe, 0x00, 0x80, 0xc0])],
        ['10,000 open lists', '['.repeat(10_000)],
        ['10,000 open objects', '{"a":'.repeat(10_000)],
      ];

      for (const [what, body] of bad) {
        it(`but ${what} is a 400`, async () => {
          at.upstream.always(json(200, format.answer()));
          const reply = await at.gateway.ask(format.path, body);
          assert.equal(reply.status, 400, reply.text);
          assert.match(String(nameOf(format, reply)), /^(invalid_json|missing_model|invalid_request_error)$/);
          assert.equal(at.upstream.requests.length, 0);
        });
      }

      for (const model of ['null', '7', '{}', '["up/m-1"]', 'true', '""', '"\u0000"', '"a\nb"', '"\\x"']) {
        it(`names no model with ${JSON.stringify(model)}, which is a 400`, async () => {
          const reply = await at.gateway.ask(format.path, `{"model":${model},"messages":[]}`);
          assert.equal(reply.status, 400, reply.text);
          nameOf(format, reply);
        });
      }
    });

    describe(`of ${format.name} that is odd but may be meant`, () => {
      const members = JSON.stringify(format.request()).slice(1, -1);
      const deep = (open: string, close: string) => `${open.repeat(10_000)}1${close.repeat(10_000)}`;
      const odd: readonly (readonly [what: string, body: Buffer | string])[] = [
        ['a name twice', `{${members},"user":"a","user":"b"}`],
        ['stream twice', `{${members},"stream":true,"stream":false}`],
        ['10,000 lists in each other', `{${members},"x":${deep('[', ']')}}`],
        ['10,000 objects in each other, before the model', `{"x":${deep('{"a":', '}')},${members}}`],
        ['a lone surrogate, escaped', `{${members},"user":"\\ud800"}`],
        [
          'a lone surrogate, as bytes',
          Buffer.concat([
            Buffer.from(`{${members},"user":"`),
            Buffer.from([0xed, 0xa0, 0x80]),
            Buffer.from('"}'),
          ]),
        ],
        [
          'bytes that are not UTF-8',
          Buffer.concat([Buffer.from(`{"user":"`), Buffer.from([0xff, 0xc3]), Buffer.from(`",${members}}`)]),
        ],
        ['NUL, escaped', `{${members},"user":"\\u0000"}`],
        ['NUL as a byte', `{${members},"user":"\0"}`],
        [
          'huge numbers',
          `{"a":1e999,"b":-1E+99999,"c":${'9'.repeat(5000)},"d":0.${'1'.repeat(5000)},${members}}`,
        ],
        ['numbers beyond 2^53', `{${members},"seed":9007199254740993,"t":1.0,"u":1e2}`],
        ['a byte order mark', `\uFEFF{${members}}`],
        ['white space everywhere', `\r\n\t { ${members.replaceAll(':', ' \n: ')}\n } \n`],
        ['an escaped name', `{"us\\u0065r":"x",${members}}`],
        [
          'a name like the prototype',
          `{"__proto__":{"model":"x"},"constructor":{"prototype":{"a":1}},${members}}`,
        ],
        ['a member that is cut off', `{${members},"x":`],
        ['something behind it', `{${members}} {"model":"other"}`],
      ];

      for (const [what, body] of odd) {
        it(`with ${what} reaches the upstream as it is, and its answer the client`, async () => {
          const expected = Buffer.from(body.toString('latin1').replaceAll(format.model, 'm-1'), 'latin1');
          const sent = Buffer.isBuffer(body) ? body : Buffer.from(body);
          const wanted = Buffer.isBuffer(body) ? expected : Buffer.from(body.replaceAll(format.model, 'm-1'));
          const refusal = JSON.stringify(format.error('I cannot read that', 'invalid_request_error'));
          at.upstream.script([json(200, format.answer())], [json(400, refusal)]);
          const reply = await at.gateway.ask(format.path, sent);
          assert.equal(reply.status, 200, reply.text);
          assert.ok((await (await at.upstream.request()).whole).equals(wanted));
          const refused = await at.gateway.ask(format.path, sent);
          assert.equal(refused.status, 400, refused.text);
          assert.equal(refused.text, refusal);
        });
      }

      for (const [what, id] of [
        ['a lone surrogate', '\\ud800'],
        ['a line end', '\\n'],
        ['other letters', 'größe-模型-🙂'],
        ['a NUL', '\\u0000'],
        ['3,000 letters', 'x'.repeat(3000)],
      ] as const) {
        it(`with ${what} in the model reaches the upstream`, async () => {
          at.upstream.always(json(200, format.answer()));
          const prefix = format.model.slice(0, format.model.indexOf('/') + 1);
          const body = `{${members.replace(format.model, `${prefix}${id}`)}}`;
          const reply = await at.gateway.ask(format.path, body);
          assert.equal(reply.status, 200, reply.text);
          const seen = JSON.parse((await (await at.upstream.request()).whole).toString()) as {
            model: string;
          };
          assert.equal(seen.model, JSON.parse(`"${id}"`));
          const row = await at.gateway.entry(reply.header('x-request-id'));
          assert.equal(row.status, 200);
        });
      }
    });

    describe(`of ${format.name} with values out of range`, () => {
      const values: readonly (readonly [name: string, value: string])[] = [
        ...['0', '-1', '1e99', '"many"', 'null', '1.5', '99999999999999999999'].flatMap((value) =>
          ['max_tokens', 'max_output_tokens', 'max_completion_tokens'].map((name) => [name, value] as const),
        ),
        ['thinking', '{"type":"enabled","budget_tokens":100000}'],
        ['thinking', '{"type":"enabled","budget_tokens":1}'],
        ['thinking', '{"type":"enabled"}'],
        ['temperature', '-3'],
        ['temperature', 'NaN'],
        ['max_tokens', 'NaN'],
        ['messages', '[]'],
        ['tools', '{}'],
        ['stream', '"yes"'],
      ];

      it('leaves the judgement to the upstream, byte for byte', async () => {
        const refusal = JSON.stringify(format.error('out of range', 'invalid_request_error'), null, 2);
        for (const [name, value] of values) {
          const { [name]: _, ...rest } = format.request();
          const body = `{"${name}":${value},${JSON.stringify(rest).slice(1)}`;
          at.upstream.script([json(400, refusal, { 'x-vendor': 'kept' })]);
          const reply = await at.gateway.ask(format.path, body);
          assert.equal(reply.status, 400, `${name}=${value}: ${reply.text}`);
          assert.equal(reply.text, refusal);
          assert.equal(reply.header('x-vendor'), 'kept');
          assert.equal((await (await at.upstream.request()).whole).toString(), atUpstream(format, body));
        }
      });

      it('leaves a missing max_tokens to the upstream', async () => {
        const { max_tokens: _, ...rest } = format.request();
        at.upstream.script([json(400, format.error('max_tokens: Field required', 'invalid_request_error'))]);
        const reply = await at.gateway.ask(format.path, rest);
        assert.equal(reply.status, 400);
        assert.match(reply.text, /Field required/);
        assert.equal(
          (await (await at.upstream.request()).whole).toString(),
          atUpstream(format, JSON.stringify(rest)),
        );
      });
    });
  }

  it('that fails in any way leaves the gateway unchanged', async () => {
    const before = await at.gateway.residentBytes();
    const bomb = gzipSync(gzipSync(Buffer.alloc(400_000_000)));
    for (let round = 0; round < 5; round += 1) {
      const reply = await at.gateway.ask(chat.path, bomb, { 'content-encoding': 'gzip, gzip' });
      assert.equal(reply.status, 413);
    }
    assert.ok((await at.gateway.residentBytes()) - before < 150_000_000);
    at.upstream.always(json(200, chat.answer()));
    assert.equal((await at.gateway.ask(chat.path, chat.request())).status, 200);
  });
});

describe('a request body under a key that may use only some models', () => {
  const at = setting();
  let key = '';
  const ask = async (body: Buffer | string) => {
    if (key === '') {
      const added = await at.gateway.cliJson('keys', 'add', 'some', '--models', 'up/*,anth/*');
      key = String(added['key']);
      for (let tries = 0; tries < 100; tries += 1) {
        const list = await at.gateway.send({
          method: 'GET',
          path: '/v1/models',
          headers: { 'x-api-key': key },
        });
        if (list.status === 200) break;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    at.upstream.always(json(200, chat.answer()));
    return at.gateway.ask(chat.path, body, { authorization: `Bearer ${key}` });
  };

  it('is served when its model is among them', async () => {
    assert.equal((await ask(JSON.stringify(chat.request()))).status, 200);
  });

  for (const [what, body] of [
    ['two models', '{"model":"up/m-1","model":"resp/m-1","messages":[]}'],
    ['two models, one escaped', '{"model":"up/m-1","messages":[],"m\\u006fdel":"resp/m-1"}'],
    ['bytes that are not UTF-8', Buffer.from([...Buffer.from('{"model":"up/m-1","a":"'), 0xff, 0x22, 0x7d])],
    ['10,000 lists in each other', `{"model":"up/m-1","a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['a NUL', '{"model":"up/m-1","a":"\0"}'],
    ['something behind it', '{"model":"up/m-1"}{"model":"resp/m-1"}'],
    ['a cut', '{"model":"up/m-1","a":'],
  ] as const) {
    it(`with ${what} is a 400, for its model would be in doubt`, async () => {
      const reply = await ask(body);
      assert.equal(reply.status, 400, reply.text);
      assert.match(String(nameOf(chat, reply)), /^(duplicate_field|invalid_json)$/);
      assert.equal(at.upstream.requests.length, 0);
    });
  }

  it('with a lone surrogate or huge numbers is accepted', async () => {
    const members = JSON.stringify(chat.request()).slice(1, -1);
    assert.equal((await ask(`{${members},"a":"\\ud800","b":1e999}`)).status, 200);
  });
});
