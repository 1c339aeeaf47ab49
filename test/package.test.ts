import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { copyProject } from './support/machine/clone.ts';

/** The published package, as a user gets it: packed, installed into an empty folder, run from there. */
const run = promisify(execFile);
const maximumInstalledBytes = 60 * 1024 * 1024;

/** A copy of the project: packing builds `dist/`, from which the other tests run. */
let root = '';
let folder = '';
let home = '';
let env: NodeJS.ProcessEnv = {};

/** Where packages come from, which is the machine's matter: npm tells it to the scripts that it runs. */
const sources = [
  'cache',
  'cafile',
  'globalconfig',
  'https_proxy',
  'noproxy',
  'proxy',
  'registry',
  'userconfig',
];

/** The environment of a newcomer: an empty HOME, this Node.js, and of the npm that runs the tests its sources alone. */
function newcomer(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_|^(DATA_DIR|XDG_|GATEWAY_|NODE_OPTIONS|NODE_TEST)/.test(name),
  );
  const path = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const npm = sources.flatMap((name) => {
    const value = process.env[`npm_config_${name}`];
    return value === undefined ? [] : [[`npm_config_${name}`, value] as const];
  });
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    PATH: path,
    npm_config_update_notifier: 'false',
    npm_config_fetch_retries: '1',
    ...Object.fromEntries(npm),
  };
}

const installed = (...path: string[]): string => join(folder, 'node_modules', ...path);
const gateway = (...args: string[]) => run(installed('.bin', 'gateway'), args, { cwd: folder, env });

describe('the published package', () => {
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'modelgate-package-'));
    home = join(folder, 'home');
    env = newcomer();
    await mkdir(home);
    // Without one, npm installs into whatever folder above has one, or has `node_modules`.
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    root = join(folder, 'project');
    await copyProject(root);
    await writeFile(join(root, 'dist', 'stale.js'), '');
    await run('npm', ['run', '--silent', 'package', '--', '--pack-destination', folder], { cwd: root, env });
    const [tarball = ''] = globSync('modelgate-*.tgz', { cwd: folder });
    const flags = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts'];
    await run('npm', ['install', ...flags, `./${tarball}`], { cwd: folder, env });
  });

  after(() => rm(folder, { recursive: true, force: true }));

  it('holds what runs and nothing else', () => {
    const files = globSync('**/*.*', { cwd: installed('modelgate') }).map((path) =>
      path.replaceAll('\\', '/'),
    );
    const unexpected = files.filter(
      (path) =>
        !/^(package\.json|[A-Z]+\.md|bin\/gateway\.js|docs\/.+\.(md|txt|png))$/.test(path) &&
        !/^dist\/(.+\.js|.+\.gen\.json|licenses\.txt|(codecs|lib|events\/cesql)\/.+\.d\.ts)$/.test(path) &&
        !/^dist\/dashboard\/app\/(.+\.(br|gz)|manifest\.json)$/.test(path),
    );
    assert.deepEqual(unexpected, []);
    assert.deepEqual(
      files.filter((path) => /\.test\.|fixtures|stale/.test(path)),
      [],
    );
    assert.ok(existsSync(installed('modelgate', 'LICENSE')));
  });

  it('SC-69 brings no native code, no install scripts and few megabytes', async (t) => {
    assert.deepEqual(globSync('**/{*.node,binding.gyp}', { cwd: installed() }), []);
    const scripted = globSync('**/package.json', { cwd: installed() }).filter((path) => {
      const { scripts = {} } = JSON.parse(readFileSync(installed(path), 'utf8'));
      return ['preinstall', 'install', 'postinstall'].some((name) => name in scripts);
    });
    assert.deepEqual(scripted, []);
    const bytes = await sizeOf(installed());
    t.diagnostic(`installed with its dependencies: ${(bytes / 1024 / 1024).toFixed(1)} MiB`);
    t.diagnostic(
      `of this, modelgate itself: ${((await sizeOf(installed('modelgate'))) / 1024).toFixed(0)} KiB`,
    );
    assert.ok(bytes < maximumInstalledBytes, `${bytes} bytes`);
  });

  it('bundles everything that a start loads into one file, apart from the other commands', () => {
    const dist = installed('modelgate', 'dist');
    const start = loadedBy(join(dist, 'serve', 'begin-serve.js'));
    assert.ok(start.length <= 3, start.join('\n'));
    assert.ok(start.every((path) => dirname(path) === join(dist, 'serve')));
    for (const path of globSync('{cli,chunks,serve}/*.js', { cwd: dist })) {
      const code = readFileSync(join(dist, path), 'latin1');
      assert.doesNotMatch(code, /[^\0-\x7f]/, path);
      assert.doesNotMatch(code, /^import .+ from "node:/m, path);
      if (!path.startsWith('serve'))
        assert.ok(!loadedBy(join(dist, path)).some((one) => start.includes(one)));
    }
  });

  it('has the pages of the dashboard, compressed', () => {
    const pages = globSync('dist/dashboard/app/**/*.*', { cwd: installed('modelgate') });
    for (const name of ['index.html.br', 'index.html.gz', 'licenses.txt.br', 'manifest.json'])
      assert.ok(
        pages.some((path) => path.endsWith(name)),
        name,
      );
  });

  it('prints its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const { stdout, stderr } = await gateway('--version');
    assert.equal(stdout.trim(), version);
    assert.equal(stderr, '');
  });

  it('finds a fresh machine healthy', async () => {
    // A gateway of whoever runs the tests may hold the usual port.
    const { stdout } = await gateway('doctor', '--port', String(await freePort()), '--json');
    const { checks } = JSON.parse(stdout);
    assert.deepEqual(
      checks.filter(({ status }: { status: string }) => status === 'fail'),
      [],
    );
  });

  it('serves a request to the demo model and stops on request', async () => {
    const { stdout } = await gateway('keys', 'add', 'first', '--json');
    const server = spawn(installed('.bin', 'gateway'), ['serve', '--port', '0'], { cwd: folder, env });
    try {
      const address = await listening(server);
      const response = await fetch(`${address}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${JSON.parse(stdout).key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'demo/echo', messages: [{ role: 'user', content: 'good morning' }] }),
      });
      const text = await response.text();
      assert.equal(response.status, 200, text);
      assert.match(JSON.parse(text).choices[0].message.content, /good morning/);
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null]);
    } finally {
      server.kill('SIGKILL');
    }
  });

  it('exports its codecs, which translate', async () => {
    const script = `import('modelgate/codecs').then(({ anthropicMessages, openaiChat, translateRequest }) => {
      const body = { model: 'a', seed: 7, messages: [{ role: 'user', content: 'Good morning' }] };
      const request = translateRequest({ from: openaiChat, to: anthropicMessages, model: 'b', body });
      console.log(request.body.model, request.dropped.join());
    })`;
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: folder, env });
    assert.equal(stdout, 'b seed\n');
  });

  it('exports codecs whose types are complete without those of Node.js', async () => {
    const project = join(folder, 'consumer');
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{"private":true,"type":"module"}');
    const compilerOptions = {
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
      module: 'nodenext',
      strict: true,
      skipLibCheck: false,
      noEmit: true,
    };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['page.ts'] }));
    await writeFile(
      join(project, 'page.ts'),
      `import { gemini, openaiChat, TranslationError, translateRequest, translateStream, type Usage } from 'modelgate/codecs';
       const request = translateRequest({ from: openaiChat, to: gemini, model: 'm', body: {}, dialect: { schema: 'full' } });
       const path: string | null = request.path;
       const through: TransformStream<Uint8Array, Uint8Array> = translateStream({
         request,
         onUsage(usage: Usage | null) {
           console.log(usage?.input, path);
         },
       });
       // @ts-expect-error a name is no format
       translateRequest({ from: 'openai-chat', to: gemini, model: 'm', body: {} });
       export { through, TranslationError };`,
    );
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    await run(process.execPath, [tsc, '-p', project], { cwd: project }).catch((error) =>
      assert.fail(`${error.stdout}${error.stderr}`),
    );
  });

  it('exports CESQL with types', async () => {
    const script = `import('modelgate/cesql').then(({ compile }) => {
      const { expression } = compile("type LIKE 'com.example.%'");
      console.log(expression.matches({ type: 'com.example.made' }));
    })`;
    const { stdout } = await run(process.execPath, ['-e', script], { cwd: folder, env });
    assert.equal(stdout, 'true\n');
    assert.ok(existsSync(installed('modelgate', 'dist', 'events', 'cesql', 'cesql.d.ts')));
  });

  it('says in one line that a Node.js is too old', (t) => {
    const old = oldNode();
    if (old === null) return t.skip('no Node.js below 22.22.2 on PATH');
    const { status, stdout, stderr } = spawnSync(
      old,
      [installed('modelgate', 'bin', 'gateway.js'), 'doctor'],
      {
        encoding: 'utf8',
        env,
      },
    );
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^gateway: needs Node\.js 24 or newer .+ and this is v\d+\.\d+\.\d+: .+\n$/);
  });
});

/** The file and what it imports, with what that imports. A package is named as it is. */
function loadedBy(file: string): string[] {
  const loaded = new Set([file]);
  for (const path of loaded) {
    if (!isAbsolute(path)) continue;
    for (const [, id = ''] of readFileSync(path, 'utf8').matchAll(/^(?:import|export) .*?"([^"]+)";$/gm))
      loaded.add(id.startsWith('.') ? join(dirname(path), id) : id);
  }
  return [...loaded];
}

async function sizeOf(directory: string): Promise<number> {
  const stats = await Promise.all(
    globSync('**', { cwd: directory }).map((path) => lstat(join(directory, path))),
  );
  return stats.reduce((sum, entry) => sum + (entry.isFile() ? entry.size : 0), 0);
}

/** The address in the ready line. Fails with all output when the server ends before it. */
async function listening(server: ChildProcess): Promise<string> {
  let output = '';
  return new Promise((resolve, reject) => {
    server.stderr?.on('data', (chunk) => {
      output += chunk;
    });
    server.stdout?.on('data', (chunk) => {
      output += chunk;
      const [, address] = /listening on (http:\/\/\S+)/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    });
    server.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${output}`)));
  });
}

/** A Node.js on PATH that the package does not support, or null. */
function oldNode(): string | null {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(directory, process.platform === 'win32' ? 'node.exe' : 'node');
    if (!existsSync(candidate)) continue;
    const { stdout } = spawnSync(candidate, ['--version'], { encoding: 'utf8' });
    const [, major = '0'] = /^v(\d+)/.exec(stdout ?? '') ?? [];
    if (Number(major) > 0 && Number(major) < 22) return candidate;
  }
  return null;
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  assert.ok(address !== null && typeof address !== 'string');
  server.close();
  await once(server, 'close');
  return address.port;
}
