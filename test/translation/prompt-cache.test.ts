import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { agentSessions, type SessionRequest } from '../support/agents/agent-sessions.ts';
import type { Reply } from '../support/clients/client.ts';
import { type LedgerLine, rowsOf } from '../support/gateway/gateway.ts';
import { setting } from '../support/gateway/setting.ts';
import { messagesAnswer } from '../support/upstream/answers.ts';
import { cachingVendor, promptTokens } from '../support/upstream/caching-vendor.ts';
import { json } from '../support/upstream/steps.ts';

const at = setting();
const [session] = agentSessions;
const model = 'marked/claude-sonnet-5';
const sentBodies = () => at.upstream.requests.map(({ body }) => JSON.parse(body.toString()));
const marksIn = (body: unknown) => JSON.stringify(body).split('"cache_control"').length - 1;
const answered = json(200, messagesAnswer());

async function ask({ body, path }: SessionRequest): Promise<Reply> {
  const reply = await at.gateway.ask(path, body);
  assert.equal(reply.status, 200, reply.text);
  return reply;
}

/** Runs a session against a vendor whose cache is empty. */
async function run(requests: readonly SessionRequest[]) {
  const seen = cachingVendor(at.upstream);
  const replies: Reply[] = [];
  for (const request of requests) replies.push(await ask(request));
  return { seen, rows: await rowsOf(at.gateway, replies) };
}

function sum(rows: readonly LedgerLine[], of: 'cost_usd' | 'cache_savings_usd'): number {
  return rows.reduce((total, row) => total + (row[of] ?? Number.NaN), 0);
}

describe('prompt caching for clients that set no marks', () => {
  before(async () => {
    const connect = (name: string, ...more: string[]) =>
      at.gateway.cliJson(
        ...['provider', 'add', 'anthropic', '--name', name, '--base-url', at.upstream.url],
        ...['--api-key', 'upstream-secret', '--default-model', 'claude-sonnet-5', ...more],
      );
    await connect('marked');
    await connect('bare', '--prompt-cache-marks', 'off');
    const combo = ['combo', 'create', 'unmarked', '--target', model, '--prompt-cache-marks', 'off'];
    await at.gateway.cliJson(...combo);
  });

  for (const { asides, steps, tool } of agentSessions) {
    it(`reads every step of ${tool} from the second on out of the cache, and costs less than half`, async () => {
      const { key } = at.gateway;
      const marked = await run(steps(model, key));
      for (const [index, { marks, usage }] of marked.seen.entries()) {
        assert.ok(marks >= 3 && marks <= 4, `step ${index} has ${marks} marks`);
        const earlier = marked.seen[index - 1];
        if (earlier !== undefined) assert.equal(usage.cache_read_input_tokens, promptTokens(earlier));
      }
      const bare = await run(steps('bare/claude-sonnet-5', key));
      assert.ok(bare.seen.every(({ marks }) => marks === 0));
      const [cost, bareCost] = [sum(marked.rows, 'cost_usd'), sum(bare.rows, 'cost_usd')];
      assert.ok(cost < bareCost / 2, `${cost} against ${bareCost}`);
      const saved = sum(marked.rows, 'cache_savings_usd');
      assert.ok(Math.abs(bareCost - cost - saved) < 1e-9, `${bareCost} - ${cost} is not ${saved}`);
      assert.equal(sum(bare.rows, 'cache_savings_usd'), 0);
      await run(asides(model, key));
    });
  }

  it('marks nothing in a single question', async () => {
    const { seen } = await run([...(session?.asides(model, '') ?? [])]);
    assert.deepEqual(
      seen.map(({ marks }) => marks),
      [0],
    );
  });

  it('is turned off by a combo', async () => {
    const { seen } = await run(session?.steps('unmarked', '').slice(0, 2) ?? []);
    assert.deepEqual(
      seen.map(({ marks }) => marks),
      [0, 0],
    );
  });

  it('changes nothing in a request of Anthropic’s own format', async () => {
    at.upstream.always(answered);
    const messages = [{ role: 'user', content: 'word '.repeat(5_000) }];
    const tools = [{ name: 'read', input_schema: { type: 'object' } }];
    await ask({ path: '/v1/messages', body: { model, max_tokens: 9, messages, tools } });
    assert.deepEqual(sentBodies(), [{ model: 'claude-sonnet-5', max_tokens: 9, messages, tools }]);
  });

  it('leaves a client’s own marks as the only ones', async () => {
    at.upstream.always(answered);
    const [step] = session?.steps(model, '') ?? [];
    const text = 'word '.repeat(5_000);
    const messages = [
      { role: 'system', content: [{ type: 'text', text, cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      { role: 'user', content: 'hi' },
    ];
    await ask({ path: '/v1/chat/completions', body: { ...step?.body, messages } });
    const [sent] = sentBodies();
    assert.equal(marksIn(sent), 1);
    assert.deepEqual(sent.system[0].cache_control, { type: 'ephemeral', ttl: '1h' });
  });

  it('keeps the latest four of more marks than Anthropic takes, and names the others', async () => {
    at.upstream.always(answered);
    const text = (index: number, type: string) => ({ type, text: `word ${index}` });
    const mark = { cache_control: { type: 'ephemeral' } };
    const point = { prompt_cache_breakpoint: { mode: 'explicit' } };
    const roles = ['user', 'assistant', 'user', 'assistant', 'user'] as const;
    const chat = roles.map((role, index) => ({ role, content: [{ ...text(index, 'text'), ...mark }] }));
    const tool = { type: 'function', function: { name: 'read', parameters: {} }, ...mark };
    const calls = [{ id: 'c', type: 'function', function: { name: 'read', arguments: '{}' } }];
    const result = { role: 'tool', tool_call_id: 'c', content: [{ ...text(9, 'text'), ...mark }] };
    const input = [0, 1, 2, 3, 4, 5].map((index) => ({
      role: 'user',
      content: [{ ...text(index, 'input_text'), ...point }],
    }));
    const asked: [path: string, body: object, word: string][] = [
      ['/v1/chat/completions', { messages: chat }, 'cache_control'],
      [
        '/v1/chat/completions',
        { tools: [tool], messages: [...chat, { role: 'assistant', tool_calls: calls }, result] },
        'cache_control',
      ],
      ['/v1/responses', { input }, 'prompt_cache_breakpoint'],
    ];
    for (const [path, body, word] of asked)
      for (const name of [model, 'bare/claude-sonnet-5']) {
        const reply = await ask({ path, body: { model: name, ...body } });
        assert.equal(reply.header('x-gateway-dropped'), word);
        const sent = sentBodies().at(-1);
        assert.equal(marksIn(sent), 4, JSON.stringify(sent));
        const { content } = sent.messages.at(-1);
        assert.ok(marksIn(content) >= 1 && marksIn([sent.tools, sent.messages[0].content[0]]) === 0);
      }
  });

  it('silently omits marks if a server refuses them', async () => {
    const message = 'system.0.cache_control: Extra inputs are not permitted';
    const refused = json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
    at.upstream.script([refused], [answered], [answered]);
    const [first, second] = session?.steps('marked/claude-strict', '') ?? [];
    assert.ok(first !== undefined && second !== undefined);
    const replies = [await ask(first), await ask(second)];
    assert.deepEqual(sentBodies().map(marksIn), [3, 0, 0]);
    assert.deepEqual(
      replies.map((reply) => [reply.header('x-gateway-attempts'), reply.header('x-gateway-dropped')]),
      [
        ['2', undefined],
        ['1', undefined],
      ],
    );
  });

  it('reports the cache key if no marks replace it', async () => {
    at.upstream.always(answered);
    const body = { messages: [{ role: 'user', content: 'hi' }], prompt_cache_key: 'k' };
    const dropped = async (name: string) =>
      (await ask({ path: '/v1/chat/completions', body: { ...body, model: name } })).header(
        'x-gateway-dropped',
      );
    assert.equal(await dropped('bare/claude-sonnet-5'), 'prompt_cache_key');
    assert.equal(await dropped(model), undefined);
    assert.equal(await dropped('marked/claude-strict'), 'prompt_cache_key');
  });

  it('shows what the cache read, stored and saved for a request', async () => {
    const { rows } = await run(session?.steps(model, '').slice(0, 2) ?? []);
    const told = await Promise.all(rows.map(({ id }) => at.gateway.cli('explain', id)));
    assert.match(
      told[0]?.stdout ?? '',
      /Prompt cache: 0 tokens read from it, \d+ stored in it: \$[\d.]+ more than without it/,
    );
    assert.match(
      told[1]?.stdout ?? '',
      /Prompt cache: \d{4,} tokens read from it, \d+ stored in it: \$[\d.]+ saved/,
    );
  });
});
