import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { chat } from '../../support/formats/formats.ts';
import { clients, type Fleet, fleet, healthy, traceOf } from '../../support/gateway/fleet.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { firstResult } from '../../support/management/management.ts';
import { countedInRedis, hasRedis, privateRedis } from '../../support/servers/redis.ts';
import { hang, json, pause, type Step, stall } from '../../support/upstream/steps.ts';

type Row = Record<string, unknown>;

/** m-1 costs a cent per thousand tokens, in and out. */
const prices = { '*/m-1': { input: 10, output: 10 } };

/** An answer that used a thousand tokens: a cent. */
const thousand = (): Step => {
  const usage = { prompt_tokens: 10, completion_tokens: 990, total_tokens: 1000 };
  return json(200, { ...chat.answer(), usage });
};

/** What the tests below do with combos and budgets of a fleet of OpenAI-compatible upstreams. */
function worldOf(at: Fleet) {
  const target = (index: number) => `openai-compatible-${index}/m-1`;
  const combo = async (name: string, targets: readonly string[]): Promise<void> => {
    const made = await at.manage('POST', '/api/combos', { name, targets });
    assert.equal(made.status, 200, made.text);
  };
  const limit = async (subject: string, budget: object): Promise<string> => {
    const made = await at.manage('POST', '/api/budgets', { scope: 'combo', subject, ...budget });
    assert.equal(made.status, 200, made.text);
    return String(firstResult(made)['id']);
  };
  const budget = async (id: string): Promise<Row> => (await at.manage('GET', `/api/budgets/${id}`)).json();
  return {
    target,
    combo,
    limit,
    /** What is spent, and what is set aside. */
    level: async (id: string) => {
      const { reserved, spent } = await budget(id);
      return { spent, reserved };
    },
    ask: (model: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) =>
      at.gateway.ask(chat.path, chat.request({ model, max_tokens: 100, ...more }), headers),
    all: (...steps: Step[]) => {
      for (const upstream of at.upstreams) upstream.always(...steps);
    },
    asked: () => at.upstreams.map(({ requests }) => requests.length),
  };
}

const from = (reply: Reply) => reply.header('x-gateway-connection');
const messageOf = (reply: Reply) => String((reply.json()['error'] as Row)['message']);
const requests = (most: number) => ({ metric: 'requests', period: 'day', limit: most });

describe('the budget of a combo', () => {
  const at = fleet(2, { config: { prices } });
  const { all, ask, asked, combo, level, limit, target } = worldOf(at);
  before(() => at.connectAll('openai-compatible'));
  /** Whether the log has told of a budget. */
  const logged = (event: string, what: RegExp) =>
    at.gateway
      .output()
      .stderr.split('\n')
      .some((line) => line.includes(`"event":"budget.${event}"`) && what.test(line));

  it('in USD stops what would cost more, with a threshold before', async () => {
    await combo('money', [target(0), target(1)]);
    const id = await limit('money', { metric: 'usd', period: 'day', limit: 0.1, soft_percent: 50 });
    const watching = await at.gateway.client();
    const run = JSON.parse(await readFile(join(at.gateway.dataDir, 'run.json'), 'utf8')) as { key: string };
    const headers = { host: `127.0.0.1:${at.gateway.port}`, 'x-auth-token': run.key };
    await watching.send({ method: 'GET', path: '/api/live?topics=logs', headers });
    const live = await watching.open();
    all(thousand());
    for (let index = 0; index < 9; index += 1) assert.equal((await ask('money')).status, 200);
    await waitFor('the threshold in the log', () =>
      logged('soft', /50 % of the budget of 0\.1 USD per day of the combo/),
    );
    const refused = await ask('money', { max_tokens: 2000 });
    assert.equal(refused.status, 402, refused.text);
    assert.match(
      messageOf(refused),
      /does not fit in the budget of 0\.1 USD per day of the combo "money": .* 0\.01 USD remain, with 0\.09 USD spent\. The window ends at .*--combo money --usd N --per day/,
    );
    assert.equal(refused.header('x-should-retry'), 'false');
    assert.ok(Number(refused.header('retry-after')) > 0, 'until tomorrow');
    const { attempts, candidates, skipped } = await traceOf(at, refused);
    assert.deepEqual([attempts.length, candidates.length], [0, 2]);
    assert.deepEqual(
      skipped.map(({ connection, reason }) => [connection, reason]),
      [
        ['openai-compatible-0', 'budget'],
        ['openai-compatible-1', 'budget'],
      ],
    );
    assert.match(skipped[0]?.detail ?? '', /of the combo "money"/);
    const explained = await at.gateway.cli('explain', refused.header('x-request-id') ?? '');
    assert.match(
      explained.stdout,
      /Passed over openai-compatible-1[^\n]*: budget, This request does not fit in the budget of 0\.1 USD/,
    );
    await live.until('"event":"budget.soft"');
    await live.until('"event":"budget.exceeded"');
    watching.destroy();
    await waitFor('the end in the log', () => logged('exceeded', /did not fit in/));
    assert.equal(
      (await ask(target(0), { max_tokens: 2000 })).status,
      200,
      'its targets alone are not limited',
    );
    assert.deepEqual(await level(id), { spent: 0.09, reserved: 0 });
  });

  it('in USD passes over targets without a price, and refuses where no other is left', async () => {
    const unpriced = 'openai-compatible-0/m-2';
    await combo('half-priced', [unpriced, target(1)]);
    await combo('not-priced', [unpriced]);
    for (const name of ['half-priced', 'not-priced'])
      await limit(name, { metric: 'usd', period: 'day', limit: 1 });
    all(thousand());
    const reply = await ask('half-priced');
    assert.equal(reply.status, 200, reply.text);
    const { attempts, skipped } = await traceOf(at, reply);
    assert.deepEqual(
      attempts.map(({ connection }) => connection),
      ['openai-compatible-1'],
    );
    assert.deepEqual(
      skipped.map(({ connection, reason }) => [connection, reason]),
      [['openai-compatible-0', 'budget']],
    );
    assert.match(skipped[0]?.detail ?? '', /cannot count openai-compatible\/m-2: no price is known for it/);
    const refused = await ask('not-priced');
    assert.equal(refused.status, 402);
    assert.match(messageOf(refused), /of the combo "not-priced" cannot count openai-compatible\/m-2/);
  });

  it('in tokens counts input and output', async () => {
    await combo('words', [target(0)]);
    const id = await limit('words', { metric: 'tokens', period: 'hour', limit: 2500 });
    all(thousand());
    for (let index = 0; index < 2; index += 1) assert.equal((await ask('words')).status, 200);
    assert.deepEqual(await level(id), { spent: 2000, reserved: 0 });
    const refused = await ask('words', { max_tokens: 600 });
    assert.equal(refused.status, 429);
    assert.match(
      messageOf(refused),
      /does not fit in the limit of 2500 tokens per hour of the combo "words": .* 500 tokens remain, with 2000 tokens spent/,
    );
    assert.ok(Number(refused.header('retry-after')) > 60);
    assert.equal(refused.header('x-ratelimit-remaining-tokens'), '500');
  });

  it('in requests admits exactly its limit of many at once', async () => {
    await combo('many', [target(0), target(1)]);
    const id = await limit('many', requests(25));
    all(pause(20), thousand());
    const replies = await Promise.all(Array.from({ length: 60 }, () => ask('many')));
    const count = (status: number) => replies.filter((reply) => reply.status === status).length;
    assert.deepEqual([count(200), count(429)], [25, 35]);
    assert.equal(asked()[0], 25);
    assert.deepEqual(await level(id), { spent: 25, reserved: 0 });
  });

  it('in requests at the same time is free again when one has ended', async () => {
    await combo('narrow', [target(0)]);
    await limit('narrow', { metric: 'concurrency', limit: 1 });
    const gate = Promise.withResolvers<void>();
    at.upstreams[0]?.always(stall(gate.promise), thousand());
    const first = ask('narrow');
    await at.upstreams[0]?.request(0);
    const refused = await ask('narrow');
    assert.equal(refused.status, 429);
    assert.match(messageOf(refused), /1 requests? at the same time of the combo "narrow" is reached/);
    assert.equal(refused.header('retry-after'), '1');
    gate.resolve();
    assert.equal((await first).status, 200);
    await waitFor('the place', async () => (await ask('narrow')).status === 200);
  });

  it('counts requests for it by an alias or as auto', async () => {
    await combo('named', [target(0)]);
    const id = await limit('named', requests(4));
    await at.gateway.cliJson('alias', 'add', 'nickname', 'named');
    await at.gateway.cliJson('combo', 'switch', 'named');
    all(thousand());
    const models = ['named', 'nickname', 'auto', 'm-1'];
    for (const model of models) assert.equal((await ask(model)).status, 200, model);
    assert.deepEqual(await level(id), { spent: 4, reserved: 0 });
    for (const model of models) assert.equal((await ask(model)).status, 429, model);
  });

  it('is refused in every dialect', async () => {
    await combo('full', [target(0)]);
    await combo('poor', [target(0)]);
    await limit('full', requests(1));
    await limit('poor', { metric: 'usd', period: 'month', limit: 0.000_001 });
    for (const upstream of at.upstreams) upstream.respond(healthy);
    assert.equal((await ask('full', { stream: true })).status, 200);
    const says: Readonly<Record<string, readonly [limit: RegExp, budget: RegExp]>> = {
      chat: [/"rate_limit_error"/, /"insufficient_quota"/],
      responses: [/"rate_limit_error"/, /"insufficient_quota"/],
      messages: [/"rate_limit_error"/, /"billing_error"/],
      gemini: [/"code":429,.*"RESOURCE_EXHAUSTED"/, /"code":402,.*"RESOURCE_EXHAUSTED"/],
      ollama: [
        /^\{"error":"The limit of 1 request/,
        /^\{"error":"This request does not fit in the budget of /,
      ],
    };
    for (const [dialect, caller] of Object.entries(clients)) {
      const [limited, unpaid] = says[dialect] ?? [];
      assert.ok(limited && unpaid);
      for (const [name, status, shape] of [
        ['full', 429, limited],
        ['poor', 402, unpaid],
      ] as const) {
        const { body, path } = caller(name, at.gateway.key);
        const reply = await at.gateway.ask(path, body);
        assert.equal(reply.status, status, `${dialect}: ${reply.text}`);
        assert.match(reply.text, shape, dialect);
        assert.ok(reply.text.includes(`of the combo`), `${dialect}: ${reply.text}`);
        if (name === 'full') assert.ok(Number(reply.header('retry-after')) > 60, dialect);
        assert.equal(reply.header('x-should-retry'), 'false', dialect);
      }
    }
  });
});

for (const where of ['in the process', 'in Redis'] as const) {
  const skip = where === 'in Redis' && !hasRedis;
  describe(`the budget of a combo in another, counted ${where}`, { skip }, () => {
    const redis = where === 'in Redis' ? privateRedis() : null;
    const env = (): Readonly<Record<string, string>> => (redis === null ? {} : { REDIS_URL: redis.url });
    // No answer on a busy machine is too late, so that what is counted is the same every time.
    const at = fleet(3, { config: { prices, redis: { timeout_ms: 10_000 } }, env });
    const { all, ask, asked, combo, level, limit, target } = worldOf(at);
    before(async () => {
      await at.connectAll('openai-compatible');
    });
    const reported = async () => (await countedInRedis(redis?.url ?? '', 'combo:*:requests:day'))[0];
    const used = async () => {
      const list = (await at.manage('GET', '/api/budgets?expand=resources')).json()['resources'] as Row[];
      return list
        .filter(({ metric, scope }) => metric === 'requests' && scope === 'combo')
        .reduce((sum, { spent }) => sum + Number(spent), 0);
    };

    it('counts what reaches its targets through the other one, and passes on what has no room', async () => {
      await combo('inner', [target(0)]);
      await combo('outer', ['inner', target(1)]);
      const [inside, outside] = [await limit('inner', requests(2)), await limit('outer', requests(4))];
      all(thousand());
      const replies = [];
      for (let index = 0; index < 5; index += 1) replies.push(await ask('outer'));
      assert.deepEqual(
        replies.map(({ status }) => status),
        [200, 200, 200, 200, 429],
      );
      assert.deepEqual(replies.slice(0, 4).map(from), [
        'openai-compatible-0',
        'openai-compatible-0',
        'openai-compatible-1',
        'openai-compatible-1',
      ]);
      const [, , third] = replies;
      assert.ok(third);
      const { skipped } = await traceOf(at, third);
      assert.deepEqual(
        skipped.map(({ connection, reason }) => [connection, reason]),
        [['openai-compatible-0', 'limit']],
      );
      assert.match(skipped[0]?.detail ?? '', /of the combo "inner"/);
      assert.deepEqual(await level(inside), { spent: 2, reserved: 0 });
      assert.deepEqual(await level(outside), { spent: 4, reserved: 0 });
      const direct = await ask('inner');
      assert.equal(direct.status, 429);
      assert.match(messageOf(direct), /of the combo "inner"/);
      assert.equal((await ask(target(0))).status, 200);
    });

    it('counts every combo on the way, and each request by the way that it went', async () => {
      await combo('deep', [target(0)]);
      await combo('middle', ['deep', target(1)]);
      await combo('top', ['middle', target(2)]);
      const ids = [
        await limit('deep', requests(1)),
        await limit('middle', requests(2)),
        await limit('top', requests(3)),
      ];
      all(thousand());
      const seen = [];
      for (let index = 0; index < 4; index += 1) {
        const reply = await ask('top');
        seen.push(reply.status === 200 ? from(reply) : reply.status);
      }
      assert.deepEqual(seen, ['openai-compatible-0', 'openai-compatible-1', 'openai-compatible-2', 429]);
      const levels = await Promise.all(ids.map(level));
      assert.deepEqual(
        levels.map(({ reserved, spent }) => [spent, reserved]),
        [
          [1, 0],
          [2, 0],
          [3, 0],
        ],
      );
    });

    it('is released for a target that failed', async () => {
      await combo('failing', [target(0)]);
      await combo('saved', ['failing', target(1)]);
      const usd = { metric: 'usd', period: 'day', limit: 1 };
      const [inside, outside] = [await limit('failing', usd), await limit('saved', usd)];
      const gate = Promise.withResolvers<void>();
      at.upstreams[0]?.always(stall(gate.promise), json(500, { error: { message: 'no' } }));
      at.upstreams[1]?.always(thousand());
      const asking = ask('saved');
      await at.upstreams[0]?.request(0);
      const held = await level(inside);
      assert.equal(held.spent, 0);
      assert.ok(Number(held.reserved) > 0, 'set aside at the inner one as well');
      assert.deepEqual(await level(outside), held);
      gate.resolve();
      const reply = await asking;
      assert.deepEqual([reply.status, from(reply)], [200, 'openai-compatible-1']);
      assert.deepEqual(await level(inside), { spent: 0, reserved: 0 });
      assert.deepEqual(await level(outside), { spent: 0.01, reserved: 0 });
      await at.reset('openai-compatible-0');
    });

    it('holds for many requests at once', async () => {
      await combo('small', [target(0)]);
      await combo('wide', ['small', target(1)]);
      const id = await limit('small', requests(10));
      all(pause(20), thousand());
      const replies = await Promise.all(Array.from({ length: 40 }, () => ask('wide')));
      assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
      assert.deepEqual(asked(), [10, 30, 0]);
      assert.deepEqual(await level(id), { spent: 10, reserved: 0 });
    });

    it('is free again when a client leaves', async () => {
      await combo('left', [target(0)]);
      await combo('around', ['left']);
      const id = await limit('left', { metric: 'concurrency', limit: 1 });
      at.upstreams[0]?.script([hang()], [thousand()]);
      const client = await at.gateway.client();
      client.send({
        path: chat.path,
        headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
        body: JSON.stringify(chat.request({ model: 'around' })),
      });
      await at.upstreams[0]?.request(0);
      assert.equal((await ask('around')).status, 429);
      client.destroy();
      await waitFor('the place', async () => (await level(id)).reserved === 0);
    });

    it('is read from the ledger after a restart', async () => {
      await combo('lasting', [target(0)]);
      await combo('shell', ['lasting', target(1)]);
      await combo('shell-of-shell', ['shell']);
      const ids = [await limit('lasting', requests(9)), await limit('shell', requests(9))];
      all(thousand());
      for (const model of ['shell', 'shell-of-shell', 'lasting']) {
        const reply = await ask(model);
        assert.equal(reply.status, 200);
        await at.gateway.entry(reply.header('x-request-id'));
      }
      const before = await Promise.all(ids.map(level));
      assert.deepEqual(
        before.map(({ spent }) => spent),
        [3, 2],
      );
      // A gateway reports four times a second, and is killed here.
      if (redis !== null)
        await waitFor('Redis to be told', async () => (await reported()) === (await used()));
      await at.gateway.kill();
      await at.gateway.restart();
      const after = await Promise.all(ids.map(level));
      // What a gateway was granted that is killed stays set aside.
      assert.deepEqual(
        after.map(({ spent }) => spent),
        [3, 2],
      );
    });
  });
}
