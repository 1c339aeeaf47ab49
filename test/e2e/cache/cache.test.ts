import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { chat, formats } from '../../support/formats/formats.ts';
import { bearer } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json, stall, stream } from '../../support/upstream/steps.ts';

const at = setting({ config: { prices: { '*/m-1': { input: 10, output: 10 } } }, oneWorker: true });

describe('the cache of answers', () => {
  const keys = { own: '', other: '' };
  before(async () => {
    keys.own = String((await at.gateway.cliJson('keys', 'add', 'own', '--cache-ttl', '600'))['key']);
    keys.other = String((await at.gateway.cliJson('keys', 'add', 'other', '--cache-ttl', '600'))['key']);
  });
  const ask = (more: object = {}, headers: Record<string, string> = {}, key = keys.own) =>
    at.gateway.ask(chat.path, chat.request(more), { ...bearer(key), ...headers });
  const state = (reply: Reply) => reply.header('x-gateway-cache');
  const stats = () => at.gateway.cliJson('cache');

  for (const format of formats.filter(({ name }) => name !== 'responses')) {
    it(`gives ${format.name} the same answer again, at no cost`, async () => {
      at.upstream.always(json(200, format.answer()));
      const body = format.request({ seed: 1 });
      const first = await at.gateway.ask(format.path, body, bearer(keys.own));
      const again = await at.gateway.ask(
        format.path,
        Object.fromEntries(Object.entries(body).reverse()),
        bearer(keys.own),
      );
      assert.deepEqual([first.status, again.status, at.upstream.requests.length], [200, 200, 1]);
      assert.deepEqual([state(first), state(again)], ['miss', 'hit']);
      assert.equal(again.text, first.text);
      assert.equal(again.header('content-type'), first.header('content-type'));
      assert.match(again.header('age') ?? '', /^\d+$/);
      assert.notEqual(again.header('x-request-id'), first.header('x-request-id'));
      const entry = await at.gateway.entry(again.header('x-request-id'));
      assert.deepEqual(
        [entry.cost_usd, entry.attempts, entry.outcome, entry.connection, Object(entry).cached],
        [0, 0, 'ok', first.header('x-gateway-connection'), true],
      );
      const made = await at.gateway.entry(first.header('x-request-id'));
      assert.ok(Number(made.cost_usd) > 0);
    });
  }

  it('separates keys, models and bodies, and ignores keys that opted out', async () => {
    at.upstream.always(json(200, chat.answer()));
    const asked = { seed: 2 };
    assert.equal(state(await ask(asked)), 'miss');
    assert.equal(state(await ask(asked, {}, keys.other)), 'miss');
    assert.equal(state(await ask({ ...asked, model: 'up/m-2' })), 'miss');
    assert.equal(state(await ask({ ...asked, temperature: 1 })), 'miss');
    assert.equal(
      state(await ask({ ...asked, user: 'somebody' })),
      'hit',
      'who the user is changes no answer',
    );
    assert.equal(state(await ask(asked, {}, at.gateway.key)), undefined);
  });

  it('skips streams and tools unless the client asks for it, and clients that opted out', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    at.upstream.always(json(200, chat.answer()));
    for (const round of ['bypass', 'bypass']) assert.equal(state(await ask({ seed: 3, tools })), round);
    for (const round of ['miss', 'hit'])
      assert.equal(state(await ask({ seed: 3, tools }, { 'x-gateway-cache': 'on' })), round);
    assert.equal(
      state(await ask({ seed: 3, tools }, { 'cache-control': 'no-store', 'x-gateway-cache': 'on' })),
      'bypass',
    );
    assert.equal(
      state(await ask({ seed: 3, tools }, { 'cache-control': 'no-cache', 'x-gateway-cache': 'on' })),
      'miss',
    );
    at.upstream.always(stream(chat.stream().text));
    assert.equal(state(await ask({ seed: 3, stream: true })), 'bypass');
    const on = { 'x-gateway-cache': 'on' };
    const [first, again] = [
      await ask({ seed: 3, stream: true }, on),
      await ask({ seed: 3, stream: true }, on),
    ];
    assert.deepEqual([state(first), state(again)], ['miss', 'hit']);
    assert.equal(again.text, first.text);
    assert.match(again.header('content-type') ?? '', /^text\/event-stream/);
  });

  it('stores no failures, and is empty after it is cleared', async () => {
    at.upstream.script([json(400, { error: { message: 'no' } })], [json(200, chat.answer())]);
    const failed = await ask({ seed: 4 });
    assert.deepEqual([failed.status, state(failed)], [400, 'miss']);
    assert.deepEqual([state(await ask({ seed: 4 })), state(await ask({ seed: 4 }))], ['miss', 'hit']);
    assert.ok(Number((await stats())['entries']) > 0);
    assert.deepEqual(await at.gateway.cliJson('cache', 'clear'), { cleared: true });
    const after = await stats();
    assert.deepEqual([after['entries'], after['bytes']], [0, 0]);
    assert.ok(Number(after['hits']) > 0 && Number(after['hit_rate']) > 0);
    at.upstream.always(json(200, chat.answer()));
    assert.equal(state(await ask({ seed: 4 })), 'miss');
  });

  it('lets the same requests wait for one answer', async () => {
    const gate = Promise.withResolvers<void>();
    at.upstream.always(stall(gate.promise), json(200, chat.answer()));
    const first = ask({ seed: 5 });
    await at.upstream.request(0);
    const others = Array.from({ length: 9 }, () => ask({ seed: 5 }));
    // They wait, so nothing says when they have arrived; what comes late is a hit all the same.
    await new Promise((resolve) => setTimeout(resolve, 200));
    gate.resolve();
    const replies = await Promise.all([first, ...others]);
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
    assert.equal(at.upstream.requests.length, 1);
    assert.equal(replies.filter((reply) => state(reply) === 'hit').length, 9);
  });

  it('sends waiting requests on their own when the first one fails', async () => {
    const gate = Promise.withResolvers<void>();
    at.upstream.script(
      [stall(gate.promise), json(400, { error: { message: 'no' } })],
      [json(200, chat.answer())],
    );
    const first = ask({ seed: 6 });
    await at.upstream.request(0);
    const second = ask({ seed: 6 });
    await new Promise((resolve) => setTimeout(resolve, 200));
    gate.resolve();
    assert.deepEqual([(await first).status, (await second).status], [400, 200]);
  });
});
