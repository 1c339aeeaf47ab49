import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type RunningGateway, startGateway } from '../support/gateway/gateway.ts';
import { chatStream } from '../support/upstream/answers.ts';
import { json, type Step, stream } from '../support/upstream/steps.ts';
import { type SeenRequest, startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { type Desk, findTool, layDesk, runTool } from './tool.ts';

/** Codex, which compacts on its own when a conversation is long, with a provider that cannot. */
const tool = findTool('codex');
const word = 'periwinkle';
const handover = /Write a handover of this conversation/;
/** More than the limit below, until the conversation has been made short. */
const long = { prompt_tokens: 30_000, completion_tokens: 40, total_tokens: 30_040 };
const short = { prompt_tokens: 900, completion_tokens: 40, total_tokens: 940 };

interface Body {
  tools?: { function: { name: string; parameters?: { properties?: object } } }[];
}

function modelThatForgets({ body, method }: SeenRequest): readonly Step[] {
  if (method !== 'POST') return [json(404, { error: { message: 'no such page' } })];
  const text = body.toString('utf8');
  if (handover.test(text))
    return [stream(chatStream({ text: ['The note was read: ', `it says ${word}.`], usage: long }).text)];
  if (text.includes(`it says ${word}`))
    return [stream(chatStream({ text: ['The word is ', `${word}.`], usage: short }).text)];
  const shell = (JSON.parse(text) as Body).tools?.find(({ function: { name } }) =>
    /^(exec|shell)/.test(name),
  );
  if (shell === undefined) return [stream(chatStream({ text: ['Notes'], usage: short }).text)];
  const input = JSON.stringify(shell.function.parameters).includes('"cmd"')
    ? { cmd: 'cat note.txt' }
    : { command: ['cat', 'note.txt'] };
  const call = { id: 'call_note', name: shell.function.name, arguments: JSON.stringify(input) };
  return [stream(chatStream({ text: [], tools: [call], usage: long }).text)];
}

describe('Codex with a long conversation', { skip: tool.skip }, () => {
  let upstream: Upstream;
  let gateway: RunningGateway;
  let desk: Desk;

  before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({
      connections: [{ provider: 'openai-compatible', name: 'up', baseUrl: upstream.url }],
    });
  });

  after(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  beforeEach(async () => {
    desk = await layDesk(word);
    upstream.respond(modelThatForgets);
  });

  afterEach(() => desk.remove());

  it('lets the gateway compact it, and continues from the summary', async () => {
    // Only its built-in provider asks for compaction by an item.
    const config = [
      'model = "up/m-1"',
      `openai_base_url = "${gateway.url}/v1"`,
      'model_auto_compact_token_limit = 20000',
      'model_context_window = 40000',
    ];
    await mkdir(join(desk.home, '.codex'), { recursive: true });
    await writeFile(join(desk.home, '.codex/config.toml'), config.join('\n'));
    await writeFile(join(desk.home, '.codex/auth.json'), JSON.stringify({ OPENAI_API_KEY: gateway.key }));
    const prompt = 'Read the file note.txt and tell me the word in it';
    const args = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt];
    const ran = await runTool({ tool, args, desk });
    assert.equal(ran.code, 0, ran.stderr + ran.stdout);
    assert.match(ran.stdout, new RegExp(`The word is ${word}\\.`));
    const bodies = upstream.requests.map(({ body }) => body.toString('utf8'));
    const asked = bodies.findIndex((body) => handover.test(body));
    assert.ok(asked > 0, 'a summary was asked for after the command had run');
    assert.equal(bodies.filter((body) => handover.test(body)).length, 1);
    assert.match(bodies[asked] ?? '', new RegExp(word));
    const next = bodies[asked + 1] ?? '';
    assert.match(next, /Summary of the earlier conversation/);
    assert.doesNotMatch(next, /call_note|compaction_trigger|mgc1/, 'what was summed up is not repeated');
  });
});
