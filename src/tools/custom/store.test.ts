import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { configureTool, type ToolPlace } from '../configuring/configure.ts';
import { restoreTool } from '../configuring/restore.ts';
import { createToolService } from '../service.ts';
import { readToolConfig } from '../status.ts';
import { settingPath } from './setting-path.ts';
import { addCustomTool, removeCustomTool, shownTools } from './store.ts';

const root = 'http://127.0.0.1:20128';
const apiKey = 'sk-0123456789abcdefghijklmnopqrstuv';
const blank = { id: 'mine', name: 'Mine', binaries: ['mine'], api: 'openai-chat' };
const environment = { URL: '<base_url>', KEY: '<api_key>' };
const fileWith = (path: string, ...settings: (readonly [string, unknown])[]) => ({
  path,
  format: 'json',
  settings: settings.map(([at, value]) => ({ path: settingPath(at), value })),
});
const both = [
  ['a', '<base_url>'],
  ['b', '<api_key>'],
] as const;

describe('tools that users describe', () => {
  let folder: string;
  let place: ToolPlace;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gateway-custom-'));
    await mkdir(join(folder, 'home'));
    const machine = { platform: process.platform, home: join(folder, 'home'), variables: {} };
    place = { machine, dataDir: join(folder, 'data'), now: Date.now };
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));
  const add = (described: unknown, replace = false) => addCustomTool(place, described, { replace });

  const samples = {
    json: { text: '{\n  "theme": "dark"\n}\n', url: 'llm.url' },
    jsonc: { text: '{\n  // mine\n  "theme": "dark",\n}\n', url: '"llm.url"' },
    yaml: { text: '# mine\ntheme: dark\n', url: 'providers[name=modelgate].url' },
    toml: { text: '# mine\ntheme = "dark"\n', url: 'providers.modelgate.url' },
    env: { text: '# mine\nTHEME=dark\n', url: 'LLM_URL' },
  } as const;
  for (const [format, { text, url }] of Object.entries(samples))
    it(`${format}: pass the tests of the built-in tools`, async () => {
      const path = join(folder, 'home', `config.${format}`);
      await writeFile(path, text, { mode: 0o644 });
      const file = { ...fileWith(`~/config.${format}`, [url, '<base_url>'], ['LOGIN', '<api_key>']), format };
      const tool = await add({ ...blank, file });
      assert.equal((await readToolConfig(place, tool, [root])).status, 'not_configured');
      const target = { tool, root, apiKey, model: null };
      const change = await configureTool(place, target);
      assert.deepEqual([change.changed, change.diff.includes(apiKey)], [true, false]);
      assert.ok((await readFile(path, 'utf8')).includes(apiKey));
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.equal((await readToolConfig(place, tool, [root])).status, 'configured');
      assert.equal((await configureTool(place, target)).changed, false);
      assert.deepEqual(await readdir(join(folder, 'home')), [`config.${format}`]);
      await assert.rejects(removeCustomTool(place.dataDir, tool.id), { code: 'conflict' });
      await restoreTool(place, { tool, backupId: null });
      assert.equal(await readFile(path, 'utf8'), text);
      assert.equal((await stat(path)).mode & 0o777, 0o644);
      await removeCustomTool(place.dataDir, tool.id);
      assert.equal(
        (await shownTools(place.dataDir)).some(({ id }) => id === tool.id),
        false,
      );
    });

  it('are kept, replaced and shown by the management API', async () => {
    await add({ ...blank, environment });
    await add({ ...blank, id: 'other', environment });
    await assert.rejects(add({ ...blank, environment }), { code: 'conflict' });
    await add({ ...blank, name: 'Renamed', file: fileWith('$XDG_CONFIG_HOME/mine/c.json', ...both) }, true);
    assert.equal((await stat(join(place.dataDir, 'tools.json'))).mode & 0o777, 0o600);
    const keys = { isGatewayKey: async () => true, matcher: async () => null };
    const service = createToolService({
      place,
      root: () => root,
      names: new Set(),
      keys,
      ownerKey: () => null,
    });
    const rows = (await service.rows()).filter(
      ({ configType, id }) => configType === 'custom-builder' && id !== 'custom',
    );
    assert.deepEqual(
      rows.map(({ id, name, settings_href, status }) => [id, name, settings_href, status]),
      [
        ['other', 'Mine', null, 'not_installed'],
        ['mine', 'Renamed', '/api/cli-tools/mine-settings', 'not_installed'],
      ],
    );
    const tool = await service.withSettings('mine');
    const { path } = await service.configure(tool, { api_key: apiKey });
    assert.equal(path, join(folder, 'home/.config/mine/c.json'));
    await assert.rejects(service.withSettings('other'), { code: 'not_found' });
  });

  it('are refused with the field that is wrong', async () => {
    const dataFile = join(place.dataDir, 'config.json');
    for (const [described, problem] of [
      [{ ...blank, id: 'Mine', environment }, /"id": has small letters/],
      [{ ...blank, id: '../x', environment }, /"id": has small letters/],
      [{ ...blank, id: 'claude', environment }, /The catalogue has a tool "claude" already/],
      [{ ...blank, id: 'custom', environment }, /The catalogue has a tool "custom" already/],
      [{ ...blank, name: ' ', environment }, /"name": is empty/],
      [{ ...blank, name: 'a\u0000b', environment }, /"name": has no control characters/],
      [{ ...blank, binaries: [], environment }, /"binaries": names no program/],
      [{ ...blank, binaries: ['/usr/bin/x'], environment }, /"binaries\.0": is the name of a program/],
      [{ ...blank, color: 'red', environment }, /"color": looks like #64748B/],
      [{ ...blank, docs_url: 'file:///x', environment }, /"docs_url": is an address of HTTP/],
      [{ ...blank, api: 'soap', environment }, /"api": is openai-chat, /],
      [{ ...blank, surprise: 1, environment }, /surprise/],
      [blank, /"environment": is missing, and so is a file/],
      [{ ...blank, environment: { A: '1' } }, /"environment": has no <base_url>/],
      [{ ...blank, environment: { A: '<base_url>' } }, /has neither <api_key>/],
      [{ ...blank, environment: { 'A-B': '<base_url>', B: '<api_key>' } }, /"environment\.A-B"/],
      [{ ...blank, environment: { A: '<base_url>', B: 'Bearer <api_key>' } }, /has to stand alone/],
      [{ ...blank, environment: { A: '<url>' } }, /placeholder that does not exist: there are <base_url>/],
      [{ ...blank, file: fileWith('relative.json', ...both) }, /"file\.path": is a file: /],
      [{ ...blank, file: fileWith('~/folder/', ...both) }, /"file\.path": is a file: /],
      [{ ...blank, file: fileWith('$NOBODY_READS/x.json', ...both) }, /does not read \$NOBODY_READS/],
      [{ ...blank, file: fileWith('$CODEX_HOME/x.json', ...both) }, /\$CODEX_HOME is not set here/],
      [{ ...blank, file: fileWith(dataFile, ...both) }, /own data directory/],
      [{ ...blank, file: fileWith(join(place.dataDir, 'x/../storage.key'), ...both) }, /own data directory/],
      [{ ...blank, file: fileWith('~/x.json') }, /"file\.settings": sets nothing/],
      [{ ...blank, file: fileWith('~/x.json', ['[a=b].c', '<base_url>']) }, /begins with a name/],
      [{ ...blank, file: { ...fileWith('~/x', ...both), format: 'ini' } }, /"file\.format": is json, /],
      [
        { ...blank, file: { ...fileWith('~/x', ['a.b', '<base_url> <api_key>']), format: 'env' } },
        /names only/,
      ],
    ] as const)
      await assert.rejects(add(described), ({ message }: Error) => {
        assert.match(message, problem, JSON.stringify(described));
        return true;
      });
    assert.equal(
      (await shownTools(place.dataDir)).some(({ id }) => id === 'mine'),
      false,
    );
  });
});
