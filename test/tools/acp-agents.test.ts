import assert from 'node:assert/strict';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type RunningGateway, startGateway } from '../support/gateway/gateway.ts';
import { temporaryFolder } from '../support/machine/folder.ts';
import { chatStream } from '../support/upstream/answers.ts';
import { json, type Step, stream } from '../support/upstream/steps.ts';
import { type SeenRequest, startUpstream, type Upstream } from '../support/upstream/upstream.ts';
import { findTool, type ToolName } from './tool.ts';

/** An agent, and the tool of it that the scripted model calls to make a file. */
interface AgentCase {
  id: string;
  tool: ToolName;
  makes: RegExp;
  input(path: string): object;
  /** What its owner allows, so that it makes the file. */
  permission: string;
}

const agents: readonly AgentCase[] = [
  {
    id: 'claude',
    tool: 'claude-agent-acp',
    makes: /^Write$/,
    input: (path) => ({ file_path: path, content: 'made\n' }),
    permission: 'edit',
  },
  {
    id: 'codex',
    tool: 'codex-acp',
    makes: /^exec_command$/,
    input: (path) => ({ cmd: `touch ${path}` }),
    permission: 'execute',
  },
  {
    id: 'gemini',
    tool: 'gemini',
    makes: /^write_file$/,
    input: (path) => ({ file_path: path, content: 'made\n' }),
    permission: 'edit',
  },
  {
    id: 'qwen',
    tool: 'qwen',
    makes: /^write_file$/,
    input: (path) => ({ file_path: path, content: 'made\n' }),
    permission: 'edit',
  },
  {
    id: 'opencode',
    tool: 'opencode',
    makes: /^write$/,
    input: (path) => ({ filePath: path, content: 'made\n' }),
    permission: 'edit',
  },
  {
    id: 'kilo',
    tool: 'kilo',
    makes: /^write$/,
    input: (path) => ({ filePath: path, content: 'made\n' }),
    permission: 'edit',
  },
  {
    id: 'cline',
    tool: 'cline',
    makes: /^run_commands$/,
    input: (path) => ({ commands: [`touch ${path}`] }),
    permission: 'execute',
  },
  {
    id: 'copilot',
    tool: 'copilot',
    makes: /^create$/,
    input: (path) => ({ path, file_text: 'made\n' }),
    permission: 'edit',
  },
  {
    id: 'droid',
    tool: 'droid',
    makes: /^Create$/,
    input: (path) => ({ file_path: path, content: 'made\n' }),
    permission: 'edit',
  },
];

const found = agents.map((agent) => ({ ...agent, ...findTool(agent.tool) }));
const skip = found.every((one) => one.path === null) ? 'none of these agents is here' : false;
const folder = temporaryFolder({ after });
const said = 'Hello from the scripted model 🙂.';

interface Body {
  tools?: { function?: { name: string } }[];
  messages: { role: string }[];
}

/** Real agents, asked through the gateway, whose own model requests come back to it and go to a scripted upstream. */
describe('ACP agents', { skip, concurrency: false }, () => {
  let upstream: Upstream;
  let gateway: RunningGateway;

  before(async () => {
    upstream = await startUpstream();
    const programs = found.flatMap(({ path }) => (path === null ? [] : [dirname(path)]));
    gateway = await startGateway({
      connections: [{ provider: 'openai-compatible', name: 'up', baseUrl: upstream.url }],
      env: {
        PATH: [...new Set(programs), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter),
      },
    });
  });
  after(async () => {
    await gateway?.stop();
    await upstream?.close();
  });

  /** A model that makes a file when it is told to, and says one sentence otherwise. */
  const model =
    ({ input, makes }: AgentCase, path: string) =>
    (request: SeenRequest): readonly Step[] => {
      if (request.method !== 'POST') return [json(404, { error: { message: 'no such page' } })];
      const text = request.body.toString('utf8');
      const { messages, tools = [] } = JSON.parse(text) as Body;
      const name = tools.map((tool) => tool.function?.name ?? '').find((one) => makes.test(one));
      const done = messages.some(({ role }) => role === 'tool');
      const call =
        name !== undefined && text.includes('make the file') && !done
          ? [{ id: 'call_1', name, arguments: JSON.stringify(input(path)) }]
          : [];
      const options = call.length > 0 ? { text: [], tools: call } : { text: [said] };
      return [stream(chatStream(options).text, 'frame')];
    };

  for (const agent of found) {
    describe(agent.id, { skip: agent.skip }, () => {
      const work = join(folder, agent.id);
      const path = join(work, 'made.txt');
      const ask = (prompt: string) =>
        gateway.ask('/v1/chat/completions', {
          model: `acp/${agent.id}`,
          messages: [{ role: 'user', content: prompt }],
        });

      before(async () => {
        mkdirSync(work, { recursive: true });
        upstream.respond(model(agent, path));
        await gateway.cliJson(
          ...['agents', 'enable', agent.id, '--through-gateway', '--model', 'up/m-1'],
          ...['--working-directory', work, '--json'],
        );
      });
      after(async () => {
        await gateway.cliJson('agents', 'disable', agent.id, '--json');
        rmSync(work, { recursive: true, force: true, maxRetries: 5 });
      });

      it('answers on every model endpoint, streamed or whole', async () => {
        const messages = [{ role: 'user', content: 'say something' }];
        const id = `acp/${agent.id}`;
        for (const [endpoint, body] of [
          ['/v1/chat/completions', { model: id, messages }],
          ['/v1/chat/completions', { model: id, messages, stream: true }],
          ['/v1/messages', { model: id, messages, max_tokens: 1000, stream: true }],
          ['/v1/responses', { model: id, input: 'say something', stream: true }],
          [
            `/v1beta/models/${id}:streamGenerateContent?alt=sse`,
            { contents: [{ role: 'user', parts: [{ text: 'say something' }] }] },
          ],
        ] as const) {
          const reply = await gateway.ask(endpoint, body);
          assert.equal(reply.status, 200, `${endpoint}: ${reply.text}`);
          assert.match(reply.text, /scripted/, endpoint);
        }
      });

      it('makes no file before it is allowed to, and then makes it', async () => {
        await gateway.cliJson('agents', 'permissions', agent.id, 'none', '--json');
        const refused = await ask('please make the file');
        assert.equal(refused.status, 200, refused.text);
        assert.equal(existsSync(path), false, 'it asked, and was refused');
        await gateway.cliJson('agents', 'permissions', agent.id, `read,${agent.permission}`, '--json');
        const done = await ask('please make the file');
        assert.equal(done.status, 200, done.text);
        assert.ok(existsSync(path), done.text);
      });
    });
  }
});
