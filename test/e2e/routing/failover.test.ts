import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { faults } from '../../../src/health/faults.ts';
import { clients, fleet, healthy, healthyFor, preambleFor, traceOf } from '../../support/gateway/fleet.ts';
import { type FaultExample, faultExamples } from '../../support/upstream/faults.ts';
import {
  chunk,
  end,
  fin,
  hang,
  head,
  json,
  open,
  resetNow,
  type Step,
  stream,
} from '../../support/upstream/steps.ts';

const formats = Object.entries(clients);
const answerOf = ({ headers, message, status, type }: FaultExample): Step =>
  json(status, { type: 'error', error: { type, code: type, message, status: type } }, { ...headers });

describe('an account that fails', () => {
  // The others hear of a pause a moment after the answer.
  const at = fleet(2, { oneWorker: true });
  const ask = (format: string, model: string) => {
    const asking = clients[format];
    assert.ok(asking);
    const { body, path } = asking(model, at.gateway.key);
    return at.gateway.ask(path, body);
  };
  before(async () => {
    for (const provider of new Set(faultExamples.map((example) => example.provider)))
      await at.connectAll(provider);
  });

  for (const example of faultExamples) {
    const { kind, message, provider, status } = example;
    const { effect, next } = faults[kind];
    it(`with ${status} "${message}" of ${provider} is ${kind}: ${next}, ${effect.to}`, async () => {
      const [first, second] = at.upstreams;
      assert.ok(first && second);
      for (const [format] of formats) {
        first.always(answerOf(example));
        second.respond(healthy);
        const reply = await ask(format, `${provider}/m-1`);
        const { condition, model_conditions } = await at.connection(`${provider}-0`);
        const states = [condition, ...model_conditions].map(({ state }) => state);
        if (next === 'stop') {
          assert.deepEqual(
            [reply.status, first.requests.length, second.requests.length],
            [status, 1, 0],
            format,
          );
          assert.deepEqual(states, ['ready']);
          continue;
        }
        assert.equal(reply.status, 200, `${format}: ${reply.text}`);
        assert.equal(reply.header('x-gateway-connection'), `${provider}-1`);
        assert.equal(reply.header('x-gateway-attempts'), '2');
        assert.ok(
          effect.to === 'none' ? !states.some((one) => one !== 'ready') : states.includes(effect.to),
          `${format}: ${states}`,
        );
        const shown = [condition, ...model_conditions].find(({ state }) => state !== 'ready');
        assert.equal(shown?.reason ?? null, effect.to === 'none' ? null : faults[kind].label);
        const { attempts } = await traceOf(at, reply);
        assert.deepEqual(
          attempts.map(({ connection, outcome, status: seen }) => [connection, seen, outcome]),
          [
            [`${provider}-0`, status, 'failed'],
            [`${provider}-1`, 200, 'answered'],
          ],
        );
        assert.equal(attempts[0]?.effect === null, effect.to === 'none');
        // Once it is known, nobody asks there.
        first.respond(healthy);
        const later = await ask(format, `${provider}/m-1`);
        const expected = effect.to === 'none' ? `${provider}-0` : `${provider}-1`;
        assert.equal(later.header('x-gateway-connection'), expected);
        if (effect.to !== 'none') {
          const { skipped } = await traceOf(at, later);
          assert.deepEqual(
            skipped.map(({ connection, reason }) => [connection, reason]),
            [[`${provider}-0`, effect.to]],
          );
        }
        await at.reset(`${provider}-0`);
      }
    });
  }

  const broken: readonly [
    what: string,
    answer: (preamble: string) => Step[],
    attempts: number,
    reason: RegExp,
  ][] = [
    ['closes the connection', () => [resetNow()], 3, /connection cut/],
    [
      'answers with a web page',
      () => [json(200, '<html>', { 'content-type': 'text/html' })],
      2,
      /no API answer/,
    ],
    [
      'ends before any content',
      (preamble) => [open(), chunk(preamble), end()],
      2,
      /connection cut|server error/,
    ],
    [
      'breaks off before any content',
      (preamble) => [open(), chunk(preamble), fin()],
      2,
      /connection cut|server error/,
    ],
    [
      'redirects',
      () => [head(302, { location: 'http://127.0.0.1:1/', 'content-length': '0' })],
      2,
      /wrong address/,
    ],
  ];
  for (const [what, answer, attempts, reason] of broken) {
    it(`because it ${what} is not seen by clients`, async () => {
      const [first, second] = at.upstreams;
      assert.ok(first && second);
      for (const provider of ['openai-compatible', 'responses-compatible', 'anthropic-compatible']) {
        for (const [format] of formats) {
          first.respond((request) => answer(preambleFor(request)));
          second.respond(healthy);
          const reply = await ask(format, `${provider}/m-1`);
          assert.equal(reply.status, 200, `${format} of ${provider}: ${reply.text}`);
          assert.equal(reply.header('x-gateway-attempts'), String(attempts), `${format} of ${provider}`);
          const { condition, model_conditions } = await at.connection(`${provider}-0`);
          const reasons = [condition, ...model_conditions].map((one) => one.reason);
          assert.ok(
            reasons.some((one) => one !== null && reason.test(one)),
            `${format} of ${provider}: ${reasons}`,
          );
          await at.reset(`${provider}-0`);
        }
      }
    });
  }

  const inStream: Readonly<Record<string, string>> = {
    'openai-compatible': `data: ${JSON.stringify({ error: { message: 'Too many', type: 'overloaded' } })}\n\n`,
    'anthropic-compatible': `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}\n\n`,
    'responses-compatible': `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', response: { id: 'r', status: 'failed', error: { code: 'server_is_overloaded', message: 'Too many' } } })}\n\n`,
    'gemini-compatible': `data: ${JSON.stringify({ error: { code: 503, message: 'Too many', status: 'UNAVAILABLE' } })}\n\n`,
  };
  for (const [provider, frame] of Object.entries(inStream)) {
    it(`inside HTTP 200 of ${provider} before any content is not seen by clients`, async () => {
      const [first, second] = at.upstreams;
      assert.ok(first && second);
      for (const [format] of formats) {
        first.respond((request) => [stream(preambleFor(request) + frame)]);
        second.respond(healthy);
        const reply = await ask(format, `${provider}/m-1`);
        assert.equal(reply.status, 200, `${format}: ${reply.text}`);
        assert.equal(reply.header('x-gateway-connection'), `${provider}-1`, format);
        const { model_conditions } = await at.connection(`${provider}-0`);
        assert.deepEqual(
          model_conditions.map(({ model, reason }) => [model, reason]),
          [['m-1', 'overloaded']],
        );
        await at.reset(`${provider}-0`);
      }
    });
  }

  it('together with all others is answered with the most useful error and what was tried, without secrets', async () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    for (const [format] of formats) {
      first.always(json(429, { error: { message: 'slow down', type: 'x' } }, { 'retry-after': '7' }));
      second.always(json(401, { error: { message: 'key upstream-secret is wrong', type: 'x' } }));
      const reply = await ask(format, 'openai-compatible/m-1');
      assert.equal(reply.status, 429, reply.text);
      assert.equal(reply.header('retry-after'), '7');
      assert.equal(reply.header('x-gateway-attempts'), '2');
      assert.match(
        reply.text,
        /slow down \(tried openai-compatible-0: 429 rate limit, openai-compatible-1: 401 credential refused\)/,
      );
      assert.doesNotMatch(reply.text, /upstream-secret/);
      const row = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([row.status, row.connection, row.attempts], [429, 'openai-compatible-0', 2]);
      for (const index of [0, 1]) await at.reset(`openai-compatible-${index}`);
    }
  });

  it('is still asked if it is the only one, unless it said when to come back', async () => {
    const [first] = at.upstreams;
    assert.ok(first);
    const model = 'openai-compatible-0/m-1';
    first.script([json(500, { error: { message: 'oh' } })], [json(500, { error: { message: 'oh' } })]);
    for (const count of [1, 2]) {
      assert.equal((await ask('chat', model)).status, 500);
      assert.equal(first.requests.length, count);
    }
    first.respond(healthy);
    assert.equal((await ask('chat', model)).status, 200);
    assert.equal((await at.connection('openai-compatible-0')).model_conditions.length, 0);
    first.always(json(503, { error: { message: 'later' } }, { 'retry-after': '30' }));
    assert.equal((await ask('chat', model)).status, 503);
    for (const [format] of formats) {
      const reply = await ask(format, model);
      assert.equal(reply.status, 503, reply.text);
      assert.match(reply.text, /openai-compatible-0 overloaded until/);
      const seconds = Number(reply.header('retry-after'));
      assert.ok(seconds > 0 && seconds <= 30, String(seconds));
    }
    assert.equal(first.requests.length, 1);
    await at.reset('openai-compatible-0');
  });

  it('is not asked again for a client that left', async () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    first.always(hang());
    second.respond(healthy);
    const client = await at.gateway.client();
    const body = JSON.stringify(clients['chat']?.('openai-compatible/m-1', '').body);
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${at.gateway.key}` };
    await client.send({ path: '/v1/chat/completions', headers, body });
    const seen = await first.request();
    client.destroy();
    await seen.closed;
    assert.equal(second.requests.length, 0);
    assert.equal((await at.connection('openai-compatible-0')).condition.state, 'ready');
  });

  it('is shown by `explain`, `health` and `quota`', async () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    const limits = {
      'x-ratelimit-limit-requests': '10',
      'x-ratelimit-remaining-requests': '4',
      'x-ratelimit-reset-requests': '1h',
    };
    first.always(json(503, { error: { message: 'too many' } }, { 'retry-after': '600' }));
    second.respond((request) => [stream(healthyFor(request), 'whole', limits)]);
    const reply = await ask('chat', 'openai-compatible/m-1');
    await traceOf(at, reply);
    const id = String(reply.header('x-request-id'));
    const explained = await at.gateway.cliJson('explain', id);
    assert.equal((explained['trace'] as { attempts: unknown[] }).attempts.length, 2);
    const prose = await at.gateway.cli('explain', id);
    assert.match(prose.stdout, /openai-compatible-0.*503.*cooling until/s);
    assert.equal((await at.gateway.cli('explain', 'req_none')).code, 1);
    const health = await at.gateway.cliJson('health');
    const accounts = health['connections'] as { name: string; model_conditions: { state: string }[] }[];
    const cooling = accounts.find(({ name }) => name === 'openai-compatible-0');
    assert.deepEqual(
      cooling?.model_conditions.map(({ state }) => state),
      ['cooling'],
    );
    const quota = await at.gateway.cliJson('quota');
    const rows = quota['quota'] as { connection: string; headroom: number | null }[];
    assert.equal(rows.find(({ connection }) => connection === 'openai-compatible-1')?.headroom, 0.4);
    await at.reset('openai-compatible-0');
  });

  it('stays so over a restart, and with a refused credential until it is replaced', async () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    first.always(json(401, { error: { message: 'no' } }));
    second.respond(healthy);
    const answered = await ask('chat', 'openai-compatible/m-1');
    assert.equal(answered.status, 200);
    // The trace is written after the state.
    await traceOf(at, answered);
    await at.gateway.kill();
    await at.gateway.restart();
    const before = await at.connection('openai-compatible-0');
    assert.equal(before.condition.state, 'needs-attention');
    const change = { api_key: 'another-secret' };
    const reply = await at.manage('PATCH', `/api/connections/${before.id}`, change);
    assert.equal(reply.status, 200, reply.text);
    assert.equal((await at.connection('openai-compatible-0')).condition.state, 'ready');
  });
});
