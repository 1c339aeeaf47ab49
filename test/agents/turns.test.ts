import assert from 'node:assert/strict';
import { readFileSync, realpathSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { askFake, fakeSetup, openFakeAgents, steps, testTimers } from '../support/agents/agents.ts';
import { temporaryFolder } from '../support/machine/folder.ts';

const root = temporaryFolder({ after });
const timers = testTimers();

describe('a turn of an agent', () => {
  const agents = openFakeAgents({ folder: join(root, 'turns'), setups: fakeSetup() }, timers);
  after(() => agents.close());

  it('comes as text, with its thoughts, its tools and its plan as reasoning', async () => {
    const tool = { toolCallId: 'c1', title: 'Read\n a.txt', kind: 'read' };
    const answer = await askFake(agents, {
      messages: [
        steps(
          { think: 'let me see' },
          { update: { sessionUpdate: 'plan', entries: [{ content: 'look', status: 'in_progress' }] } },
          { update: { sessionUpdate: 'tool_call', ...tool, status: 'pending' } },
          { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'in_progress' } },
          { update: { sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed' } },
          { update: { sessionUpdate: 'available_commands_update', availableCommands: [] } },
          { update: { sessionUpdate: 'something_of_tomorrow', a: 1 } },
          { say: 'do' },
          { say: 'ne' },
        ),
      ],
    });
    assert.equal(answer.text, 'done');
    assert.equal(answer.reasoning, 'let me see\n[~] look\n\n[read] Read a.txt\n\n[read] Read a.txt (done)\n');
    assert.equal(answer.finish, 'stop');
    assert.equal(answer.usage, null, 'an agent that says nothing of its use is not spoken for');
  });

  it('reports why it ended, and its usage', async () => {
    const usage = { inputTokens: 5, outputTokens: 9, thoughtTokens: 4, cachedReadTokens: 2 };
    const long = await askFake(agents, {
      messages: [steps({ say: 'a' }, { stop: 'max_tokens', usage })],
    });
    assert.equal(long.finish, 'length');
    assert.equal(long.usage?.['prompt_tokens'], 7);
    assert.equal(long.usage?.['completion_tokens'], 9);
    const refused = await askFake(agents, { messages: [steps({ say: 'no' }, { stop: 'refusal' })] });
    assert.equal(refused.finish, 'content_filter');
  });

  it('answers a client that wants no stream in one piece', async () => {
    const body = { model: 'fake', stream: false, messages: [steps({ think: 'hm' }, { say: 'whole' })] };
    const pieces: string[] = [];
    const asked = agents.ask({
      model: 'fake',
      owner: 'k',
      session: null,
      body: Buffer.from(JSON.stringify(body)),
    });
    await new Promise<void>((resolve, reject) =>
      asked.dispatch(
        { path: '/', method: 'POST' },
        {
          onResponseData: (_, chunk) => void pieces.push(chunk.toString()),
          onResponseEnd: () => resolve(),
          onResponseError: (_, error) => reject(error),
        },
      ),
    );
    const [choice] = JSON.parse(pieces.join('')).choices;
    assert.equal(choice.message.content, 'whole');
    assert.equal(choice.message.reasoning_content, 'hm');
  });

  it('goes on after lines that are no message', async () => {
    const answer = await askFake(agents, {
      messages: [
        steps({ line: 'npm warn something' }, { line: '{"broken":' }, { line: '[1,2]' }, { say: 'fine' }),
      ],
    });
    assert.equal(answer.text, 'fine');
    assert.ok(agents.status('fake').output.includes('npm warn something'));
  });

  it('names what the agent does not receive', async () => {
    const answer = await askFake(agents, {
      request: {
        temperature: 0.2,
        max_tokens: 5,
        tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      },
    });
    assert.deepEqual(answer.dropped, ['temperature', 'tools', 'max_tokens']);
    const refused = await askFake(agents, { request: { n: 2 } });
    assert.equal(refused.error?.code, 'not_translatable');
    assert.equal(refused.error?.param, 'n');
  });

  it('takes images where the agent does', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'what is it?' }, image] }];
    const blind = await askFake(agents, { messages });
    assert.equal(blind.error?.code, 'not_translatable');
    const seeing = openFakeAgents({ folder: join(root, 'images'), setups: fakeSetup(['--images']) }, timers);
    const answer = await askFake(seeing, { messages });
    await seeing.close();
    assert.match(answer.text, /prompt <<what is it\?\n\[image image\/png\]>>/);
  });
});

describe('permissions of an agent', () => {
  const project = join(root, 'project');
  const allowed = fakeSetup([], { id: 'free', permissions: ['edit', 'execute'], cwd: { path: project } });
  const agents = openFakeAgents(
    {
      folder: join(root, 'permissions'),
      setups: [fakeSetup(), allowed],
      variables: {
        STORAGE_ENCRYPTION_KEY: 'canary-storage',
        GATEWAY_HOST: 'canary-gateway',
        OPENAI_API_KEY: 'canary-openai',
        DATABASE_URL: 'postgres://canary',
      },
    },
    timers,
  );
  after(() => agents.close());

  const outside = join(root, 'outside');
  const prepare = async () => {
    await mkdir(join(project, 'sub'), { recursive: true });
    await mkdir(outside, { recursive: true });
    await writeFile(join(outside, 'secret.txt'), 'secret');
    await writeFile(join(project, 'a.txt'), 'one\ntwo\nthree\n');
    await symlink(outside, join(project, 'way-out')).catch(() => {});
    await symlink(join(outside, 'secret.txt'), join(project, 'link.txt')).catch(() => {});
  };

  it('are refused unless its owner allows them, and then granted once', async () => {
    await prepare();
    const denied = await askFake(agents, {
      messages: [
        steps({ permission: 'execute' }, { permission: 'nonsense' }, { permission: 'edit', options: [] }),
      ],
    });
    assert.deepEqual(denied.text.match(/"(?:optionId":"[^"]+|outcome":"cancelled)/g), [
      '"optionId":"opt-reject_once',
      '"optionId":"opt-reject_once',
      '"outcome":"cancelled',
    ]);
    assert.match(denied.reasoning, /\[refused: execute] Use execute/);
    const granted = await askFake(agents, {
      model: 'free',
      messages: [
        steps({ permission: 'edit' }, { permission: 'edit', options: ['allow_always', 'reject_once'] }),
      ],
    });
    assert.deepEqual(granted.text.match(/opt-\w+/g), ['opt-allow_once', 'opt-reject_once']);
  });

  it('end at the folder of its session', async () => {
    const paths = [
      '../outside/secret.txt',
      join(outside, 'secret.txt'),
      'link.txt',
      'way-out/secret.txt',
      '/etc/passwd',
    ];
    const reads = paths.map((path) => ({ call: 'fs/read_text_file', params: { path } }));
    const writes = [...paths, 'way-out/new.txt', '.', ''].map((path) => ({
      call: 'fs/write_text_file',
      params: { path, content: 'overwritten' },
    }));
    const answer = await askFake(agents, { model: 'free', messages: [steps(...reads, ...writes)] });
    const lines = answer.text.trim().split('\n');
    assert.equal(lines.length, reads.length + writes.length);
    for (const line of lines) assert.match(line, /"code":-32602/, line);
    assert.equal(readFileSync(join(outside, 'secret.txt'), 'utf8'), 'secret');
  });

  it('include files of its session, whole or by lines', async () => {
    const answer = await askFake(agents, {
      model: 'free',
      messages: [
        steps(
          { call: 'fs/read_text_file', params: { path: join(project, 'a.txt'), line: 2, limit: 1 } },
          { call: 'fs/write_text_file', params: { path: 'new/deep/b.txt', content: 'written' } },
          { call: 'fs/read_text_file', params: { path: 'new/deep/b.txt' } },
          { call: 'fs/read_text_file', params: { path: 'sub' } },
          { call: 'fs/read_text_file', params: { path: 'missing' } },
          { call: 'fs/unknown', params: {} },
        ),
      ],
    });
    const lines = answer.text.trim().split('\n');
    assert.match(lines[0] ?? '', /{"content":"two"}/);
    assert.match(lines[2] ?? '', /{"content":"written"}/);
    assert.match(lines[3] ?? '', /is not a file/);
    assert.match(lines[4] ?? '', /-32002/);
    assert.match(lines[5] ?? '', /-32601/);
    assert.equal(readFileSync(join(project, 'new/deep/b.txt'), 'utf8'), 'written');
  });

  it('exclude writing and terminals unless they are allowed', async () => {
    const answer = await askFake(agents, {
      messages: [
        steps(
          { call: 'fs/write_text_file', params: { path: 'x', content: '' } },
          { call: 'terminal/create', params: { command: 'true' } },
        ),
      ],
    });
    assert.match(answer.text, /does not allow edits/);
    assert.match(answer.text, /offers no terminals/);
  });

  it('include a terminal in its folder if commands are allowed', async () => {
    const answer = await askFake(agents, {
      model: 'free',
      messages: [
        steps(
          { run: 'pwd; echo "[$OPENAI_API_KEY]"; exit 3' },
          { run: 'printf 0123456789', outputByteLimit: 4 },
          { run: 'no-such-program-anywhere' },
          { call: 'terminal/create', params: { command: 'true', cwd: '/' } },
          { call: 'terminal/output', params: { terminalId: 'none' } },
        ),
      ],
    });
    const [first, second, third, outside, unknown] = answer.text.trim().split('\n');
    const { exitStatus, output, released, truncated } = JSON.parse(first ?? '');
    assert.deepEqual(output.split('\n'), [realpathSync(project), '[]', '']);
    assert.deepEqual(exitStatus, { exitCode: 3, signal: null });
    assert.equal(truncated, false);
    assert.equal(released.code, -32002);
    assert.deepEqual(JSON.parse(second ?? '').output, '6789');
    assert.equal(JSON.parse(second ?? '').truncated, true);
    assert.equal(JSON.parse(third ?? '').exitStatus.exitCode, 127);
    assert.match(outside ?? '', /outside of the folder/);
    assert.match(unknown ?? '', /-32002/);
  });

  it('do not expose the gateway’s own environment', async () => {
    const answer = await askFake(agents, { messages: [steps({ environment: [] })] });
    const names: string[] = JSON.parse(answer.text);
    for (const name of ['STORAGE_ENCRYPTION_KEY', 'GATEWAY_HOST', 'OPENAI_API_KEY', 'DATABASE_URL'])
      assert.ok(!names.includes(name), name);
    assert.ok(names.includes('PATH'));
    assert.ok(names.includes('HOME'));
    const known = new Set(
      'PATH HOME USER LOGNAME SHELL LANG LC_ALL LC_CTYPE TZ TMPDIR TERM NO_COLOR XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME'.split(
        ' ',
      ),
    );
    assert.deepEqual(
      names.filter((name) => !known.has(name)),
      [],
    );
  });
});
