import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunningGateway, startGateway, waitFor } from '../support/gateway/gateway.ts';
import { messagesAnswer, messagesStream } from '../support/upstream/answers.ts';
import { json, type Step, stream } from '../support/upstream/steps.ts';
import { type SeenRequest, startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { type Desk, findTool, layDesk, runTool } from './tool.ts';

/** Claude Code itself, through the gateway to a scripted Anthropic. */
const tool = findTool('claude');
const word = 'periwinkle';
const model = 'claude-sonnet-4-5';
const usage = { input_tokens: 100, cache_read_input_tokens: 9000, output_tokens: 40 };
/** Dollars a million tokens of this model: 3 in, 0.3 from the cache, 15 out. */
const cost = (100 * 3 + 9000 * 0.3 + 40 * 15) / 1e6;

interface Message {
  role: string;
  content: string | Record<string, unknown>[];
}

interface Body {
  model: string;
  stream?: boolean;
  messages: Message[];
  tools?: { name: string }[];
}

const bodyOf = ({ body }: SeenRequest): Body => JSON.parse(body.toString('utf8'));

function toolResults({ messages }: Body): Record<string, unknown>[] {
  return messages
    .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
    .filter(({ type }) => type === 'tool_result');
}

/** What a model would do: read the note, then say what is in it; whatever else is asked gets a short answer. */
function modelThatReads(path: string): (request: SeenRequest) => readonly Step[] {
  return (request) => {
    if (request.method !== 'POST') return [json(200, {})];
    if (request.path.includes('count_tokens')) return [json(200, { input_tokens: 10 })];
    const body = bodyOf(request);
    if (body.stream !== true)
      return [json(200, messagesAnswer({ model: body.model, text: ['Notes'], usage }))];
    const reads = body.tools?.some(({ name }) => name === 'Read') ?? false;
    if (!reads) return [stream(messagesStream({ model: body.model, text: ['Notes'], usage }).text)];
    const seen = JSON.stringify(toolResults(body)).includes(word);
    const call = { id: 'toolu_01note', name: 'Read', arguments: JSON.stringify({ file_path: path }) };
    const answer = seen ? { text: [`The word is `, `${word}, and 🙂.`] } : { text: [], tools: [call] };
    return [stream(messagesStream({ model: body.model, ...answer, usage }).text, 'frame')];
  };
}

describe('Claude Code', { skip: tool.skip }, () => {
  let upstream: Upstream;
  let gateway: RunningGateway;
  let desk: Desk;

  before(async () => {
    desk = await layDesk(word);
    upstream = await startUpstream();
    gateway = await startGateway({
      connections: [{ provider: 'anthropic', name: 'work', baseUrl: upstream.url }],
    });
  });

  after(async () => {
    await gateway?.stop();
    await upstream?.close();
    await desk?.remove();
  });

  const ask = (prompt: string, env: Record<string, string>) =>
    runTool({
      tool,
      args: ['-p', prompt],
      desk,
      env: {
        ANTHROPIC_BASE_URL: gateway.url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...env,
      },
    });

  it('reads a file with its own tool, answers, and is in the ledger with usage and cost', async () => {
    upstream.respond(modelThatReads(join(desk.work, 'note.txt')));
    const prompt = 'Read the file note.txt and tell me the word in it';
    const ran = await ask(prompt, {
      ANTHROPIC_AUTH_TOKEN: gateway.key,
      ANTHROPIC_MODEL: `work/${model}`,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: `work/${model}`,
    });
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, new RegExp(`The word is ${word}, and 🙂\\.`));

    const sent = upstream.requests.filter(({ path }) => path.startsWith('/v1/messages'));
    const main = sent.map(bodyOf).filter(({ tools }) => tools?.some(({ name }) => name === 'Read'));
    assert.equal(main.length, 2, 'one request before the tool ran and one after');
    assert.deepEqual(
      main.map((body) => toolResults(body).length),
      [0, 1],
    );
    const result = main[1] === undefined ? undefined : toolResults(main[1])[0];
    assert.equal(result?.['tool_use_id'], 'toolu_01note');
    assert.match(JSON.stringify(result), new RegExp(word), 'the upstream got what the file holds');
    assert.match(JSON.stringify(main[0]?.messages), new RegExp(prompt));

    for (const request of upstream.requests) {
      assert.equal(request.header('x-api-key'), 'upstream-secret');
      assert.equal(request.header('authorization'), undefined);
      assert.ok(!request.rawHead.includes(gateway.key) && !request.body.includes(gateway.key));
      assert.match(request.header('anthropic-beta') ?? '', /claude-code/, 'its own headers pass');
    }
    for (const { path, body } of sent) {
      assert.match(path, /\?beta=true$/);
      assert.equal((JSON.parse(body.toString('utf8')) as Body).model, model);
    }

    await waitFor('the ledger', async () => (await gateway.entries()).length >= sent.length);
    const entries = await gateway.entries();
    assert.equal(entries.length, sent.length, 'each request that reached the upstream, and no other');
    const streamed = entries.filter((entry) => entry.streamed);
    assert.ok(streamed.length >= 2);
    for (const entry of entries) {
      assert.deepEqual(
        [entry.outcome, entry.status, entry.format, entry.connection, entry.model, entry.requested_model],
        ['ok', 200, 'anthropic-messages', 'work', model, `work/${model}`],
      );
      assert.equal(entry.estimated, false);
      assert.ok(entry.usage !== null && entry.cost_usd !== null, JSON.stringify(entry));
      assert.ok(Math.abs(entry.cost_usd - cost) < 1e-9, `${entry.cost_usd} is not ${cost}`);
      assert.match(entry.user_agent ?? '', /claude-cli/);
    }
  });

  it('takes the key as an API key and a bare model name too', async () => {
    upstream.respond(modelThatReads(join(desk.work, 'note.txt')));
    const ran = await ask('Read note.txt', { ANTHROPIC_API_KEY: gateway.key, ANTHROPIC_MODEL: model });
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, new RegExp(word));
    for (const request of upstream.requests) assert.equal(request.header('x-api-key'), 'upstream-secret');
  });

  it('stops at once when the key is wrong, and says so', async () => {
    upstream.respond(modelThatReads(join(desk.work, 'note.txt')));
    const ran = await ask('hello', { ANTHROPIC_AUTH_TOKEN: 'sk-wrong', ANTHROPIC_MODEL: model });
    assert.equal(ran.code, 1, 'it gave up by itself, and was not ended at the limit');
    assert.match(ran.stdout + ran.stderr, /401|API key|authenticat/i);
    assert.equal(upstream.requests.length, 0);
  });
});
