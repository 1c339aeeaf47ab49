import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { chat } from '../../support/formats/formats.ts';
import { clients, fleet, healthy, traceOf } from '../../support/gateway/fleet.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { firstResult } from '../../support/management/management.ts';
import { json, type Step } from '../../support/upstream/steps.ts';

/** A refusal that names when to come back. */
const busy = (seconds: number): Step =>
  json(
    429,
    { error: { message: 'Rate limit reached', type: 'rate_limit_error' } },
    { 'retry-after': String(seconds) },
  );

describe('a combo that waits', () => {
  // The others hear of a pause a moment after the answer.
  const at = fleet(2, { oneWorker: true });
  const [one, two] = ['openai-compatible-0', 'openai-compatible-1'];
  const combo = async (name: string, targets: readonly string[], wait_ms: number) => {
    const body = { name, targets: targets.map((target) => `${target}/m-1`), options: { wait_ms } };
    const made = await at.manage('POST', '/api/combos', body);
    assert.equal(made.status, 200, made.text);
  };
  const upstream = (index: number) => {
    const found = at.upstreams[index];
    assert.ok(found);
    return found;
  };
  const ask = (model: string) => at.gateway.ask(chat.path, chat.request({ model }));
  before(async () => {
    await at.connectAll('openai-compatible');
    await combo('patient', [one], 5_000);
    await combo('patient-pair', [one, two], 5_000);
    await combo('hasty', [one], 0);
    await combo('almost', [one], 1_500);
  });

  it('retries its only target when it said to come back soon, for every format', async () => {
    for (const [format, caller] of Object.entries(clients)) {
      await at.reset(one);
      const first = upstream(0);
      let refusals = 0;
      first.respond((request) => {
        refusals += 1;
        return refusals === 1 ? [busy(1)] : healthy(request);
      });
      const { body, path } = caller('patient', at.gateway.key);
      const reply = await at.gateway.ask(path, body);
      assert.equal(reply.status, 200, `${format}: ${reply.text}`);
      assert.equal(reply.header('x-gateway-attempts'), '2');
      const [before, after] = first.requests;
      assert.ok(before && after);
      assert.ok(after.arrivedAt - before.arrivedAt >= 990, 'no sooner than it was told');
      const { attempts } = await traceOf(at, reply);
      assert.deepEqual(
        attempts.map(({ outcome, status }) => [status, outcome]),
        [
          [429, 'failed'],
          [200, 'answered'],
        ],
      );
    }
  });

  it('ignores a wait of millions of years, and does not pass it on', async () => {
    await at.reset(one);
    upstream(0).always(
      json(
        429,
        { error: { message: 'Rate limit reached', type: 'rate_limit_error' } },
        {
          'retry-after': '99999999999999',
          'x-ratelimit-remaining-requests': '0',
          'x-ratelimit-limit-requests': '10',
          'x-ratelimit-reset-requests': '99999999999999s',
        },
      ),
    );
    const refused = await ask(`${one}/m-1`);
    assert.equal(refused.status, 429);
    const month = 31 * 86_400;
    const wait = Number(refused.header('retry-after'));
    assert.ok(wait > 0 && wait <= month, `retry-after: ${wait}`);
    const latest = Date.now() + (month + 60) * 1000;
    for (const path of [
      `/api/connections/${one}`,
      '/api/quota?expand=resources',
      '/api/services?expand=resources',
    ]) {
      const shown = await at.manage('GET', path);
      assert.equal(shown.status, 200, shown.text);
      for (const [time] of shown.text.matchAll(/\d{4,6}-\d\d-\d\dT[\d:.]+Z/g))
        assert.ok(Date.parse(time) <= latest, `${path}: ${time}`);
    }
    await at.reset(one);
  });

  it('waits for the first of its targets that recovers, after an earlier request found them busy', async () => {
    await at.reset(one);
    await at.reset(two);
    upstream(0).always(busy(30));
    upstream(1).always(busy(1));
    const refused = await ask(`${one}/m-1`);
    assert.equal(refused.status, 429);
    assert.equal((await ask(`${two}/m-1`)).status, 429);
    for (const index of [0, 1]) upstream(index).respond(() => [json(200, chat.answer())]);
    const reply = await ask('patient-pair');
    assert.deepEqual(
      [reply.status, reply.header('x-gateway-connection'), reply.header('x-gateway-attempts')],
      [200, two, '1'],
    );
    assert.equal(upstream(0).requests.length, 0, 'who named a later time is not asked');
    await at.reset(one);
  });

  it('answers at once with the time to come back if it does not wait, or not that long', async () => {
    for (const [name, seconds] of [
      ['hasty', 300],
      ['patient', 300],
    ] as const) {
      await at.reset(one);
      upstream(0).always(busy(seconds));
      const begun = performance.now();
      const reply = await ask(name);
      assert.equal(reply.status, 429, name);
      assert.ok(Number(reply.header('retry-after')) >= 1, name);
      assert.ok(performance.now() - begun < seconds * 1000, `${name} took its time`);
      assert.equal(upstream(0).requests.length, 1, name);
      const again = await ask(name);
      assert.equal(again.status, 429);
      assert.equal(upstream(0).requests.length, 1, `${name} is not sent before its time`);
    }
    await at.reset(one);
  });

  it('waits no longer in total than its option allows', async () => {
    await at.reset(one);
    upstream(0).always(busy(1));
    const reply = await ask('almost');
    assert.equal(reply.status, 429);
    assert.equal(upstream(0).requests.length, 2, 'it waited once, and had no time left for another');
    await at.reset(one);
  });

  it('keeps its reservation while it waits, and releases it when the client leaves', async () => {
    const made = await at.manage('POST', '/api/budgets', {
      scope: 'combo',
      subject: 'patient',
      metric: 'concurrency',
      limit: 1,
    });
    assert.equal(made.status, 200, made.text);
    const budget = `/api/budgets/${String(firstResult(made)['id'])}`;
    const open = async () => (await at.manage('GET', budget)).json()['reserved'];
    await at.reset(one);
    upstream(0).script([busy(4)], [json(200, chat.answer())]);
    const client = await at.gateway.client();
    client.send({
      path: chat.path,
      headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
      body: JSON.stringify(chat.request({ model: 'patient' })),
    });
    await upstream(0).request(0);
    await waitFor('the account to pause', async () => (await at.connection(one)).condition.state !== 'ready');
    assert.equal(await open(), 1);
    const refused = await ask('patient');
    assert.equal(refused.status, 429);
    assert.match(refused.text, /at the same time of the combo/);
    client.destroy();
    await waitFor('the place', async () => (await open()) === 0);
    await waitFor('its row in the ledger', async () =>
      (await at.gateway.entries()).some(
        ({ attempts, outcome, requested_model, status }) =>
          attempts === 1 && requested_model === 'patient' && outcome === 'aborted' && status === 499,
      ),
    );
    assert.equal(upstream(0).requests.length, 1);
    await at.manage('DELETE', budget);
  });
});
