import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findTool as findEntry } from '../../src/tools/catalogue/index.ts';
import { configureTool, type ToolPlace } from '../../src/tools/configuring/configure.ts';
import { sampleOf } from '../../src/tools/samples/by-tool.ts';
import type { ToolApi } from '../../src/tools/tool.ts';
import { connectionsTo } from '../support/formats/formats.ts';
import { setting } from '../support/gateway/setting.ts';
import type { SeenRequest } from '../support/upstream/upstream.ts';
import { connectionsToAll, modelThatReads, prompt, upstreams, word } from './model.ts';
import type { SetupCase } from './setup.ts';
import { findTool, layDesk, runTool } from './tool.ts';

/**
 * What `gateway tools doctor` says before the first request: the requests that it knows lose what the real ones lose, at
 * a provider of every format.
 */
const at = setting();

const cases: readonly SetupCase[] = [
  { tool: 'claude', args: ['-p', prompt], env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' } },
  { tool: 'codex', args: ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt] },
  { tool: 'opencode', args: ['run', '--auto', prompt] },
  { tool: 'qwen', args: ['--approval-mode', 'yolo', '-p', prompt] },
  { tool: 'copilot', args: ['-p', prompt, '--allow-all-tools', '--no-color'] },
  { tool: 'cline', args: ['--json', prompt] },
  { tool: 'kilo', args: ['run', '--auto', prompt] },
  { tool: 'cn', id: 'continue', args: ['-p', prompt, '--auto'] },
  {
    tool: 'droid',
    args: ['exec', '-m', 'custom:modelgate', prompt],
    env: { FACTORY_AIRGAP_ENABLED: 'true' },
  },
  { tool: 'grok', id: 'grok-build', args: ['-p', prompt, '--always-approve'] },
  { tool: 'pi', args: ['-p', prompt] },
  { tool: 'openclaw', args: ['agent', 'exec', prompt] },
  { tool: 'omp', args: ['-p', prompt] },
  {
    tool: 'letta',
    args: ['-p', prompt, '--new-agent', '--model', `openai-compatible/${upstreams.chat.model}`],
  },
];

const own: Readonly<Record<ToolApi, keyof typeof upstreams>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'gemini',
};

/** Losses without the names of the tools that have them. */
const kinds = (dropped: readonly string[]): string[] =>
  [...new Set(dropped.map((name) => name.replace(/^tools\.[^.]+\./, 'tools.*.')))].sort();

describe('the sample requests of the doctor', { timeout: 900_000 }, () => {
  let folder: string;
  before(async () => {
    const more = connectionsToAll(at.upstream.url).slice(connectionsTo('').length);
    for (const connection of more) await at.gateway.connect(connection);
    folder = await mkdtemp(join(tmpdir(), 'gateway-samples-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** What a provider would not be told of a request. */
  const losses = async (path: string, headers: object, body: object, model: string): Promise<string[]> => {
    const asked = { ...headers, 'x-gateway-dry-run': '1' };
    const reply = await at.gateway.ask(path, { ...body, model }, asked);
    assert.equal(reply.status, 200, reply.text);
    const [target] = JSON.parse(reply.text).targets;
    return target.error === null ? kinds(target.dropped) : [target.error.code, target.error.param];
  };

  for (const { args, env = {}, id: given, tool } of cases) {
    const found = findTool(tool);
    const id = given ?? tool;
    it(`${id}: the real request loses the same fields`, { skip: found.skip }, async () => {
      const entry = findEntry(id) ?? assert.fail(id);
      const upstream = upstreams[own[entry.recipe.api]];
      at.upstream.respond(modelThatReads(upstream, /^no such tool$/, () => ({})));
      const desk = await layDesk(word);
      try {
        const machine = { platform: process.platform, home: desk.home, variables: {} };
        const place: ToolPlace = { machine, dataDir: join(folder, id), now: Date.now };
        const target = { root: at.gateway.url, apiKey: at.gateway.key, model: upstream.model };
        const { environment } = await configureTool(place, { tool: entry, ...target });
        const variables = Object.fromEntries(
          Object.entries(environment).map(([name, value]) => [name, value ?? at.gateway.key]),
        );
        const ran = await runTool({ tool: found, args, desk, env: { ...variables, ...env } });
        assert.equal(ran.code, 0, ran.stderr + ran.stdout);
        // A title is asked for without tools, or with one that is for that alone.
        const bodies = at.upstream.requests.map((request: SeenRequest) =>
          JSON.parse(request.body.toString()),
        );
        const real = bodies.find(({ tools }) => Array.isArray(tools) && tools.length > 1);
        assert.ok(real !== undefined, 'its request passed as it was');
        const { body, headers, path } = sampleOf(entry);
        const surface = path.startsWith('/v1') ? path : `/v1${path}`;
        for (const { model } of Object.values(upstreams))
          assert.deepEqual(
            await losses(surface, headers, body, model),
            await losses(surface, headers, real, model),
            model,
          );
      } finally {
        await desk.remove();
      }
    });
  }
});
