import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import OpenAI from 'openai';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatAnswer, responsesAnswer, responsesStream } from '../../support/upstream/answers.ts';
import { body, chunk, end, json, open, stream } from '../../support/upstream/steps.ts';

/** Responses that a provider keeps, reached through the gateway. */
const at = setting();
const client = (key = at.gateway.key) =>
  new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: key, maxRetries: 0 });
const answer = (id: string, more: object = {}) => json(200, { ...responsesAnswer(), id, ...more });
const events = (id: string) => responsesStream().text.replaceAll('resp_1', id);
/** Asks for a response at the second of two accounts. */
const made = async (id: string, more: object = {}) => {
  at.upstream.always(answer(id));
  const asked = await at.gateway.ask('/v1/responses', { model: 'second/m-1', input: 'One?', ...more });
  assert.equal(asked.status, 200, asked.text);
  assert.equal((await at.upstream.request()).header('authorization'), 'Bearer second-secret');
};
const lines = () =>
  at.upstream.requests.map((seen) => `${seen.method} ${seen.path} ${seen.header('authorization')?.slice(7)}`);
const send = (method: string, path: string, key = at.gateway.key) =>
  at.gateway.send({ method, path: `/v1/responses/${path}`, headers: bearer(key) });
const otherKey = async (name: string) => {
  const key = String((await at.gateway.cliJson('keys', 'add', name))['key']);
  await waitFor(
    'the key',
    async () =>
      (await at.gateway.send({ method: 'GET', path: '/v1/models', headers: bearer(key) })).status === 200,
  );
  return key;
};

describe('a response that its provider keeps', () => {
  before(() =>
    at.gateway.connect({
      provider: 'openai',
      name: 'second',
      baseUrl: at.upstream.url,
      apiKey: 'second-secret',
    }),
  );

  it('is continued at the account that made it, whichever is preferred', async () => {
    for (const [id, first] of [
      ['resp_whole', answer('resp_whole')],
      ['resp_streamed', stream(events('resp_streamed'))],
      ['8fd1f2a0-uuid', answer('8fd1f2a0-uuid', { previous_response_id: 'resp_other' })],
    ] as const) {
      at.upstream.script([first], [answer('resp_next')], [answer('resp_last')]);
      const streams = id === 'resp_streamed';
      await at.gateway.ask('/v1/responses', { model: 'second/m-1', input: 'One?', stream: streams });
      const body = `{"model":"openai/m-1", "previous_response_id":"${id}","input":"Two?"}`;
      assert.equal((await at.gateway.ask('/v1/responses', body)).status, 200);
      await at.gateway.ask('/v1/responses', body.replace(id, 'resp_next'));
      assert.deepEqual(lines(), Array(3).fill('POST /v1/responses second-secret'));
      const sent = (await (await at.upstream.request(1)).whole).toString();
      assert.equal(sent, body.replace('openai/m-1', 'm-1'), 'byte for byte');
    }
    at.upstream.always(answer('resp_x'));
    await at.gateway.ask('/v1/responses', {
      model: 'openai/m-1',
      previous_response_id: 'resp_unseen',
      input: 'x',
    });
    assert.deepEqual(lines(), ['POST /v1/responses upstream-secret'], 'one that the gateway has not seen');
  });

  it('is continued there too where a combo takes the accounts in turn', async () => {
    const { key } = JSON.parse(await readFile(join(at.gateway.dataDir, 'run.json'), 'utf8'));
    const combo = await at.gateway.send({
      path: '/api/combos',
      headers: {
        host: `127.0.0.1:${at.gateway.port}`,
        'x-auth-token': key,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        name: 'turns',
        strategy: 'round-robin',
        options: { affinity: false },
        targets: [{ target: 'resp/m-1' }, { target: 'second/m-1' }],
      }),
    });
    assert.equal(combo.status, 200, combo.text);
    await waitFor('the combo', async () => {
      at.upstream.always(answer('resp_first'));
      return (await at.gateway.ask('/v1/responses', { model: 'turns', input: 'x' })).status === 200;
    });
    const accounts = new Set<string>();
    for (let turn = 0; turn < 6; turn += 1) {
      at.upstream.script([answer(`resp_t${turn}`)], [answer(`resp_u${turn}`)], [answer(`resp_v${turn}`)]);
      const ask = (more: object) => at.gateway.ask('/v1/responses', { model: 'turns', input: 'x', ...more });
      await ask({});
      assert.equal((await ask({ previous_response_id: `resp_t${turn}` })).status, 200);
      assert.equal((await ask({ previous_response_id: `resp_u${turn}` })).status, 200);
      const [first, ...others] = lines();
      accounts.add(first ?? '');
      for (const other of others) assert.equal(other, first);
    }
    assert.equal(accounts.size, 2);
  });

  it('is not continued by another key, or where its account does not serve the model', async () => {
    await made('resp_mine');
    at.upstream.always(answer('resp_x'));
    const theirs = client(await otherKey('stranger'));
    for (const ask of [
      () => theirs.responses.create({ model: 'second/m-1', previous_response_id: 'resp_mine', input: 'x' }),
      () => client().responses.create({ model: 'resp/m-1', previous_response_id: 'resp_mine', input: 'x' }),
      () => client().responses.create({ model: 'up/m-1', previous_response_id: 'resp_mine', input: 'x' }),
    ])
      await assert.rejects(
        ask(),
        (error) => error instanceof OpenAI.BadRequestError && error.code === 'previous_response_not_found',
      );
    assert.equal(at.upstream.requests.length, 0);
  });

  it('is read, listed, cancelled and deleted there, by the key that made it', async () => {
    await made('resp_mine2');
    const list = { object: 'list', data: [{ id: 'msg_7', type: 'message' }], has_more: false };
    at.upstream.script(
      [answer('resp_mine2', { extra: 'kept' })],
      [json(200, list)],
      [answer('resp_mine2', { status: 'cancelled' })],
      [json(200, { id: 'resp_mine2', object: 'response', deleted: true })],
    );
    const read = await send('GET', 'resp_mine2?include[]=reasoning.encrypted_content&key=sk-x');
    assert.deepEqual([read.json()['extra'], read.json()['model']], ['kept', 'second/m-1']);
    assert.match(read.header('x-request-id') ?? '', /^req_0/);
    assert.equal(read.header('x-gateway-provider'), 'openai');
    const items = await client().responses.inputItems.list('resp_mine2', { limit: 2, order: 'asc' });
    assert.equal(items.data[0]?.id, 'msg_7');
    assert.equal((await client().responses.cancel('resp_mine2')).status, 'cancelled');
    await client().responses.delete('resp_mine2');
    assert.deepEqual(lines(), [
      'GET /v1/responses/resp_mine2?include%5B%5D=reasoning.encrypted_content second-secret',
      'GET /v1/responses/resp_mine2/input_items?limit=2&order=asc second-secret',
      'POST /v1/responses/resp_mine2/cancel second-secret',
      'DELETE /v1/responses/resp_mine2 second-secret',
    ]);
    assert.equal((await send('GET', 'resp_mine2')).status, 404, 'forgotten');
    assert.equal(at.upstream.requests.length, 4);
  });

  it('exists for no other key', async () => {
    await made('resp_mine3');
    at.upstream.always(answer('resp_mine3'));
    const key = await otherKey('nosy');
    for (const [method, path] of [
      ['GET', 'resp_mine3'],
      ['GET', 'resp_mine3/input_items'],
      ['POST', 'resp_mine3/cancel'],
      ['DELETE', 'resp_mine3'],
    ] as const)
      assert.equal((await send(method, path, key)).status, 404, method);
    assert.equal(at.upstream.requests.length, 0);
    assert.equal((await send('GET', 'resp_mine3')).status, 200);
  });

  it('is streamed on while it is made, and a break is no clean end', async () => {
    await made('resp_bg', { background: true });
    const text = events('resp_bg');
    at.upstream.script([stream(text, 'byte')]);
    const told = await client().responses.retrieve('resp_bg', { stream: true, starting_after: 3 });
    const types: string[] = [];
    for await (const { type } of told) types.push(type);
    assert.equal(types.at(-1), 'response.completed');
    assert.match(lines()[0] ?? '', /resp_bg\?(?=.*stream=true)(?=.*starting_after=3)/);
    const half = text.slice(0, text.length / 2);
    const named = (said: string) => said.replaceAll('"m-1"', '"second/m-1"');
    at.upstream.script([open(), chunk(half), ({ socket }) => void setTimeout(() => socket.destroy(), 50)]);
    const cut = await send('GET', 'resp_bg?stream=true');
    assert.deepEqual([cut.end, cut.text], ['cut', named(half)]);
    at.upstream.script([open(), chunk(half), end()]);
    assert.equal((await send('GET', 'resp_bg?stream=true')).text, named(half));
  });

  it('is remembered from a stream that its client left', async () => {
    const text = events('resp_left');
    at.upstream.script([
      open(),
      chunk(text.slice(0, text.indexOf('lo, '))),
      () => delay(60_000, null, { ref: false }),
    ]);
    const caller = await at.gateway.client();
    await caller.send({
      path: '/v1/responses',
      headers: { ...bearer(at.gateway.key), 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'second/m-1', input: 'x', stream: true, background: true }),
    });
    await (await caller.open()).until('Hel');
    caller.destroy();
    at.upstream.always(answer('resp_left'));
    assert.equal((await send('GET', 'resp_left')).status, 200);
  });

  it('has its provider’s errors, in the client’s dialect, without the credential', async () => {
    await made('resp_err');
    at.upstream.script(
      [
        json(404, {
          error: { message: 'No response resp_err', type: 'invalid_request_error', param: 'id', code: null },
        }),
      ],
      [body(500, 'second-secret', { 'content-type': 'text/html' })],
      [body(302, '', { location: '/x' })],
    );
    const missing = await send('GET', 'resp_err');
    assert.deepEqual([missing.status, (missing.json()['error'] as { param: string }).param], [404, 'id']);
    for (const status of [500, 502]) {
      const reply = await send('GET', 'resp_err');
      assert.equal(reply.status, status);
      assert.doesNotMatch(reply.text, /second-secret/);
      assert.equal(typeof (reply.json()['error'] as { message: string }).message, 'string');
    }
  });

  it('is not remembered where it is not kept', async () => {
    await made('resp_unkept', { store: false });
    assert.equal((await send('GET', 'resp_unkept')).status, 404);
  });

  it('is remembered over a restart, without its content', async () => {
    await made('resp_before');
    // Rows are on the disk within a tenth of a second.
    await delay(400);
    await at.gateway.kill();
    await at.gateway.restart();
    at.upstream.always(answer('resp_before'));
    assert.equal((await send('GET', 'resp_before')).status, 200);
    await at.gateway.ask('/v1/responses', {
      model: 'openai/m-1',
      previous_response_id: 'resp_before',
      input: 'x',
    });
    assert.match(lines().at(-1) ?? '', /second-secret$/);
  });
});

describe('a response that the gateway keeps', () => {
  it('is streamed again, from any event on', async () => {
    at.upstream.always(json(200, chatAnswer({ text: ['Two.'] })));
    const { id } = await client().responses.create({ model: 'up/m-1', input: 'One?' });
    const eventsFrom = async (query: { starting_after?: number }) => {
      const told: { type: string; sequence_number: number }[] = [];
      for await (const event of await client().responses.retrieve(id, { stream: true, ...query }))
        told.push(event);
      return told;
    };
    const all = await eventsFrom({});
    assert.deepEqual([all[0]?.type, all.at(-1)?.type], ['response.created', 'response.completed']);
    assert.deepEqual(
      all.map(({ sequence_number }) => sequence_number),
      all.map((_, index) => index),
    );
    assert.deepEqual(await eventsFrom({ starting_after: 4 }), all.slice(5));
    assert.equal((await send('GET', `${id}?stream=true&starting_after=x`)).status, 400);
    assert.equal((await send('GET', `${id}?stream=true&starting_after=999`)).text, 'data: [DONE]\n\n');
  });

  it('is not found under an unknown id, for any operation', async () => {
    for (const [method, path] of [
      ['GET', 'resp_none'],
      ['GET', 'resp_none?stream=true'],
      ['GET', 'resp_none/input_items'],
      ['POST', 'resp_none/cancel'],
      ['DELETE', 'resp_none'],
    ] as const) {
      const reply = await send(method, path);
      assert.equal(reply.status, 404);
      assert.match(String((reply.json()['error'] as { message: string }).message), /resp_none/);
    }
  });
});
