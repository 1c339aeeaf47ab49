import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import {
  type LedgerLine,
  type RunningGateway,
  settledRows,
  startGateway,
  waitFor,
} from '../support/gateway/gateway.ts';
import { responsesStream } from '../support/upstream/answers.ts';
import { json, type Step, stream } from '../support/upstream/steps.ts';
import { type SeenRequest, startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { modelThatReads, prompt, upstreams, word } from './model.ts';
import { type Desk, findTool, layDesk, type Ran, runTool } from './tool.ts';

/** Codex itself, through the gateway to a scripted OpenAI. */
const tool = findTool('codex');
const model = 'gpt-5.4';
const usage = {
  input_tokens: 10_000,
  input_tokens_details: { cached_tokens: 9000 },
  output_tokens: 40,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 10_040,
};
/** Dollars a million tokens of this model: 2.5 in, 0.25 from the cache, 15 out. */
const cost = (1000 * 2.5 + 9000 * 0.25 + 40 * 15) / 1e6;

interface ToolSpec {
  type: string;
  name?: string;
  parameters?: { properties?: Record<string, { type?: string }> };
}

interface Body {
  model: string;
  stream?: boolean;
  input: Record<string, unknown>[];
  tools?: ToolSpec[];
}

const bodyOf = ({ body }: SeenRequest): Body => JSON.parse(body.toString('utf8'));
const outputsOf = ({ input }: Body) => input.filter(({ type }) => type === 'function_call_output');

/** The tool for commands, whose name and arguments change between versions and models. */
function shellOf({ tools = [] }: Body): ToolSpec | undefined {
  return tools.find(({ name }) => /^(exec_command|shell|shell_command|local_shell)$/.test(name ?? ''));
}

function commandFor({ parameters }: ToolSpec): string {
  const properties = parameters?.properties ?? {};
  const name = 'cmd' in properties ? 'cmd' : 'command';
  const isList = properties[name]?.type === 'array';
  return JSON.stringify({ [name]: isList ? ['cat', 'note.txt'] : 'cat note.txt' });
}

/** What a model would do: read the note by a command, then say what is in it. */
function modelOfOpenAi(request: SeenRequest): readonly Step[] {
  if (request.method !== 'POST') return [json(404, { error: { message: 'no such page' } })];
  const body = bodyOf(request);
  const shell = shellOf(body);
  if (shell?.name === undefined) return [stream(responsesStream({ text: ['Notes'], usage }).text)];
  const seen = JSON.stringify(outputsOf(body)).includes(word);
  const call = { id: 'call_note', name: shell.name, arguments: commandFor(shell) };
  const answer = seen ? { text: ['The word is ', `${word}, and 🙂.`] } : { text: [], tools: [call] };
  return [stream(responsesStream({ model, ...answer, usage }).text, 'frame')];
}

describe('Codex', { skip: tool.skip }, () => {
  let upstream: Upstream;
  let gateway: RunningGateway;
  let desk: Desk;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      connections: [
        { provider: 'openai', name: 'work', baseUrl: upstream.url },
        { provider: 'openai-compatible', name: 'up', baseUrl: upstream.url },
      ],
    });
  });

  after(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  beforeEach(async () => {
    desk = await layDesk(word);
    upstream.respond(modelOfOpenAi);
  });

  afterEach(() => desk.remove());

  async function ask(
    options: { model?: string; provider?: readonly string[]; key?: string } = {},
  ): Promise<Ran> {
    const config = [
      `model = "${options.model ?? `work/${model}`}"`,
      'model_provider = "modelgate"',
      '[model_providers.modelgate]',
      'name = "Modelgate"',
      `base_url = "${gateway.url}/v1"`,
      'env_key = "MODELGATE_KEY"',
      'wire_api = "responses"',
      ...(options.provider ?? []),
    ];
    await mkdir(join(desk.home, '.codex'), { recursive: true });
    await writeFile(join(desk.home, '.codex/config.toml'), config.join('\n'));
    // The sandbox needs rights that containers seldom give. The only command that is run is ours.
    const args = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt];
    return runTool({ tool, args, desk, env: { MODELGATE_KEY: options.key ?? gateway.key } });
  }

  async function newEntries(before: number, count: number): Promise<LedgerLine[]> {
    await waitFor('the ledger', async () => (await gateway.entries()).length >= before + count);
    return (await gateway.entries()).slice(before);
  }

  it('runs a command, answers, and is in the ledger with usage and cost', async () => {
    const before = await settledRows(gateway);
    const ran = await ask();
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, new RegExp(`The word is ${word}, and 🙂\\.`));

    const sent = [...upstream.requests];
    const main = sent.map(bodyOf).filter((body) => shellOf(body) !== undefined);
    assert.equal(main.length, 2, 'one request before the command ran and one after');
    assert.deepEqual(
      main.map((body) => outputsOf(body).length),
      [0, 1],
    );
    const output = main[1] === undefined ? undefined : outputsOf(main[1])[0];
    assert.equal(output?.['call_id'], 'call_note');
    assert.match(JSON.stringify(output), new RegExp(word), 'the upstream got what the command printed');
    assert.match(JSON.stringify(main[0]?.input), new RegExp(prompt));

    for (const request of sent) {
      assert.equal(request.path, '/v1/responses');
      assert.equal(request.header('authorization'), 'Bearer upstream-secret');
      assert.ok(!request.rawHead.includes(gateway.key) && !request.body.includes(gateway.key));
      assert.ok(request.header('originator'), 'its own headers pass');
      assert.deepEqual([bodyOf(request).model, bodyOf(request).stream], [model, true]);
    }

    const entries = await newEntries(before, sent.length);
    assert.equal(entries.length, sent.length, 'each request that reached the upstream, and no other');
    for (const entry of entries) {
      assert.deepEqual(
        [entry.outcome, entry.status, entry.format, entry.connection, entry.model, entry.requested_model],
        ['ok', 200, 'openai-responses', 'work', model, `work/${model}`],
      );
      assert.deepEqual([entry.streamed, entry.estimated], [true, false]);
      assert.ok(entry.usage !== null && entry.cost_usd !== null, JSON.stringify(entry));
      assert.ok(Math.abs(entry.cost_usd - cost) < 1e-9, `${entry.cost_usd} is not ${cost}`);
      assert.match(entry.user_agent ?? '', /codex/);
    }
  });

  for (const [name, named] of [
    ['a provider of its format', model],
    ['a provider of another', 'up/m-1'],
  ] as const) {
    it(`goes over a WebSocket to ${name}, and sends only what is new`, async () => {
      if (named === 'up/m-1')
        upstream.respond(
          modelThatReads(upstreams.chat, /^(exec_command|shell|shell_command)$/, ({ tools }) =>
            JSON.stringify(tools).includes('"cmd"')
              ? { cmd: 'cat note.txt' }
              : { command: ['cat', 'note.txt'] },
          ),
        );
      const before = await settledRows(gateway);
      const ran = await ask({ model: named, provider: ['supports_websockets = true'] });
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      assert.match(ran.stdout, new RegExp(word));
      assert.doesNotMatch(ran.stderr, /WebSocket|websocket/, 'it had no reason to fall back');
      assert.equal(upstream.requests.length, 2, 'one request before the command ran and one after');
      const last = upstream.requests.at(-1)?.body.toString() ?? '';
      assert.ok(last.includes(prompt) && last.includes('call_note'), 'the gateway put in what came before');
      assert.doesNotMatch(last, /previous_response_id|"generate"|response\.create/);
      // Where Codex writes `stream` itself it comes late.
      if (named === model)
        for (const { body } of upstream.requests)
          assert.match(body.toString('utf8', 0, 80), /^\{(?:"model":"[^"]+",)?"stream":true/);
      const entries = await newEntries(before, 2);
      assert.deepEqual(
        entries.map(({ outcome, format, streamed }) => [outcome, format, streamed]),
        [
          ['ok', 'openai-responses', true],
          ['ok', 'openai-responses', true],
        ],
      );
    });
  }

  it('accepts tools that newer models get as an item of the input', async () => {
    upstream.respond((request) => [
      stream(responsesStream({ model: bodyOf(request).model, text: ['Good morning.'], usage }).text),
    ]);
    const ran = await ask({ model: 'gpt-6-astra' });
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, /Good morning\./);
    const seen = upstream.requests.map(bodyOf);
    assert.ok(seen.some(({ input }) => input.some(({ type }) => type === 'additional_tools')));
    assert.deepEqual(new Set(seen.map((body) => body.model)), new Set(['gpt-6-astra']));
  });

  it('reports a wrong key', async () => {
    const ran = await ask({ key: 'sk-wrong' });
    assert.equal(ran.code, 1, 'it gave up by itself, and was not ended at the limit');
    assert.match(ran.stdout + ran.stderr, /401/);
    assert.equal(upstream.requests.length, 0);
  });
});
