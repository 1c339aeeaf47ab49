import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chat, type Format, formats } from '../../support/formats/formats.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { fc } from '../../support/machine/properties.ts';
import { json } from '../../support/upstream/steps.ts';

/** Of m-1 alone the price is known. */
const at = setting({ config: { prices: { '*/m-1': { input: 10, output: 10 } } } });

let made = 0;

/** A key of these flags that the gateway knows. */
async function keyWith(...flags: string[]): Promise<string> {
  made += 1;
  const { key } = await at.gateway.cliJson('keys', 'add', `key-${made}`, ...flags);
  const headers = bearer(String(key));
  await waitFor('the key', async () => {
    const { status } = await at.gateway.send({ method: 'GET', path: '/v1/models', headers });
    return status === 200;
  });
  return String(key);
}

const limits: Record<string, readonly string[]> = {
  'a list of models': ['--models', 'up/m-1,resp/m-1,anth/m-1'],
  'a budget': ['--budget-usd', '100'],
};

/** What comes before and after the fields of a sound request. */
const additions: readonly (readonly [before: string, after: string])[] = [
  ['', ',"model":"dear"'],
  ['', ',"\\u006dodel":"dear"'],
  ['', ',"Model":"dear"'],
  ['"MODEL":"dear",', ''],
  ['', ',"models":["dear"]'],
  ['', ',"fallbacks":[{"model":"dear"}]'],
  ['', ',"tools":[{"type":"advisor_20260301","name":"advisor","model":"dear"}]'],
];

describe('a key with', () => {
  for (const [what, flags] of Object.entries(limits)) {
    let key: string | null = null;
    for (const format of formats)
      it(`${what} asks in ${format.name} for one model and no other`, async () => {
        key ??= await keyWith(...flags);
        const fields = JSON.stringify(format.request()).slice(1, -1);
        at.upstream.always(json(200, format.answer()));
        for (const [before, after] of additions) {
          const reply = await at.gateway.ask(format.path, `{${before}${fields}${after}}`, bearer(key));
          assert.equal(reply.status, 400, `${before}${after} → ${reply.text}`);
          assert.match(reply.text, /names \\"model\\" twice|may run another model/);
        }
        assert.equal(at.upstream.requests.length, 0);
        const reply = await at.gateway.ask(format.path, `{${fields}}`, bearer(key));
        assert.equal(reply.status, 200, reply.text);
      });
  }

  it('no limits sends such a request as it is', async () => {
    at.upstream.always(json(200, chat.answer()));
    const body = JSON.stringify(chat.request({ models: ['dear'], fallbacks: ['dear'] }));
    assert.equal((await at.gateway.ask(chat.path, body)).status, 200);
    assert.deepEqual(JSON.parse(String(at.upstream.requests[0]?.body)).models, ['dear']);
    const counted = await keyWith('--rpm', '100');
    assert.equal(
      (await at.gateway.ask(chat.path, body, bearer(counted))).status,
      200,
      'which runs is no matter',
    );
  });
});

describe('the type of a body', () => {
  it('is the one that the gateway parsed, whatever the client calls it', async () => {
    const key = await keyWith('--models', 'up/m-1');
    const form = '{"model":"up/m-1","messages":[],"user":"&model=dear&z="}';
    for (const types of [
      ['application/x-www-form-urlencoded'],
      ['application/json', 'application/x-www-form-urlencoded'],
      ['multipart/form-data; boundary=b'],
      ['application/json; charset=utf-7'],
      [],
    ]) {
      at.upstream.always(json(200, chat.answer()));
      const headers = [
        ['authorization', `Bearer ${key}`] as const,
        ...types.map((type) => ['content-type', type] as const),
      ];
      const reply = await at.gateway.send({ path: chat.path, headers, body: form });
      assert.equal(reply.status, 200, reply.text);
      const { headers: seen } = await at.upstream.request();
      assert.deepEqual(
        seen.filter(([name]) => name.toLowerCase() === 'content-type').map(([, value]) => value),
        ['application/json'],
      );
    }
  });
});

describe('a key for one model', () => {
  it('gets no other by names that lead there', async () => {
    for (const [name, target] of [
      ['claude-*', 'up/dear'],
      ['cheap', 'up/dear'],
    ] as const)
      await at.gateway.cliJson('alias', 'add', name, target);
    await at.gateway.cliJson('combo', 'create', 'lab', '--target', 'up/dear');
    const key = await keyWith('--models', 'claude*,up/m-1,lab*,chea*');
    at.upstream.always(json(200, chat.answer()));
    const ask = (model: string) => at.gateway.ask(chat.path, chat.request({ model }), bearer(key));
    for (const model of ['up/dear', 'claude/up/dear', 'claude-opus', 'cheap', 'lab', 'claude/lab'])
      assert.equal((await ask(model)).status, 403, model);
    assert.equal(at.upstream.requests.length, 0);
    assert.equal((await ask('claude/up/m-1')).status, 200);
    const listed = await at.gateway.send({ method: 'GET', path: '/v1/models', headers: bearer(key) });
    const ids = (listed.json()['data'] as { id: string }[]).map(({ id }) => id);
    for (const id of ids) assert.doesNotMatch(id, /lab|cheap|dear/);
  });

  it('never runs another one, whatever its requests contain', async () => {
    const key = await keyWith('--models', 'up/m-1');
    const name = fc.constantFrom('model', 'Model', 'MODEL', 'm\\u006fdel', 'models', 'fallbacks', 'user');
    const value = fc.constantFrom('"up/m-1"', '"m-1"', '"up/dear"', '"dear"', '["dear"]', 'null');
    const body = fc
      .array(fc.tuple(name, value), { minLength: 1, maxLength: 4 })
      .map((fields) => [...fields.map(([field, text]) => `"${field}":${text}`), '"messages":[]'])
      .map((fields) => `{${fields.join(',')}}`);
    const format: Format = chat;
    await fc.assert(
      fc.asyncProperty(body, async (text) => {
        at.upstream.always(json(200, format.answer()));
        const reply = await at.gateway.ask(format.path, text, bearer(key));
        assert.ok([200, 400, 403, 404].includes(reply.status), reply.text);
        const [seen] = at.upstream.requests;
        if (seen !== undefined) assert.deepEqual(modelsOf(String(seen.body)), ['m-1'], text);
      }),
      { numRuns: 150 },
    );
  });
});

/** Every model that a server of some kind would run for a body: by its first or last field, in any case, or a list. */
function modelsOf(body: string): string[] {
  const fields = [...body.matchAll(/"([^":]+)":("[^"]*"|\["dear"\]|null|\[\])/g)];
  return fields.flatMap(([, field = '', text = '']) => {
    const name = String(JSON.parse(`"${field}"`)).toLowerCase();
    const value: unknown = JSON.parse(text);
    return ['model', 'models', 'fallbacks'].includes(name) && value !== null ? [String(value)] : [];
  });
}
