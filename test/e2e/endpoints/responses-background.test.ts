import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { responsesAnswer, responsesStream } from '../../support/upstream/answers.ts';
import { json, stream } from '../../support/upstream/steps.ts';

const at = setting({ config: { prices: { '*/m-1': { input: 10, output: 100 } } } });
const usage = {
  input_tokens: 1_000,
  output_tokens: 2_000,
  total_tokens: 3_000,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};
const COST = 0.01 + 0.2;
const state = (id: string, status: string, more: object = {}) =>
  json(200, { ...responsesAnswer(), id, status, background: true, output: [], usage: null, ...more });
const begin = async (id: string, key = at.gateway.key) => {
  at.upstream.always(state(id, 'queued'));
  const body = { model: 'resp/m-1', input: 'One?', background: true };
  const reply = await at.gateway.ask('/v1/responses', body, bearer(key));
  assert.equal(reply.status, 200, reply.text);
  return String(reply.header('x-request-id'));
};
const read = (path: string, key = at.gateway.key) =>
  at.gateway.send({ method: 'GET', path: `/v1/responses/${path}`, headers: bearer(key) });
/** Input and output tokens. */
const tokensOf = async (request: string) => {
  const { usage: used } = await at.gateway.entry(request);
  return [used?.['input'], used?.['output']];
};
const settled = (request: string) =>
  waitFor('what it cost', async () => (await at.gateway.entry(request)).estimated === false);

describe('a response that is made in the background', () => {
  it('is in the ledger with what it cost, once it is read to its end, over a restart too', async () => {
    const request = await begin('resp_1');
    assert.equal((await at.gateway.entry(request)).estimated, true);
    at.upstream.always(state('resp_1', 'in_progress'));
    await read('resp_1');
    assert.equal((await at.gateway.entry(request)).estimated, true, 'not yet');
    await at.gateway.kill();
    await at.gateway.restart();
    at.upstream.always(state('resp_1', 'completed', { usage }));
    assert.equal((await read('resp_1')).status, 200);
    await settled(request);
    assert.deepEqual(await tokensOf(request), [1_000, 2_000]);
    const { cost_usd } = await at.gateway.entry(request);
    assert.ok(Math.abs(Number(cost_usd) - COST) < 1e-9, String(cost_usd));
    at.upstream.always(state('resp_1', 'completed', { usage: { ...usage, input_tokens: 5 } }));
    await read('resp_1');
    assert.deepEqual(await tokensOf(request), [1_000, 2_000], 'counted once');
  });

  it('counts as well when it is read as a stream, or cancelled', async () => {
    const streamed = await begin('resp_2');
    at.upstream.script([stream(responsesStream().text.replaceAll('resp_1', 'resp_2'))]);
    assert.match((await read('resp_2?stream=true')).text, /response\.completed/);
    await settled(streamed);
    const cancelled = await begin('resp_3');
    at.upstream.always(state('resp_3', 'cancelled', { usage }));
    const path = '/v1/responses/resp_3/cancel';
    await at.gateway.send({ method: 'POST', path, headers: bearer(at.gateway.key) });
    await settled(cancelled);
    assert.deepEqual(await tokensOf(cancelled), [1_000, 2_000]);
  });

  it('is not counted after a stream that broke off, nor before it is read', async () => {
    const request = await begin('resp_4');
    const text = responsesStream().text.replaceAll('resp_1', 'resp_4');
    at.upstream.script([stream(text.slice(0, text.length / 2))]);
    await read('resp_4?stream=true');
    at.upstream.always(json(200, { object: 'list', data: [], usage }));
    await read('resp_4/input_items');
    assert.equal((await at.gateway.entry(request)).estimated, true);
  });

  it('counts in the budgets of its key, once', async () => {
    const flags = ['--budget-usd', '0.5', '--budget-period', 'day'];
    const key = String((await at.gateway.cliJson('keys', 'add', 'spender', ...flags))['key']);
    await waitFor('the key', async () => (await read('none', key)).status === 404);
    const ask = (max_output_tokens: number) =>
      at.gateway.ask('/v1/responses', { model: 'resp/m-1', input: 'x', max_output_tokens }, bearer(key));
    const request = await begin('resp_5', key);
    at.upstream.always(state('resp_5', 'completed', { usage }));
    for (let count = 0; count < 5; count += 1) await read('resp_5', key);
    await settled(request);
    // Of 0.50 USD some 0.29 are left.
    await waitFor('the budget to have counted it', async () => (await ask(3_000)).status === 402);
    assert.equal((await ask(2_000)).status, 200);
  });
});
