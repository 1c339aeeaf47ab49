import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { commonFlags, type Flag } from '../../src/cli/command.ts';
import { commandList } from '../../src/cli/commands/index.ts';
import { setupTools } from '../../src/cli/tools/setup-tools.ts';
import { installStandIn, printed } from '../support/machine/tunnel-programs.ts';
import { createSandbox, runHere, type Sandbox, type Serving } from './run.ts';
import { createUpstream, type Upstream, upstreamKey } from './upstream.ts';

/**
 * The commands that the gateway's specification lists, with their flags. `before`: run while no gateway runs, `running`:
 * run beside one. Each run says what it shows: on stdout, or where it fails, on stderr.
 */
interface Row {
  command: string;
  flags?: readonly string[];
  before?: readonly Run[];
  running?: readonly Run[];
}

interface Run {
  args: readonly string[];
  shows: RegExp;
  /** Default 0. */
  exit?: number;
  stdin?: string;
}

/** Stands for the id of the connection that `setup` made. */
const ID = 'ID of main';

const password = 'a long secret of the admin';
const storageKey = 'k3Jx9Qm2ZrT7vB1nYw5LcD8pHs4Fg6Ua0Ei';

function rowsFor(folder: string, upstream: string, other: string): readonly Row[] {
  const secrets = join(folder, 'secrets.json');
  return [
    {
      command: 'setup',
      flags: [
        ...['non-interactive', 'password', 'add-provider', 'provider', 'provider-name', 'provider-base-url'],
        ...['default-model', 'api-key', 'test-provider'],
      ],
      before: [
        {
          args: [
            ...[
              'setup',
              '--non-interactive',
              '--password',
              password,
              '--add-provider',
              '--provider',
              'openai',
            ],
            ...['--provider-name', 'main', '--provider-base-url', upstream, '--default-model', 'gpt-5'],
            ...['--api-key', upstreamKey, '--test-provider', '--json'],
          ],
          shows: /"main"/,
        },
      ],
    },
    {
      command: 'doctor',
      flags: ['json', 'no-liveness', 'host', 'liveness-url'],
      before: [
        { args: ['doctor', '--no-liveness', '--port', '0'], shows: /Config[\s\S]*Database[\s\S]*Memory/i },
        {
          args: ['doctor', '--port', '0', '--liveness-url', 'http://127.0.0.1:9/', '--json'],
          shows: /"fail"/,
          exit: 1,
        },
      ],
    },
    {
      command: 'providers available',
      flags: ['search', 'category', 'json'],
      before: [
        {
          args: ['providers', 'available', '--search', 'anthropic', '--category', 'api-key'],
          shows: /anthropic/i,
        },
      ],
    },
    {
      command: 'providers list',
      flags: ['json'],
      before: [{ args: ['providers', 'list', '--json'], shows: /"main"/ }],
    },
    { command: 'providers test', before: [{ args: ['providers', 'test', 'main'], shows: /main/ }] },
    { command: 'providers test-all', before: [{ args: ['providers', 'test-all'], shows: /main/ }] },
    { command: 'providers validate', before: [{ args: ['providers', 'validate'], shows: /main/ }] },
    {
      command: 'reset-password',
      before: [
        { args: ['reset-password', '--password-stdin'], stdin: `${password} again`, shows: /password/i },
      ],
    },
    {
      command: 'reset-encrypted-columns',
      flags: ['force'],
      before: [{ args: ['reset-encrypted-columns'], shows: /1 / }],
    },
    {
      command: 'auth export',
      flags: ['force', 'id', 'format', 'out'],
      before: [
        { args: ['auth', 'export'], shows: /Nothing was exported/, exit: 2 },
        { args: ['auth', 'export', '--force'], shows: new RegExp(upstreamKey) },
        {
          args: ['auth', 'export', '--force', '--format', 'env', '--id', ID],
          shows: new RegExp(`^GATEWAY_OPENAI_API_KEY=${upstreamKey}$`, 'm'),
        },
        { args: ['auth', 'export', '--force', '--out', secrets], shows: /^/ },
        { args: ['auth', 'export', '--force', '--id', 'nothing'], shows: /nothing/, exit: 1 },
      ],
    },
    { command: 'provider list', before: [{ args: ['provider', 'list'], shows: /main/ }] },
    {
      command: 'provider add',
      before: [{ args: ['provider', 'add', 'ollama', '--name', 'home'], shows: /home/ }],
    },
    { command: 'keys add', before: [{ args: ['keys', 'add', 'laptop'], shows: /^sk-/ }] },
    { command: 'keys list', before: [{ args: ['keys', 'list'], shows: /laptop/ }] },
    { command: 'keys remove', before: [{ args: ['keys', 'remove', 'laptop', '--yes'], shows: /laptop/ }] },
    {
      command: 'models',
      flags: ['json', 'search'],
      before: [
        { args: ['models', '--search', 'echo', '--json'], shows: /"demo\/echo"/ },
        { args: ['models', 'demo'], shows: /demo\/echo/ },
      ],
    },
    {
      command: 'combo create',
      before: [{ args: ['combo', 'create', 'smart', '--target', 'demo/echo'], shows: /smart/ }],
    },
    { command: 'combo list', before: [{ args: ['combo', 'list'], shows: /smart/ }] },
    {
      command: 'combo switch',
      before: [{ args: ['combo', 'switch', 'smart'], shows: /"auto" means the combo "smart"/ }],
    },
    { command: 'combo delete', before: [{ args: ['combo', 'delete', 'smart', '--yes'], shows: /smart/ }] },
    { command: 'config show', before: [{ args: ['config', 'show'], shows: /data_dir/i }] },
    { command: 'env show', before: [{ args: ['env', 'show'], shows: /DATA_DIR/ }] },
    { command: 'env get', before: [{ args: ['env', 'get', 'DATA_DIR'], shows: /data/ }] },
    {
      command: 'env set',
      before: [{ args: ['env', 'set', 'GATEWAY_LOG_LEVEL', 'debug'], shows: /GATEWAY_LOG_LEVEL/ }],
    },
    { command: 'completion', before: [{ args: ['completion', 'bash'], shows: /complete/ }] },
    {
      command: 'backup',
      before: [{ args: ['backup', '--output', join(folder, 'backup.tar.gz')], shows: /backup\.tar\.gz/ }],
    },
    {
      command: 'restore',
      before: [
        {
          args: ['restore', join(folder, 'backup.tar.gz'), '--yes', '--data-dir', other],
          shows: /restored/i,
        },
      ],
    },
    { command: 'status', running: [{ args: ['status'], shows: /^Running at http/ }] },
    { command: 'test', running: [{ args: ['test'], shows: /demo\/echo/ }] },
    {
      command: 'logs',
      flags: ['json', 'search', 'follow'],
      running: [{ args: ['logs', '--search', 'demo'], shows: /demo/ }],
    },
    { command: 'health', running: [{ args: ['health'], shows: /data-plane +running/ }] },
    { command: 'quota', running: [{ args: ['quota'], shows: /CONNECTION/ }] },
    {
      command: 'cache',
      running: [
        { args: ['cache'], shows: /0 answers/ },
        { args: ['cache', 'clear'], shows: /forgotten/ },
      ],
    },
    { command: 'mcp status', running: [{ args: ['mcp', 'status'], shows: /^MCP server: running at/ }] },
    { command: 'mcp restart', running: [{ args: ['mcp', 'restart'], shows: /was restarted/ }] },
    { command: 'a2a status', running: [{ args: ['a2a', 'status'], shows: /^A2A server: running at/ }] },
    { command: 'a2a card', running: [{ args: ['a2a', 'card'], shows: /"ask-a-model"/ }] },
    {
      command: 'tunnel create',
      running: [
        { args: ['tunnel', 'create', 'cloudflared'], shows: /^https:\/\/a-b-c\.trycloudflare\.com$/m },
      ],
    },
    {
      command: 'tunnel list',
      running: [{ args: ['tunnel', 'list'], shows: /cloudflared[^\n]*running[\s\S]*tailscale[\s\S]*ngrok/ }],
    },
    { command: 'tunnel stop', running: [{ args: ['tunnel', 'stop', 'cloudflared'], shows: /is stopped/ }] },
    // The next two are run by tests of their own: one asks a remote repository, the other two start another program.
    { command: 'update' },
    { command: 'launch' },
    { command: 'launch-codex' },
    ...setupTools.map(
      ({ id }): Row => ({
        command: `setup-${id}`,
        flags: ['remote', 'api-key', 'dry-run', 'port', 'model', 'yes'],
        running: [
          { args: [`setup-${id}`, '--dry-run', '--model', 'demo/echo', '--yes', '--no-test'], shows: /./ },
        ],
      }),
    ),
  ];
}

describe('the commands that the specification lists', () => {
  const started: { sandbox?: Sandbox; upstream?: Upstream; rows?: readonly Row[] } = {};
  const rows = () => started.rows ?? [];
  const sandbox = () => {
    assert.ok(started.sandbox);
    return started.sandbox;
  };
  before(async () => {
    started.sandbox = await createSandbox();
    started.upstream = await createUpstream();
    const home = join(sandbox().dataDir, '..');
    started.rows = rowsFor(home, `${started.upstream.url}/v1`, join(home, 'other'));
    process.env['HOME'] = home;
    process.env['DATA_DIR'] = sandbox().dataDir;
    process.env['STORAGE_ENCRYPTION_KEY'] = storageKey;
  });
  after(async () => {
    await started.sandbox?.close();
    await started.upstream?.close();
  });

  const idOfMain = async (): Promise<string> => {
    const { stdout } = await runHere(['providers', 'list', '--json']);
    const [main] = (JSON.parse(stdout) as { providers: { id: string }[] }).providers;
    return main?.id ?? '';
  };
  const carriesOut = async (runs: readonly Run[]) => {
    for (const { args: given, exit = 0, shows, stdin } of runs) {
      const args = await Promise.all(given.map((word) => (word === ID ? idOfMain() : word)));
      const { code, stderr, stdout } =
        stdin === undefined
          ? await runHere(args)
          : await sandbox().run(args, { stdin, env: { STORAGE_ENCRYPTION_KEY: storageKey } });
      const line = `gateway ${args.join(' ')}`;
      assert.equal(code, exit, `${line}: ${stderr}${stdout}`);
      assert.match(
        exit === 0 || args.includes('--json') ? `${stdout}${stdout === '' ? stderr : ''}` : stderr,
        shows,
        line,
      );
    }
  };

  it('exist, with their flags', async () => {
    const common = [...commonFlags.map(({ name }) => name), 'help', 'version'];
    const missing: string[] = [];
    for (const { command, flags = [] } of rows()) {
      const entry = commandList.find(({ name }) => name === command);
      const own = ((await entry?.load())?.flags ?? []).map(({ name }: Flag) => name);
      if (entry === undefined) missing.push(command);
      else
        missing.push(
          ...flags
            .filter((name) => ![...own, ...common].includes(name))
            .map((name) => `${command} --${name}`),
        );
    }
    assert.deepEqual(missing, []);
    assert.equal(setupTools.length, 12);
    for (const name of ['no-open', 'port', 'non-interactive', 'json'])
      assert.ok(common.includes(name), `--${name} is a flag of every command`);
    const serve = await commandList.find(({ name }) => name === 'serve')?.load();
    assert.ok(
      serve?.flags.some(({ name }) => name === 'mcp'),
      'gateway --mcp',
    );
    for (const flag of ['--help', '-h', '--version', '-v'])
      assert.equal((await runHere([flag])).code, 0, flag);
  });

  it('do what they say while no gateway runs', async () => {
    for (const { before: runs = [] } of rows()) await carriesOut(runs);
    const out = join(sandbox().dataDir, '..', 'secrets.json');
    assert.equal(statSync(out).mode & 0o777, 0o600);
    assert.match(readFileSync(out, 'utf8'), new RegExp(upstreamKey));
    assert.ok(existsSync(join(sandbox().dataDir, '..', 'backup.tar.gz')));
  });

  it('do what they say beside a running gateway', async () => {
    const programs = join(sandbox().dataDir, '..', 'bin');
    installStandIn(programs, 'cloudflared').plays({ prints: printed.cloudflared('a-b-c.trycloudflare.com') });
    const serving: Serving = await sandbox().serve({
      env: { PATH: programs, STORAGE_ENCRYPTION_KEY: storageKey },
    });
    try {
      for (const { running: runs = [] } of rows()) await carriesOut(runs);
    } finally {
      await serving.stop();
    }
    await carriesOut([{ args: ['mcp', 'status'], shows: /No gateway is running/, exit: 3 }]);
  });
});
