import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, normalize, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { childEnv } from './support/gateway/child-env.ts';
import { copyProject } from './support/machine/clone.ts';
import { PATIENCE_MS } from './support/machine/patience.ts';

const project = resolve(import.meta.dirname, '..');
const readme = readFileSync(join(project, 'README.md'), 'utf8');

/** What is special about a command: what is put in, and what is seen. A command of the README without a row fails the test. */
interface Row {
  /** What it begins with, as it stands in the README. */
  command: string;
  /** Something in what it prints. */
  prints?: RegExp;
  /** Its exit code, where that is not 0. */
  code?: number;
  /** What is changed in it, for a machine that nobody sits at and that asks no other machine. */
  change?: (command: string) => string;
  stdin?: string;
  /** It goes on until it is ended; seen when it has printed that. */
  until?: RegExp;
  /** Why it is not run. */
  skipped?: string;
}

const yes = (command: string) => `${command} --yes`;

/** The commands of the README, in order. */
const rows: readonly Row[] = [
  { command: 'npm install && npm start', until: /listening on http:\/\/127\.0\.0\.1:\d+/ },
  { command: 'export MODELGATE_KEY=' },
  { command: 'curl http://127.0.0.1:20128/v1/chat/completions', prints: /You said: good morning/ },
  { command: 'bin/gateway logs', prints: /demo\/echo.*\$0/ },
  { command: 'bin/gateway setup-claude', change: yes, prints: /The route works/ },
  { command: 'bin/gateway setup-codex', change: yes, prints: /The route works/ },
  { command: 'bin/gateway tools doctor claude', prints: /Summary: .* 0 failures/ },
  { command: 'bin/gateway tools restore claude', change: yes },
  { command: 'bin/gateway launch', prints: /claude was started for http:\/\/127\.0\.0\.1/ },
  { command: 'export ANTHROPIC_BASE_URL=' },
  { command: 'export ANTHROPIC_AUTH_TOKEN=' },
  { command: 'export ANTHROPIC_MODEL=' },
  { command: 'claude', prints: /claude was started for http:\/\/127\.0\.0\.1/ },
  { command: 'bin/gateway providers available', prints: /anthropic/ },
  {
    command: 'bin/gateway provider add anthropic',
    change: (command) => `ANTHROPIC_API_KEY=sk-ant-test ${command.replace(' --test', '')}`,
    prints: /Connected Anthropic/,
  },
  { command: 'bin/gateway provider add ollama', prints: /Connected Ollama/ },
  { command: 'bin/gateway provider add openai-compatible', stdin: 'lab-key\n', prints: /as "lab"/ },
  { command: 'bin/gateway models', prints: /demo\/echo/ },
  { command: 'bin/gateway provider remove lab', change: yes },
  { command: 'bin/gateway combo create smart', prints: /"smart" is ready/ },
  { command: 'bin/gateway combo switch smart', prints: /"auto" means/ },
  {
    command: 'bin/gateway explain REQUEST_ID',
    change: (command) =>
      command.replace(
        'REQUEST_ID',
        '"$(bin/gateway logs --json | sed -n \'s/^{"id":"\\([^"]*\\)".*/\\1/p\' | head -n 1)"',
      ),
    prints: /demo\/echo/,
  },
  { command: 'bin/gateway combo simulate smart' },
  { command: 'bin/gateway keys add ci --budget-usd 5', prints: /^sk-/ },
  { command: 'bin/gateway usage --by key', prints: /laptop/ },
  { command: 'bin/gateway alerts add slack', prints: /Added the alert "slack"/ },
  { command: 'bin/gateway alerts add webhook', prints: /Added the alert "webhook"/ },
  { command: 'bin/gateway alerts test slack', skipped: 'sends to another machine' },
  { command: 'bin/gateway events tail', skipped: 'waits for what happens; test/cli/events.test.ts runs it' },
  { command: 'claude mcp add modelgate', prints: /claude was started/ },
  { command: 'bin/gateway a2a card', prints: /"name": "Modelgate"/ },
  { command: 'bin/gateway tunnel create cloudflared', skipped: 'opens the gateway to the internet' },
  { command: 'bin/gateway agents list', prints: /opencode|agents list --all/ },
  { command: 'npm install && npm test', skipped: 'is what runs this test' },
];

/** The commands of the blocks that are for a shell, in order, without their comments. */
function commandsIn(page: string): string[] {
  return [...page.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block
      .replaceAll('\\\n', ' ')
      .split('\n')
      .map((line) => line.replace(/ +# .*$/, '').trim())
      .filter((line) => line !== ''),
  );
}

/** A newcomer with the README alone, in a clone, with an empty HOME. */
describe('the README', () => {
  let folder: string;
  let clone: string;
  let port: number;
  let env: Record<string, string>;
  let server: ChildProcess | null = null;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'modelgate-readme-'));
    clone = join(folder, 'modelgate');
    const home = join(folder, 'home');
    const bin = join(folder, 'bin');
    await Promise.all([mkdir(home), mkdir(bin)]);
    await copyProject(clone);
    port = await freePort();
    // npm has installed the packages already, for they are linked; Claude Code need not be here.
    await program(join(bin, 'npm'), '[ "$1" = install ] || exec "$REAL_NPM" "$@"');
    await program(join(bin, 'claude'), 'echo "claude was started for $ANTHROPIC_BASE_URL $*"');
    const path = `${bin}${delimiter}${process.env['PATH'] ?? ''}`;
    env = childEnv({ HOME: home, GATEWAY_PORT: String(port), TERM: 'dumb', REAL_NPM: pathOf('npm') });
    env['PATH'] = path;
  });

  after(async () => {
    if (server !== null && server.exitCode === null && server.signalCode === null) {
      // Closed when no process of the group has its output open any more.
      const closed = once(server, 'close');
      process.kill(-(server.pid ?? 0), 'SIGTERM');
      await closed;
    }
    await rm(folder, { recursive: true, force: true });
  });

  it('has a row here for each of its commands, and commands for each row', () => {
    const commands = commandsIn(readme);
    assert.deepEqual(
      commands.filter((command, index) => !command.startsWith(rows[index]?.command ?? '\0')),
      [],
    );
    assert.equal(commands.length, rows.length);
  });

  it('works as it is written, from the start to the last command', { timeout: 3 * PATIENCE_MS }, async () => {
    for (const [index, written] of commandsIn(readme).entries()) {
      const row = rows[index];
      assert.ok(row !== undefined);
      if (row.skipped !== undefined) continue;
      const command = (row.change ?? String)(written).replaceAll('20128', String(port));
      if (row.until !== undefined) await started(command, row.until);
      else if (command.startsWith('export ')) await exported(command);
      else await ran(command, row);
    }
  });

  it('shows a program that asks with the SDK of OpenAI', async () => {
    const [, source = ''] = /^```js\n([\s\S]*?)^```/m.exec(readme) ?? [];
    await writeFile(join(clone, 'readme.mjs'), source.replaceAll('20128', String(port)));
    await ran('node_modules/node/bin/node readme.mjs', { command: '', prints: /good morning/ });
  });

  it('has links that work in the package too, and so have the pages that it leads to', () => {
    const { files } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { files: string[] };
    const packed = (path: string) =>
      [...files, 'README.md', 'LICENSE', 'package.json'].some(
        (file) => path === file || path.startsWith(`${file}/`),
      );
    const broken = globSync(['*.md', 'docs/**/*.md'], { cwd: project })
      .filter(packed)
      .flatMap((page) =>
        [...readFileSync(join(project, page), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g)]
          .map(([, target = '']) => normalize(join(dirname(page), target)))
          .filter((target) => !packed(target))
          .map((target) => `${page}: ${target}`),
      );
    assert.deepEqual(broken, []);
  });

  async function started(command: string, ready: RegExp): Promise<void> {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: clone,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    server = child;
    let output = '';
    await new Promise<void>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece: Buffer) => {
          output += piece.toString();
          if (ready.test(output)) resolve();
        });
      child.once('exit', (code) => reject(new Error(`${command} ended with ${code}: ${output}`)));
    });
  }

  /** What the shell knows from then on. */
  async function exported(command: string): Promise<void> {
    const [, name = ''] = /^export (\w+)=/.exec(command) ?? [];
    const { stdout } = await ran(`${command}; printf %s "$${name}"`, { command });
    assert.notEqual(stdout, '', command);
    env[name] = stdout;
  }

  async function ran(command: string, { code = 0, prints, stdin = '' }: Row): Promise<{ stdout: string }> {
    const child = spawn('/bin/sh', ['-c', command], { cwd: clone, env });
    child.stdin.on('error', () => {});
    child.stdin.end(stdin);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (piece: Buffer) => {
      stdout += piece.toString();
    });
    child.stderr.on('data', (piece: Buffer) => {
      stderr += piece.toString();
    });
    const [status] = await once(child, 'close');
    assert.equal(status, code, `${command}\n${stdout}${stderr}`);
    if (prints !== undefined) assert.match(`${stdout}${stderr}`, prints, command);
    return { stdout };
  }
});

async function program(path: string, body: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
}

function pathOf(name: string): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? name;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
