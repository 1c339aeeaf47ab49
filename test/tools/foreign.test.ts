import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type RunningGateway, startGateway } from '../support/gateway/gateway.ts';
import { startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { type Body, connectionsToAll, modelThatReads, prompt, said, upstreams, word } from './model.ts';
import { type Desk, findTool, layDesk, runTool, type ToolName } from './tool.ts';

interface Setting {
  gateway: RunningGateway;
  desk: Desk;
  model: string;
}

/** A tool, and how its users point it at the gateway. */
interface ToolCase {
  tool: ToolName;
  title: string;
  /** The upstreams of its own format, which are no test of translation. */
  own: readonly (keyof typeof upstreams)[];
  /** Its tool that reads a file, and what the model calls that with. */
  reads: RegExp;
  input(note: string, body: Body): object;
  /** Files below its home. */
  files?(setting: Setting): Readonly<Record<string, string>>;
  env(setting: Setting): Readonly<Record<string, string>>;
  args(setting: Setting): readonly string[];
}

const tools: readonly ToolCase[] = [
  {
    tool: 'claude',
    title: 'Claude Code',
    own: ['messages'],
    reads: /^Read$/,
    input: (note) => ({ file_path: note }),
    env: ({ gateway, model }) => ({
      ANTHROPIC_BASE_URL: gateway.url,
      ANTHROPIC_AUTH_TOKEN: gateway.key,
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    }),
    args: () => ['-p', prompt],
  },
  {
    tool: 'codex',
    title: 'Codex',
    own: ['responses'],
    reads: /^(exec_command|shell|shell_command|local_shell)$/,
    input: (_note, body) =>
      JSON.stringify(body.tools).includes('"cmd"')
        ? { cmd: 'cat note.txt' }
        : { command: ['cat', 'note.txt'] },
    files: ({ gateway, model }) => ({
      '.codex/config.toml': [
        `model = "${model}"`,
        'model_provider = "modelgate"',
        '[model_providers.modelgate]',
        'name = "Modelgate"',
        `base_url = "${gateway.url}/v1"`,
        'env_key = "MODELGATE_KEY"',
        'wire_api = "responses"',
      ].join('\n'),
    }),
    env: ({ gateway }) => ({ MODELGATE_KEY: gateway.key }),
    args: () => ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt],
  },
  {
    tool: 'gemini',
    title: 'Gemini CLI',
    own: ['gemini'],
    reads: /^read_file$/,
    input: (note) => ({ file_path: note, absolute_path: note }),
    files: () => ({
      '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
    }),
    env: ({ gateway }) => ({ GOOGLE_GEMINI_BASE_URL: gateway.url, GEMINI_API_KEY: gateway.key }),
    args: ({ model }) => ['-m', model, '--skip-trust', '--approval-mode', 'yolo', '-p', prompt],
  },
  {
    tool: 'qwen',
    title: 'Qwen Code',
    own: ['chat'],
    reads: /^read_file$/,
    input: (note) => ({ file_path: note, absolute_path: note }),
    files: () => ({ '.qwen/settings.json': JSON.stringify({ privacy: { usageStatisticsEnabled: false } }) }),
    env: ({ gateway, model }) => ({
      OPENAI_BASE_URL: `${gateway.url}/v1`,
      OPENAI_API_KEY: gateway.key,
      OPENAI_MODEL: model,
    }),
    args: () => ['--auth-type', 'openai', '--approval-mode', 'yolo', '-p', prompt],
  },
  {
    tool: 'opencode',
    title: 'OpenCode',
    own: ['chat'],
    reads: /^read$/,
    input: (note) => ({ filePath: note }),
    files: ({ gateway, model }) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        provider: {
          modelgate: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${gateway.url}/v1`, apiKey: '{env:MODELGATE_KEY}' },
            models: { [model]: {} },
          },
        },
      }),
    }),
    env: ({ gateway }) => ({ MODELGATE_KEY: gateway.key }),
    args: ({ model }) => ['run', '-m', `modelgate/${model}`, '--auto', prompt],
  },
];

/** Nothing is started for tools that are not here. */
const skip = tools.every(({ tool }) => findTool(tool).skip !== false) ? 'none of these tools is here' : false;

/** Real tools with providers that speak another format than theirs. */
for (const name of Object.keys(upstreams) as (keyof typeof upstreams)[]) {
  describe(`with a ${name} provider`, { skip }, () => {
    const { model } = upstreams[name];
    let upstream: Upstream;
    let gateway: RunningGateway;
    let desk: Desk;

    before(async () => {
      upstream = await startUpstream();
      gateway = await startGateway({ connections: connectionsToAll(upstream.url) });
    });
    after(async () => {
      await gateway?.stop();
      await upstream?.close();
    });
    beforeEach(async () => {
      desk = await layDesk(word);
    });
    afterEach(() => desk.remove());

    for (const { args, env, files, input, own, reads, title, tool } of tools) {
      if (own.includes(name)) continue;
      const found = findTool(tool);
      it(`${title} uses a tool of its own and answers`, { skip: found.skip }, async () => {
        const setting = { gateway, desk, model };
        const note = join(desk.work, 'note.txt');
        upstream.respond(modelThatReads(upstreams[name], reads, (body) => input(note, body)));
        for (const [path, text] of Object.entries(files?.(setting) ?? {})) {
          await mkdir(dirname(join(desk.home, path)), { recursive: true });
          await writeFile(join(desk.home, path), text);
        }
        const ran = await runTool({ tool: found, args: args(setting), desk, env: env(setting) });
        assert.equal(ran.code, 0, ran.stderr + ran.stdout);
        assert.match(ran.stdout, said);
      });
    }
  });
}
