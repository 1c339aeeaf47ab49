import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { first, usersFiles } from '../../../test/support/agents/tool-files.ts';
import { tools } from '../catalogue/index.ts';
import { locateFiles } from '../detection/locations.ts';
import { forVersion } from '../detection/version.ts';
import { readToolConfig } from '../status.ts';
import type { Tool } from '../tool.ts';
import { configureTool, type ToolPlace } from './configure.ts';
import { restoreTool } from './restore.ts';

const root = 'http://127.0.0.1:20128';
const apiKey = 'sk-0123456789abcdefghijklmnopqrstuv';
const target = { root, apiKey, model: 'demo/echo' };

/** Every member of the catalogue that has a file of its own. */
const withFiles = tools.filter(({ recipe }) => recipe.files.length > 0);

describe('configuring and restoring', () => {
  let folder: string;
  let place: ToolPlace;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-tools-'));
    await mkdir(join(folder, 'home'));
    const machine = { platform: process.platform, home: join(folder, 'home'), variables: {} };
    place = { machine, dataDir: join(folder, 'data'), now: Date.now };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const put = async (path: string, text: string) => {
    const at = join(folder, 'home', path);
    await mkdir(dirname(at), { recursive: true });
    await writeFile(at, text, { mode: 0o644 });
    return at;
  };
  const homeFiles = async () => {
    const entries = await readdir(join(folder, 'home'), { recursive: true });
    return Promise.all(
      entries.sort().map(async (name) => {
        const path = join(folder, 'home', name);
        const { mode } = await stat(path);
        return [name, mode, (await stat(path)).isFile() ? await readFile(path, 'latin1') : null];
      }),
    );
  };
  const status = async (tool: Tool) => (await readToolConfig(place, tool, [root])).status;
  const mainFile = async ({ recipe }: Tool) => {
    const [main] = await locateFiles(recipe, place.machine);
    return main?.path;
  };

  for (const tool of withFiles) {
    const sample = usersFiles[tool.id];

    it(`${tool.id}: has a sample of its users' file`, () => assert.ok(sample !== undefined));
    if (sample === undefined) continue;

    it(`${tool.id}: written once, read back as configured, written twice without a change, restored whole`, async () => {
      const path = await put(sample.path, sample.text);
      assert.equal(await mainFile(tool), path);
      const before = await homeFiles();
      assert.equal(await status(tool), 'not_configured');
      assert.equal((await configureTool(place, { tool, ...target, dryRun: true })).changed, true);
      assert.deepEqual(await homeFiles(), before);

      const change = await configureTool(place, { tool, ...target });
      assert.equal(change.diff.includes(apiKey), false, 'a diff shows no key');
      for (const file of change.files.filter(({ changed }) => changed)) {
        const holdsKey = (await readFile(file.path, 'utf8')).includes(apiKey);
        if (holdsKey) assert.equal((await stat(file.path)).mode & 0o777, 0o600);
      }
      const written = await homeFiles();
      assert.equal(await status(tool), 'configured');
      const again = await configureTool(place, { tool, ...target });
      assert.deepEqual([again.changed, again.diff, again.backup_id], [false, '', null]);
      assert.deepEqual(await homeFiles(), written);

      await configureTool(place, { tool, ...target, model: 'demo/tools' });
      assert.equal(await status(tool), 'configured');
      await restoreTool(place, { tool, backupId: null });
      assert.deepEqual(await homeFiles(), before);
      await assert.rejects(restoreTool(place, { tool, backupId: null }), { code: 'not_found' });
    });

    it(`${tool.id}: keeps what was added since, and restores what was there before`, async () => {
      const path = await put(sample.path, sample.text);
      await configureTool(place, { tool, ...target });
      await configureTool(place, { tool, ...target, model: 'demo/tools' });
      const written = await readFile(path, 'utf8');
      await writeFile(path, sample.addTo(written));
      assert.equal(await status(tool), 'configured');
      const { kept } = await restoreTool(place, { tool, backupId: null });
      assert.deepEqual(kept, []);
      const lines = (text: string) => text.split(/\r?\n/).filter((line) => line.trim() !== '');
      assert.deepEqual(lines(await readFile(path, 'utf8')), lines(sample.addTo(sample.text)));
    });

    it(`${tool.id}: a file that was created is removed, with its folders`, async () => {
      const before = await homeFiles();
      await configureTool(place, { tool, ...target });
      assert.equal(await status(tool), 'configured');
      assert.notDeepEqual(await homeFiles(), before);
      await restoreTool(place, { tool, backupId: null });
      assert.deepEqual(await homeFiles(), before);
    });

    it(`${tool.id}: points at another gateway after a second setup, and then no longer at this one`, async () => {
      await configureTool(place, { tool, ...target });
      const other = 'https://ai.example.com';
      await configureTool(place, { tool, ...target, root: other });
      assert.equal((await readToolConfig(place, tool, [root])).endpoint?.startsWith(other), true);
      const elsewhere = { ...place, dataDir: join(folder, 'other-data') };
      assert.equal((await readToolConfig(elsewhere, tool, [root])).status, 'other');
      assert.equal((await readToolConfig(elsewhere, tool, [other])).status, 'configured');
    });
  }

  for (const { formerRecipes = [], id } of withFiles)
    for (const { before: version } of formerRecipes)
      it(`${id} before ${version}: written, read back, written twice, and taken away whole`, async () => {
        const entry = tools.find((one) => one.id === id);
        assert.ok(entry !== undefined);
        const tool = forVersion(entry, '0.0.1');
        const before = await homeFiles();
        await configureTool(place, { tool, ...target });
        assert.equal(await status(tool), 'configured');
        assert.equal((await configureTool(place, { tool, ...target })).changed, false);
        // Which restores by what was written, whatever is installed now.
        await restoreTool(place, { tool: entry, backupId: null });
        assert.deepEqual(await homeFiles(), before);
      });

  it('an entry that its owner has changed since is left', async () => {
    const [codex] = withFiles.filter(({ id }) => id === 'codex');
    assert.ok(codex !== undefined);
    const path = await put('.codex/config.toml', 'model = "gpt-5"\n');
    await configureTool(place, { tool: codex, ...target });
    const written = await readFile(path, 'utf8');
    await writeFile(path, written.replace('"demo/echo"', '"his-own"'));
    const { kept } = await restoreTool(place, { tool: codex, backupId: null });
    assert.deepEqual(kept, ['model']);
    assert.equal(await readFile(path, 'utf8'), 'model = "his-own"\n');
  });

  it('entries that would override ours are removed, and restored later', async () => {
    const [claude] = withFiles;
    assert.ok(claude !== undefined);
    const own = { env: { ANTHROPIC_API_KEY: 'sk-ant-own-key-1234' } };
    const path = await put('.claude/settings.json', JSON.stringify(own));
    const { diff } = await configureTool(place, { tool: claude, ...target });
    assert.equal(diff.includes('sk-ant-own-key-1234'), false, "the user's own secrets are not shown either");
    const written = await readFile(path, 'utf8');
    assert.equal(written.includes('ANTHROPIC_API_KEY'), false);
    await writeFile(path, first(written));
    await restoreTool(place, { tool: claude, backupId: null });
    assert.deepEqual(JSON.parse(await readFile(path, 'utf8')), { added: 'by its owner', ...own });
  });

  it('new entries that override ours are drift, and so is a model of another endpoint', async () => {
    const drift = async (id: string, change: (text: string) => string) => {
      const tool = withFiles.find((one) => one.id === id) ?? assert.fail(id);
      const [path = ''] = (await configureTool(place, { tool, ...target })).files.map((file) => file.path);
      const file = id === 'omp' ? path.replace('models.yml', 'config.yml') : path;
      await writeFile(file, change(await readFile(file, 'utf8')));
      const { drifted, status: toolStatus } = await readToolConfig(place, tool, [root]);
      assert.equal(toolStatus, 'not_configured');
      await configureTool(place, { tool, ...target });
      assert.equal(await status(tool), 'configured', 'a second setup mends it');
      return drifted;
    };
    const withKey = (text: string) =>
      text.replace('"env": {', '"env": { "ANTHROPIC_API_KEY": "sk-ant-1234",');
    assert.deepEqual(await drift('claude', withKey), ['env.ANTHROPIC_API_KEY']);
    const another = (text: string) => text.replace('modelgate/demo/echo', 'anthropic/opus');
    assert.deepEqual(await drift('opencode', another), ['model']);
    assert.deepEqual(await drift('omp', another), ['modelRoles.default']);
  });

  it('a choice that a tool keeps elsewhere is removed, and restored later', async () => {
    const [crush] = withFiles.filter(({ id }) => id === 'crush');
    assert.ok(crush !== undefined);
    const text = '{"models":{"large":{"model":"gpt-5","provider":"openai","max_tokens":9}},"recent":["x"]}\n';
    const state = await put('.local/share/crush/crush.json', text);
    const before = await homeFiles();
    const { files } = await configureTool(place, { tool: crush, ...target });
    assert.deepEqual(files.filter(({ changed }) => changed).length, 2);
    assert.deepEqual(JSON.parse(await readFile(state, 'utf8')), { models: {}, recent: ['x'] });
    assert.equal((await configureTool(place, { tool: crush, ...target })).changed, false);
    await restoreTool(place, { tool: crush, backupId: null });
    assert.deepEqual(await homeFiles(), before);
  });

  it('a file that is not text is left alone', async () => {
    const [claude] = withFiles;
    assert.ok(claude !== undefined);
    const path = await put('.claude/settings.json', '');
    await writeFile(path, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    await assert.rejects(configureTool(place, { tool: claude, ...target }), /not UTF-8/);
    assert.deepEqual(await readFile(path), Buffer.from([0x7b, 0xff, 0xfe, 0x7d]));
    assert.equal(await status(claude), 'unknown');
  });

  it('a key that is shown in part is not written', async () => {
    const [claude] = withFiles;
    assert.ok(claude !== undefined);
    for (const masked of ['sk-abc…wxyz', 'sk-abc****wxyz', 'sk-abc...wxyz', '', 'two words'])
      await assert.rejects(configureTool(place, { tool: claude, ...target, apiKey: masked }), /incomplete/);
    assert.deepEqual(await homeFiles(), []);
  });
});
