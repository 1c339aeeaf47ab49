import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { chat } from '../../support/formats/formats.ts';
import { fleet } from '../../support/gateway/fleet.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { json, stall, stream } from '../../support/upstream/steps.ts';

const at = fleet(2, {
  config: { prices: { '*/m-1': { input: 10, output: 10 } }, cache: { ttl_seconds: 900 } },
  oneWorker: true,
});
const [first, second] = ['openai-compatible-0/m-1', 'openai-compatible-1/m-1'];

/** Makes a combo over the management API. */
async function combo(name: string, targets: readonly string[], options: object = {}): Promise<void> {
  const reply = await at.manage('POST', '/api/combos', { name, targets, options });
  assert.equal(reply.status, 200, reply.text);
}

const ask = (model: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
  at.gateway.ask(chat.path, chat.request({ model, ...more }), headers);
const state = (reply: Reply) => reply.header('x-gateway-cache');
const states = async (model: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) => [
  state(await ask(model, more, headers)),
  state(await ask(model, more, headers)),
];
/** Every upstream answers every request. */
const answering = () => {
  for (const upstream of at.upstreams) upstream.always(json(200, chat.answer()));
};
const asked = () => at.upstreams.map(({ requests }) => requests.length);

describe('a combo with the option cache', () => {
  before(async () => {
    await at.connectAll('openai-compatible');
    await combo('kept', [first, second], { cache: true });
    await combo('plain', [first, second]);
  });

  it('returns a cached answer at no cost, with a row in the ledger that says so', async () => {
    answering();
    const [made, again] = [await ask('kept', { seed: 1 }), await ask('kept', { seed: 1 })];
    assert.deepEqual([made.status, again.status], [200, 200]);
    assert.deepEqual([state(made), state(again)], ['miss', 'hit']);
    assert.equal(again.text, made.text);
    assert.match(again.header('age') ?? '', /^\d+$/);
    assert.equal(again.header('x-gateway-cost-usd'), '0');
    assert.deepEqual(asked(), [1, 0]);
    const row = await at.gateway.entry(again.header('x-request-id'));
    const { attempts, cost_usd, model, outcome, requested_model, status, usage } = row;
    assert.deepEqual(
      { attempts, cost_usd, model, outcome, requested_model, status, cached: Object(row).cached },
      {
        attempts: 0,
        cost_usd: 0,
        model: 'm-1',
        outcome: 'ok',
        requested_model: 'kept',
        status: 200,
        cached: true,
      },
    );
    assert.equal(
      Object.values(usage ?? {}).reduce((sum, amount) => sum + amount, 0),
      0,
    );
    assert.ok(Number((await at.gateway.entry(made.header('x-request-id'))).cost_usd) > 0);
  });

  it('does so for requests for the combo, not for another combo or for its target', async () => {
    answering();
    await ask('kept', { seed: 2 });
    assert.deepEqual(await states('plain', { seed: 2 }), [undefined, undefined]);
    assert.deepEqual(await states(first, { seed: 2 }), [undefined, undefined]);
  });

  it('sends concurrent identical requests once', async () => {
    const gate = Promise.withResolvers<void>();
    at.upstreams[0]?.always(stall(gate.promise), json(200, chat.answer()));
    at.upstreams[1]?.always(json(200, chat.answer()));
    const before = Number((await at.gateway.cliJson('cache'))['coalesced']);
    const lead = ask('kept', { seed: 3 });
    await at.upstreams[0]?.request(0);
    const others = Array.from({ length: 9 }, () => ask('kept', { seed: 3 }));
    await waitFor(
      'nine to wait',
      async () => Number((await at.gateway.cliJson('cache'))['coalesced']) === before + 9,
    );
    gate.resolve();
    const replies = await Promise.all([lead, ...others]);
    assert.deepEqual(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size, 1);
    assert.equal(replies.filter((reply) => state(reply) === 'hit').length, 9);
    assert.deepEqual(asked(), [1, 0]);
  });

  it('leaves streams and tools out until the client asks for them', async () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    const on = { 'x-gateway-cache': 'on' };
    answering();
    assert.deepEqual(await states('kept', { seed: 4, tools }), ['bypass', 'bypass']);
    assert.deepEqual(await states('kept', { seed: 4, tools }, on), ['miss', 'hit']);
    at.upstreams[0]?.always(stream(chat.stream().text));
    assert.deepEqual(await states('kept', { seed: 4, stream: true }), ['bypass', 'bypass']);
    assert.deepEqual(await states('kept', { seed: 4, stream: true }, on), ['miss', 'hit']);
  });

  it('also applies through an alias or auto', async () => {
    answering();
    await at.gateway.cliJson('alias', 'add', 'nick', 'kept');
    assert.deepEqual(await states('nick', { seed: 5 }), ['miss', 'hit']);
    await at.gateway.cliJson('combo', 'switch', 'kept');
    assert.deepEqual(await states('auto', { seed: 5 }), ['miss', 'hit']);
    assert.deepEqual(await states('m-1', { seed: 5 }), ['miss', 'hit'], 'its models by their bare names');
  });

  it('returns no answer from before a name changed its meaning', async () => {
    answering();
    await combo('other', [second], { cache: true });
    await at.gateway.cliJson('alias', 'add', 'moved', 'kept');
    assert.deepEqual(await states('moved', { seed: 6 }), ['miss', 'hit']);
    await at.gateway.cliJson('alias', 'remove', 'moved', '--yes');
    await at.gateway.cliJson('alias', 'add', 'moved', 'other');
    const reply = await ask('moved', { seed: 6 });
    assert.deepEqual([state(reply), reply.header('x-gateway-connection')], ['miss', 'openai-compatible-1']);
    const changed = await at.manage('PATCH', '/api/combos/other', { targets: [first] });
    assert.equal(changed.status, 200, changed.text);
    const after = await ask('moved', { seed: 6 });
    assert.deepEqual([state(after), after.header('x-gateway-connection')], ['miss', 'openai-compatible-0']);
  });

  it('uses the option of the requested combo, not of combos in it', async () => {
    answering();
    await combo('outer-off', ['kept']);
    await combo('outer-on', ['plain'], { cache: true });
    assert.deepEqual(await states('outer-off', { seed: 7 }), [undefined, undefined]);
    assert.deepEqual(await states('outer-on', { seed: 7 }), ['miss', 'hit']);
  });

  it('keeps nothing over a change of the option, and keys stay apart', async () => {
    answering();
    const { key } = await at.gateway.cliJson('keys', 'add', 'somebody');
    await ask('kept', { seed: 8 });
    assert.equal(state(await ask('kept', { seed: 8 }, bearer(String(key)))), 'miss');
    const targets = ['--target', first];
    const made = await at.gateway.cliJson('combo', 'create', 'turned', ...targets, '--cache', 'on');
    assert.equal((made['options'] as Record<string, unknown>)['cache'], true);
    assert.deepEqual(await states('turned', { seed: 8 }), ['miss', 'hit']);
    const off = await at.gateway.cliJson(
      'combo',
      'create',
      'turned',
      ...targets,
      '--replace',
      '--cache',
      'off',
    );
    assert.equal((off['options'] as Record<string, unknown>)['cache'], false);
    assert.deepEqual(await states('turned', { seed: 8 }), [undefined, undefined]);
  });

  it('returns an answer until its time to live is over', async () => {
    answering();
    const flags = ['--target', first, '--cache', 'on', '--cache-ttl', '1'];
    const made = await at.gateway.cliJson('combo', 'create', 'brief', ...flags);
    assert.equal((made['options'] as Record<string, unknown>)['cache_ttl_seconds'], 1);
    assert.equal(state(await ask('brief', { seed: 9 })), 'miss');
    await waitFor('the answer to be too old', async () => {
      const reply = await ask('brief', { seed: 9 });
      assert.ok(state(reply) === 'miss' || Number(reply.header('age')) < 1, reply.header('age'));
      return state(reply) === 'miss';
    });
    const bad = await at.manage('PATCH', '/api/combos/brief', { options: { cache_ttl_seconds: 0 } });
    assert.equal(bad.status, 400);
    assert.match(bad.text, /cache_ttl_seconds/);
    const usual = await at.manage('PATCH', '/api/combos/brief', { options: { cache_ttl_seconds: null } });
    assert.equal(usual.status, 200, usual.text);
  });
});
