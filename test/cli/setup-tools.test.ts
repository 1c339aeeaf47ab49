import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setupTools } from '../../src/cli/tools/setup-tools.ts';
import { findTool } from '../../src/tools/catalogue/index.ts';
import { usersFiles } from '../support/agents/tool-files.ts';
import { createSandbox, type Ran, type Sandbox, type Serving } from './run.ts';

interface Setup {
  changed: boolean;
  diff: string;
  path: string;
  files: { path: string; changed: boolean }[];
  steps: string[];
  gateway: string;
  model: string | null;
  key: { id: string; name: string; key: string } | null;
  test: { url: string; ok: boolean; status: number | null; error: string | null } | null;
}

/** Whether something is a file, or a folder on the way to it. */
const isAt = (name: string, file: string) => name === file || file.startsWith(`${name}/`);

describe('gateway setup-TOOL', () => {
  let sandbox: Sandbox;
  let home: string;
  let serving: Serving;
  before(async () => {
    sandbox = await createSandbox();
    home = dirname(sandbox.dataDir);
    serving = await sandbox.serve();
  });
  after(() => sandbox.close());

  const run = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
    sandbox.run(args, { env: { PATH: join(home, 'bin'), ...env } });
  const setUp = async (id: string, ...args: string[]) => {
    const ran = await run([`setup-${id}`, ...args, '--json']);
    return { ...ran, done: ran.code === 0 || ran.code === 1 ? ran.json<Setup>() : null };
  };
  const keyNames = async () =>
    ((await run(['keys', 'list', '--json'])).json()['keys'] as { name: string }[]).map(({ name }) => name);
  /** Every file of the home folder but the gateway's own. */
  const everything = async () => {
    const names = (await readdir(home, { recursive: true }))
      .filter((name) => !name.startsWith('data'))
      .sort();
    return Promise.all(
      names.map(async (name) => {
        const { mode } = await stat(join(home, name));
        return [
          name,
          mode,
          (await stat(join(home, name))).isFile() ? await readFile(join(home, name), 'utf8') : null,
        ];
      }),
    );
  };

  it('is there for tools of the catalogue', () => {
    for (const { id } of setupTools) assert.ok(findTool(id), id);
  });

  const putUsersFile = async (id: string) => {
    const { path = '', text = '' } = usersFiles[id] ?? {};
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  };

  const written = setupTools.filter(({ id }) => (findTool(id)?.recipe.files.length ?? 0) > 0);
  for (const { id } of written) {
    it(`${id}: makes a key, writes, and tries the route`, async () => {
      await putUsersFile(id);
      const before = await everything();
      const { code, done, stderr } = await setUp(id, '--model', 'demo/echo', '--yes');
      assert.equal(code, 0, stderr);
      assert.deepEqual([done?.changed, done?.key?.name, done?.gateway], [true, id, serving.url]);
      assert.deepEqual([done?.test?.ok, done?.test?.status], [true, 200], JSON.stringify(done?.test));
      const others = (rows: Awaited<ReturnType<typeof everything>>) =>
        rows.filter(([name]) => done?.files.every(({ path }) => !isAt(join(home, String(name)), path)));
      assert.deepEqual(others(await everything()), others(before));
    });
  }

  // Keys in the file, in a variable, and either.
  for (const id of ['claude', 'codex', 'qwen']) {
    it(`${id}: does nothing twice, and makes no second key`, async () => {
      const { code, done, stderr } = await setUp(id, '--model', 'demo/echo', '--yes');
      assert.deepEqual([code, done?.changed, done?.key, done?.test?.ok], [0, false, null, true], stderr);
    });
  }

  it('cursor: says what to enter in it, and tries the route', async () => {
    const before = await everything();
    const { code, done, stderr } = await setUp('cursor', '--model', 'demo/echo', '--yes');
    assert.equal(code, 0, stderr);
    assert.deepEqual([done?.changed, done?.key, done?.test?.ok], [false, null, true]);
    assert.match(done?.steps.join(' ') ?? '', new RegExp(`enter ${serving.url}/v1.*custom model demo/echo`));
    assert.deepEqual(await everything(), before);
  });

  it('shows the change in a dry run, and makes nothing', async () => {
    await putUsersFile('cline');
    const before = await everything();
    const names = await keyNames();
    const { done } = await setUp('cline', '--model', 'auto', '--dry-run');
    assert.equal(done?.changed, true);
    assert.match(done?.diff ?? '', /^--- .*\n\+\+\+ .*\n@@ /);
    assert.deepEqual([done?.key, done?.test], [null, null]);
    assert.deepEqual(await keyNames(), names);
    assert.deepEqual(await everything(), before, 'a dry run writes nothing');
  });

  it('prints the new key once, and where it has to be', async () => {
    await run(['tools', 'restore', 'codex', '--yes']);
    const { code, stderr, stdout } = await run(['setup-codex', '--model', 'demo/echo', '--yes']);
    assert.equal(code, 0, stderr);
    const key = /Its key "codex-2", shown this once only: (sk-\w+)/.exec(stdout)?.[1] ?? '';
    assert.match(stdout, /The route works: demo\/echo answered in \d+ ms/);
    assert.match(stderr, new RegExp(`export MODELGATE_API_KEY=${key}`));
    assert.match(
      stderr,
      /Trying the route: POST http:\S+\/v1\/responses, model "demo\/echo", .* at most 16 tokens/,
    );
  });

  it('never asks where there is no terminal', async () => {
    const before = await everything();
    await run(['tools', 'restore', 'kilo', '--yes']);
    const unasked = await run(['setup-kilo', '--model', 'demo/echo']);
    assert.deepEqual([unasked.code, /--yes/.test(unasked.stderr)], [2, true], unasked.stderr);
    const unnamed = await run(['setup-kilo', '--yes']);
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.stderr, /needs a model: repeat with --model MODEL\. There are .*demo\/echo/);
    const foreign = await run(['setup-kilo', '--model', 'm', '--remote', serving.url, '--yes']);
    assert.equal(foreign.code, 2);
    assert.match(foreign.stderr, /--api-key/);
    assert.equal((await everything()).length, before.length);
  });

  it('says why the route does not work, and how to go back', async () => {
    await run(['tools', 'restore', 'opencode', '--yes']);
    const { code, done, stderr } = await setUp('opencode', '--model', 'nobody/has-this', '--yes');
    assert.equal(code, 1);
    assert.deepEqual([done?.changed, done?.test?.ok, done?.test?.status], [true, false, 404]);
    assert.match(
      stderr,
      /The route does not work yet\. 404: .* `gateway models` shows .*`gateway tools restore opencode` undoes it/,
    );
    const untried = await setUp('opencode', '--model', 'nobody/has-this', '--yes', '--no-test');
    assert.deepEqual([untried.code, untried.done?.test], [0, null]);
  });

  it('warns if no connection serves Claude’s own model names', async () => {
    await run(['tools', 'restore', 'claude', '--yes']);
    const { code, stderr } = await setUp('claude', '--yes');
    assert.equal(code, 1);
    assert.match(stderr, /no connection here has them: repeat with --model/);
  });

  it('sets up a local tool for a remote gateway', async () => {
    const key = String((await run(['keys', 'add', 'elsewhere', '--json'])).json()['key']);
    const other = await createSandbox();
    try {
      const remote = ['--remote', serving.url, '--model', 'demo/echo', '--yes', '--json'];
      const ran = await other.run(['setup-cline', ...remote], { env: { GATEWAY_API_KEY: key } });
      assert.equal(ran.code, 0, ran.stderr);
      assert.equal(ran.json<Setup>().test?.ok, true);
      assert.equal(ran.stdout.includes(key), false);
      const wrong = await other.run(['setup-cline', ...remote, '--api-key', `sk-${'1'.repeat(32)}`]);
      assert.equal(wrong.code, 4, wrong.stderr);
    } finally {
      await other.close();
    }
  });

  it('sets up a tool while no gateway runs, and says that nothing was tried', async () => {
    const other = await createSandbox();
    try {
      const ran = await other.run(['setup-codex', '--model', 'auto', '--yes', '--json']);
      assert.equal(ran.code, 0, ran.stderr);
      assert.equal(ran.json<Setup>().test, null);
      assert.match(ran.stderr, /The route was not tried: .* Start it with `gateway serve`/);
    } finally {
      await other.close();
    }
  });
});
