import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { chat, type Format, formats, messages } from '../../support/formats/formats.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { hang, json, pause, stall, stream } from '../../support/upstream/steps.ts';

type Row = Record<string, unknown>;

/** m-1 costs a cent per thousand tokens, in and out. */
const prices = { '*/m-1': { input: 10, output: 10 } };
const at = setting({ config: { prices } });

let made = 0;

/** A new key with limits, as `keys add` takes them. */
async function keyWith(...flags: string[]): Promise<{ key: string; id: string; name: string }> {
  made += 1;
  const row = await at.gateway.cliJson('keys', 'add', `key-${made}`, ...flags);
  return { key: String(row['key']), id: String(row['id']), name: `key-${made}` };
}

async function budgets(): Promise<Row[]> {
  return (await at.gateway.cliJson('budgets', 'list'))['budgets'] as Row[];
}

async function budgetOf(keyId: string, metric = 'usd'): Promise<Row> {
  const found = (await budgets()).find((row) => row['subject'] === keyId && row['metric'] === metric);
  assert.ok(found);
  return found;
}

const ask = (format: Format, key: string, more: object = {}) =>
  at.gateway.ask(format.path, format.request(more), bearer(key));

function errorOf(reply: Reply): Row {
  return reply.json()['error'] as Row;
}

describe('limits over the wire', () => {
  it('200 requests at once against a limit of 100: exactly 100 are let through', async () => {
    const { id, key } = await keyWith('--rpm', '100');
    at.upstream.always(json(200, chat.answer()));
    const replies = await Promise.all(Array.from({ length: 200 }, () => ask(chat, key)));
    const count = (status: number) => replies.filter((reply) => reply.status === status).length;
    assert.deepEqual([count(200), count(429)], [100, 100]);
    assert.equal(at.upstream.requests.length, 100);
    const { remaining, reserved, spent } = await budgetOf(id, 'requests');
    assert.deepEqual([spent, reserved, remaining], [100, 0, 0]);
  });

  it('200 requests at once against a budget for 100: overspend is no more than the estimation error', async () => {
    // Each is estimated at some tokens of input and 1,000 of output, and uses 1,000 in all: a cent.
    const { id, key } = await keyWith('--budget-usd', '1', '--budget-period', 'day');
    const usage = { prompt_tokens: 10, completion_tokens: 990, total_tokens: 1000 };
    at.upstream.always(pause(50), json(200, { ...chat.answer(), usage }));
    const replies = await Promise.all(
      Array.from({ length: 200 }, () => ask(chat, key, { max_tokens: 1000 })),
    );
    const served = replies.filter(({ status }) => status === 200).length;
    assert.equal(served + replies.filter(({ status }) => status === 402).length, 200);
    const { reserved, spent } = await budgetOf(id);
    assert.equal(reserved, 0, 'nothing is stuck');
    assert.ok(Math.abs(Number(spent) - served / 100) < 1e-9, `${served} cost ${String(spent)}`);
    assert.ok(served >= 90 && Number(spent) <= 1, `${served} were served, and cost ${String(spent)}`);
  });

  for (const format of formats) {
    it(`of requests are reported in the dialect of ${format.name}, with what is left`, async () => {
      const { key, name } = await keyWith('--rpm', '2', '--tpm', '1000000');
      at.upstream.always(
        json(200, format.answer(), {
          'x-ratelimit-limit-requests': '5',
          'anthropic-ratelimit-requests-limit': '5',
        }),
      );
      const first = await ask(format, key);
      const header = (reply: Reply, what: string, of: string) =>
        reply.header(
          format.name === 'messages' ? `anthropic-ratelimit-${of}-${what}` : `x-ratelimit-${what}-${of}`,
        );
      assert.equal(first.status, 200, first.text);
      assert.deepEqual(
        [header(first, 'limit', 'requests'), header(first, 'remaining', 'requests')],
        ['2', '1'],
      );
      assert.equal(header(first, 'limit', 'tokens'), '1000000');
      const reset = header(first, 'reset', 'requests') ?? '';
      assert.match(reset, format.name === 'messages' ? /^\d{4}-\d\d-\d\dT[\d:]+Z$/ : /^1m\ds$/);
      await ask(format, key);
      const refused = await ask(format, key);
      assert.equal(refused.status, 429);
      assert.ok(Number(refused.header('retry-after')) >= 1 && Number(refused.header('retry-after')) <= 62);
      assert.equal(header(refused, 'remaining', 'requests'), '0');
      const { message, type } = errorOf(refused);
      assert.match(
        String(message),
        new RegExp(
          `limit of 2 requests per minute of the key "${name}".*2 requests spent.*room again from \\d{4}-`,
        ),
      );
      assert.equal(type, 'rate_limit_error');
      const entry = await at.gateway.entry(refused.header('x-request-id'));
      assert.deepEqual([entry.status, entry.attempts, entry.error?.code], [429, 0, 'rate_limit_exceeded']);
    });

    it(`of money are reported in the dialect of ${format.name}, as final`, async () => {
      const { key } = await keyWith('--budget-usd', '0.01', '--budget-period', 'month');
      at.upstream.always(json(200, format.answer()));
      const limit = format.name === 'responses' ? { max_output_tokens: 5000 } : { max_tokens: 5000 };
      const refused = await ask(format, key, limit);
      assert.equal(refused.status, 402, refused.text);
      assert.equal(refused.header('x-should-retry'), 'false');
      const { code, message, type } = errorOf(refused);
      assert.match(String(message), /budget of 0\.01 USD per month of the key .* may use 0\.05/);
      assert.equal(type, format.name === 'messages' ? 'billing_error' : 'insufficient_quota');
      if (format.name !== 'messages') assert.equal(code, 'insufficient_quota');
      assert.equal(at.upstream.requests.length, 0);
    });

    it(`count a stream of ${format.name} by its reported usage`, async () => {
      const { id, key } = await keyWith('--tpm', '100000');
      at.upstream.script([stream(format.stream().text)]);
      const whole = await ask(format, key, { stream: true });
      assert.equal(whole.status, 200);
      const { usage } = await at.gateway.entry(whole.header('x-request-id'));
      const tokens = Object.values(usage ?? {}).reduce((sum, amount) => sum + amount, 0);
      assert.ok(tokens > 0);
      await waitFor('the count', async () => (await budgetOf(id, 'tokens'))['reserved'] === 0);
      assert.equal((await budgetOf(id, 'tokens'))['spent'], tokens);
    });
  }

  it('reserve as much for each answer that a request asks for', async () => {
    const { key } = await keyWith('--tpm', '5000');
    const words = { model: 'up/m-1', max_tokens: 1500 };
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    const gemini = { contents, generationConfig: { maxOutputTokens: 1500, candidateCount: 4 } };
    for (const [path, body, tokens] of [
      [chat.path, chat.request({ max_tokens: 1500, n: 4 }), /may use 60\d\d tokens/],
      ['/v1/completions', { ...words, prompt: 'hi', best_of: 4 }, /may use 60\d\d tokens/],
      ['/v1/completions', { ...words, prompt: ['hi', 'ho'], n: 2 }, /may use 60\d\d tokens/],
      ['/v1beta/models/up/m-1:generateContent', gemini, /may use 60\d\d tokens/],
      ['/v1/images/generations', { model: 'up/m-1', prompt: 'hi', n: 2 }, /may use 83\d\d tokens/],
    ] as const) {
      const refused = await at.gateway.ask(path, body, bearer(key));
      assert.equal(refused.status, 429, `${path}: ${refused.text}`);
      assert.match(String(errorOf(refused)['message']), tokens);
    }
    at.upstream.always(json(200, chat.answer()));
    const one = await ask(chat, key, { max_tokens: 1500, n: 3 });
    assert.equal(one.status, 200, one.text);
  });

  it('of concurrent requests admit the next one when one has ended', async () => {
    const { id, key } = await keyWith();
    await at.gateway.cliJson('budgets', 'set', '--key', id, '--concurrency', '1');
    const held = Promise.withResolvers<void>();
    at.upstream.script([stall(held.promise), json(200, chat.answer())], [json(200, chat.answer())]);
    const first = ask(chat, key);
    await at.upstream.request(0);
    const second = await ask(chat, key);
    assert.deepEqual([second.status, errorOf(second)['code']], [429, 'rate_limit_exceeded']);
    held.resolve();
    assert.equal((await first).status, 200);
    await waitFor('the place', async () => (await ask(chat, key)).status === 200);
  });

  it('release the reservation of a client that left before anything was sent', async () => {
    const { id, key } = await keyWith('--budget-usd', '1');
    at.upstream.always(hang());
    const client = await at.gateway.client();
    client.send({
      path: chat.path,
      headers: { 'content-type': 'application/json', ...bearer(key) },
      body: JSON.stringify(chat.request()),
    });
    await at.upstream.request(0);
    assert.ok(Number((await budgetOf(id))['reserved']) > 0);
    client.destroy();
    await waitFor('the end', async () => (await budgetOf(id))['reserved'] === 0);
    assert.equal((await budgetOf(id))['spent'], 0);
  });

  it('in USD refuse a model without a price, until its owner allows it', async () => {
    const { id, key } = await keyWith('--budget-usd', '1');
    at.upstream.always(json(200, chat.answer()));
    const refused = await ask(chat, key, { model: 'up/m-2' });
    assert.equal(refused.status, 402);
    assert.equal(refused.header('x-should-retry'), 'false');
    const message = String(errorOf(refused)['message']);
    assert.match(message, /cannot count openai-compatible\/m-2: no price is known for it/);
    assert.equal(at.upstream.requests.length, 0);
    // As the message says.
    const [, flags = ''] = /`gateway (budgets set [^`]+)`/.exec(message) ?? [];
    await at.gateway.cliJson(...flags.split(' '));
    assert.equal((await ask(chat, key, { model: 'up/m-2' })).status, 200);
    const row = await budgetOf(id);
    assert.deepEqual([row['spent'], row['unpriced_requests'], row['unpriced']], [0, 1, 'allow']);
    const { stdout } = await at.gateway.cli('budgets', 'list');
    assert.match(stdout, /1 usd per month +unknown \(1 unpriced\)/);
    assert.match((await at.gateway.cli('status')).stdout, /and 1 request \(\d+ tokens\) of unknown cost/);
  });

  it('count at most a billion of what an upstream reports, and name the request for which it did', async () => {
    const { id, key } = await keyWith('--tpm', '1000000');
    const answer = { ...chat.answer(), usage: { prompt_tokens: 1e308, completion_tokens: 7 } };
    at.upstream.always(json(200, answer));
    const reply = await ask(chat, key);
    assert.equal(reply.status, 200);
    const entry = await at.gateway.entry(reply.header('x-request-id'));
    assert.deepEqual(
      [entry.usage?.['input'], entry.usage?.['output'], entry.usage_capped],
      [1_000_000_000, 7, true],
    );
    assert.equal((await budgetOf(id, 'tokens'))['spent'], 1_000_000_007);
    assert.equal((await ask(chat, key)).status, 429);
  });

  it('of a connection hold for whoever uses it', async () => {
    const limit = (most: number) =>
      at.gateway.cliJson(
        'budgets',
        'set',
        '--connection',
        'anth',
        '--requests',
        String(most),
        '--per',
        'day',
      );
    await limit(1000);
    const sofar = (await budgets()).find(({ subject_name: name }) => name === 'anth')?.['spent'];
    assert.ok(Number(sofar) > 0, 'what the ledger has of the day counts');
    await limit(Number(sofar) + 1);
    at.upstream.always(json(200, messages.answer()));
    assert.equal((await ask(messages, at.gateway.key)).status, 200);
    const refused = await ask(messages, at.gateway.key);
    assert.equal(refused.status, 429);
    assert.match(String(errorOf(refused)['message']), /of the connection "anth"/);
    const row = (await budgets()).find(({ subject_name: name }) => name === 'anth');
    await at.gateway.cliJson('budgets', 'remove', String(row?.['id']), '--yes');
    assert.equal((await ask(messages, at.gateway.key)).status, 200);
  });

  it('are kept over a restart and over a crash, without open reservations', async () => {
    const { id, key } = await keyWith('--rpm', '1000', '--budget-usd', '1', '--budget-period', 'week');
    const usage = { prompt_tokens: 100, completion_tokens: 900, total_tokens: 1000 };
    at.upstream.always(json(200, { ...chat.answer(), usage }));
    for (let index = 0; index < 3; index += 1) {
      const reply = await ask(chat, key);
      assert.equal(reply.status, 200);
      await at.gateway.entry(reply.header('x-request-id'));
    }
    at.upstream.always(hang());
    const lost = ask(chat, key).catch(() => null);
    await at.upstream.request(0);
    assert.ok(Number((await budgetOf(id))['reserved']) > 0);
    await at.gateway.kill();
    await lost;
    await at.gateway.restart();
    const money = await budgetOf(id);
    assert.deepEqual([money['spent'], money['reserved']], [0.03, 0]);
    assert.equal((await budgetOf(id, 'requests'))['spent'], 3);
  });
});
