import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type AnswerOptions, chatStream, messagesStream } from '../support/answers.ts';
import { connectionsTo } from '../support/formats.ts';
import { type RunningGateway, startGateway } from '../support/gateway.ts';
import { json, type Step, stream } from '../support/steps.ts';
import { type SeenRequest, startUpstream, type Upstream } from '../support/upstream.ts';
import { type Desk, findTool, layDesk, runTool } from './tool.ts';

/** Real tools with providers that speak another format than theirs. */
const word = 'periwinkle';
const prompt = 'Read the file note.txt and tell me the word in it';

interface Body {
  tools?: { name?: string; function?: { name: string } }[];
  messages: unknown[];
}

/** An upstream of one format: what it calls tools and how it answers. */
const formats = {
  chat: {
    model: 'up/m-1',
    answer: (options: AnswerOptions) => chatStream(options).text,
    result: '"role":"tool"',
  },
  messages: {
    model: 'anth/m-1',
    answer: (options: AnswerOptions) => messagesStream(options).text,
    result: '"type":"tool_result"',
  },
} as const;

type Format = (typeof formats)[keyof typeof formats];

/** What a model would do: use the tool to read the note, then say what is in it. */
function modelThatReads(format: Format, toolName: RegExp, input: (body: Body) => object) {
  return (request: SeenRequest): readonly Step[] => {
    if (request.method !== 'POST') return [json(404, { error: { message: 'no such page' } })];
    const text = request.body.toString('utf8');
    const body = JSON.parse(text) as Body & { stream?: boolean };
    const name = (body.tools ?? [])
      .map((tool) => tool.function?.name ?? tool.name ?? '')
      .find((one) => toolName.test(one));
    const seen = text.includes(format.result) && text.includes(word);
    if (name === undefined) return [stream(format.answer({ text: ['Notes'] }))];
    const call = { id: 'call_note', name, arguments: JSON.stringify(input(body)) };
    const options = seen ? { text: ['The word is ', `${word}, and 🙂.`] } : { text: [], tools: [call] };
    return [stream(format.answer({ ...options, reasoning: ['Hm.'] }), 'frame')];
  };
}

for (const [name, format] of Object.entries(formats)) {
  describe(`with a ${name} provider`, { timeout: 170_000 }, () => {
    let upstream: Upstream;
    let gateway: RunningGateway;
    let desk: Desk;

    before(async () => {
      upstream = await startUpstream();
      gateway = await startGateway({ connections: connectionsTo(upstream.url) });
    });
    after(async () => {
      await gateway?.stop();
      await upstream?.close();
    });
    beforeEach(async () => {
      desk = await layDesk(word);
    });
    afterEach(() => desk.remove());

    const claude = findTool('claude');
    it('Claude Code reads a file with its own tool and answers', {
      skip: claude.skip || name === 'messages',
    }, async () => {
      upstream.respond(modelThatReads(format, /^Read$/, () => ({ file_path: join(desk.work, 'note.txt') })));
      const ran = await runTool({
        tool: claude,
        args: ['-p', prompt],
        desk,
        env: {
          ANTHROPIC_BASE_URL: gateway.url,
          ANTHROPIC_AUTH_TOKEN: gateway.key,
          ANTHROPIC_MODEL: format.model,
          ANTHROPIC_DEFAULT_HAIKU_MODEL: format.model,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      });
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      assert.match(ran.stdout, new RegExp(`The word is ${word}, and 🙂\\.`));
    });

    const codex = findTool('codex');
    it('Codex runs a command and answers', { skip: codex.skip }, async () => {
      upstream.respond(
        modelThatReads(format, /^(exec_command|shell|shell_command|local_shell)$/, (body) =>
          JSON.stringify(body.tools).includes('"cmd"')
            ? { cmd: 'cat note.txt' }
            : { command: ['cat', 'note.txt'] },
        ),
      );
      const config = [
        `model = "${format.model}"`,
        'model_provider = "modelgate"',
        '[model_providers.modelgate]',
        'name = "Modelgate"',
        `base_url = "${gateway.url}/v1"`,
        'env_key = "MODELGATE_KEY"',
        'wire_api = "responses"',
      ];
      await mkdir(join(desk.home, '.codex'), { recursive: true });
      await writeFile(join(desk.home, '.codex/config.toml'), config.join('\n'));
      const args = ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', prompt];
      const ran = await runTool({ tool: codex, args, desk, env: { MODELGATE_KEY: gateway.key } });
      assert.equal(ran.code, 0, ran.stderr + ran.stdout);
      assert.match(ran.stdout, new RegExp(`The word is ${word}, and 🙂\\.`));
    });
  });
}
