import assert from 'node:assert/strict';
import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { fc } from '../../test/support/machine/properties.ts';
import { admin } from '../../test/support/management/caller.ts';
import { configFile, loadConfig } from '../config.ts';
import { GatewayError } from '../lib/error.ts';
import { valueIn, withValue } from './file.ts';
import { settings } from './list.ts';
import { settingsResource } from './resource.ts';
import { settingRow } from './schema.ts';

interface Setup {
  file?: object;
  env?: Record<string, string>;
  flags?: { port?: string };
}

function opened(test: TestContext, { env = {}, file, flags = {} }: Setup = {}) {
  const dataDir = temporaryFolder(test);
  const path = join(dataDir, 'config.json');
  if (file !== undefined) writeFileSync(path, JSON.stringify(file));
  const config = loadConfig({ env, flags: { dataDir, ...flags } });
  const resource = settingsResource({ config, env });
  const find = async (name: string) => {
    const row = await resource.find(name, admin);
    assert.ok(row, name);
    return row;
  };
  const set = async (name: string, input: Record<string, unknown>) => {
    assert.ok(resource.update);
    return resource.update.run(await find(name), input, admin);
  };
  const reset = async (name: string) => resource.actions?.['reset']?.run(await find(name), {}, admin);
  const stored = (): unknown => JSON.parse(readFileSync(path, 'utf8'));
  return { dataDir, path, config, resource, find, set, reset, stored };
}

/** The dotted names of everything that can stand in `config.json`. */
function namesInFile(): string[] {
  return Object.entries(configFile.shape).flatMap(([name, member]) => {
    const inner = member.unwrap();
    return 'shape' in inner ? Object.keys(inner.shape).map((own) => `${name}.${own}`) : [name];
  });
}

describe('the resource of settings', () => {
  it('lists every setting of config.json, and those from elsewhere', async (test) => {
    const { resource } = opened(test);
    const editable = settings.filter(({ outside }) => outside !== true).map(({ name }) => name);
    assert.deepEqual(editable.toSorted(), namesInFile().toSorted());
    const rows = (await resource.list?.(admin)) ?? [];
    assert.deepEqual(
      rows.map(({ id }) => id),
      settings.map(({ name }) => name),
    );
    for (const row of rows) {
      assert.deepEqual(settingRow.strict().parse(row), row, row.id);
      assert.deepEqual([row['in_file'], row['restart_required']], [false, false], row.id);
    }
    assert.deepEqual(
      rows.filter((row) => row['editable'] === false).map(({ id }) => id),
      [
        'data_dir',
        'storage_encryption_key',
        'database_url',
        'redis_url',
        'smtp_url',
        'smtp_from',
        'events_private_networks',
        'alerts_commands_by_api',
        'acp_commands',
      ],
    );
    assert.equal(await resource.find('nothing', admin), null);
  });

  it('says where each comes from, and never the encryption key', async (test) => {
    const env = { GATEWAY_HOST: '127.0.0.2', STORAGE_ENCRYPTION_KEY: 'secret-secret-of-many-letters' };
    const { find, resource, set } = opened(test, {
      env,
      flags: { port: '4000' },
      file: { limits: { body_bytes: 4096 }, port: 5000 },
    });
    const eventsOf = async (name: string) => {
      const { configured, editable, source, value } = await find(name);
      return [value, source, editable, configured];
    };
    assert.deepEqual(await eventsOf('host'), ['127.0.0.2', 'environment', false, null]);
    assert.deepEqual(await eventsOf('port'), [4000, 'flag', false, 5000]);
    assert.deepEqual(await eventsOf('limits.body_bytes'), [4096, 'file', true, 4096]);
    assert.deepEqual(await eventsOf('drain_ms'), [30_000, 'default', true, null]);
    assert.deepEqual(await eventsOf('storage_encryption_key'), ['(set)', 'environment', false, null]);
    assert.equal(JSON.stringify(await resource.list?.(admin)).includes('secret-secret'), false);
    for (const name of ['host', 'port', 'data_dir', 'storage_encryption_key'])
      await assert.rejects(set(name, { value: 1 }), { code: 'conflict' }, name);
  });

  it('writes a change to config.json, which holds from the next start on', async (test) => {
    const { config, dataDir, find, path, reset, set, stored } = opened(test, {
      file: { drain_ms: 5, port: 1 },
    });
    const changed = await set('limits.body_bytes', { value: 2048 });
    assert.deepEqual(
      [changed['value'], changed['configured'], changed['source'], changed['restart_required']],
      [config.limits.bodyBytes, 2048, 'default', true],
    );
    assert.deepEqual(stored(), { drain_ms: 5, port: 1, limits: { body_bytes: 2048 } });
    assert.deepEqual(readdirSync(dataDir), ['config.json'], 'nothing is left beside it');
    assert.equal(loadConfig({ env: {}, flags: { dataDir } }).limits.bodyBytes, 2048);
    await set('audit.retention_months', { value: null });
    assert.deepEqual((await find('audit.retention_months'))['in_file'], true);
    await set('limits.headers_timeout_ms', { value: 7 });
    await reset('limits.body_bytes');
    await reset('drain_ms');
    assert.deepEqual(stored(), {
      port: 1,
      limits: { headers_timeout_ms: 7 },
      audit: { retention_months: null },
    });
    await reset('audit.retention_months');
    await reset('limits.headers_timeout_ms');
    assert.deepEqual(stored(), { port: 1 });
    const drain = await find('drain_ms');
    assert.deepEqual(
      [drain['value'], drain['source'], drain['in_file'], drain['restart_required']],
      [5, 'file', false, true],
    );
    await set('port', { value: 1 });
    assert.equal((await find('port'))['restart_required'], false, 'nothing new');
    assert.equal(statSync(path).mode & 0o777, 0o644 & ~process.umask());
  });

  it('makes the file for its owner only, and leaves a link a link', async (test) => {
    const { path, set } = opened(test);
    await set('drain_ms', { value: 9 });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const linked = opened(test);
    symlinkSync(path, linked.path);
    await linked.set('keepalive_ms', { value: 8 });
    assert.equal(lstatSync(linked.path).isSymbolicLink(), true);
    assert.deepEqual(JSON.parse(readFileSync(path, 'utf8')), { drain_ms: 9, keepalive_ms: 8 });
  });

  it('refuses what no gateway could be started with, and changes nothing', async (test) => {
    const { resource, set, stored } = opened(test, { file: { drain_ms: 5 } });
    const refused: readonly [string, unknown][] = [
      ['port', 70_000],
      ['port', '80'],
      ['log_level', 'loud'],
      ['limits.header_bytes', 1],
      ['prices', { 'nobody/x': { input: 1, output: 1 } }],
      ['prices', { 'openai/x': {} }],
      ['allowed_hosts', 'me'],
    ];
    for (const [name, value] of refused)
      await assert.rejects(set(name, { value }), { code: 'invalid_request' }, name);
    assert.equal(resource.update?.input.safeParse({}).success, false);
    await set('auth.required', { value: false });
    await assert.rejects(set('host', { value: '0.0.0.0' }), {
      code: 'invalid_request',
      param: 'auth.required',
    });
    assert.deepEqual(stored(), { drain_ms: 5, auth: { required: false } });
    const names = fc.constantFrom(...settings.map(({ name }) => name));
    await fc.assert(
      fc.asyncProperty(names, fc.jsonValue(), async (name, value) => {
        await set(name, { value }).catch((error) => assert.ok(error instanceof GatewayError, String(error)));
        assert.ok(await resource.list?.(admin), 'the file can still be used');
      }),
      { numRuns: 200 },
    );
  });

  it('reports a file that somebody has damaged meanwhile', async (test) => {
    const { path, resource } = opened(test);
    for (const text of ['{', '[]', '{"port":"x"}', '{"moon":1}']) {
      writeFileSync(path, text);
      await assert.rejects(async () => resource.list?.(admin), { code: 'conflict' }, text);
    }
  });

  it('sets and removes a value by its name', () => {
    const file = { a: 1, b: { c: 2, d: 3 } };
    assert.deepEqual(withValue(file, 'b.c', 9), { a: 1, b: { c: 9, d: 3 } });
    assert.deepEqual(withValue(withValue(file, 'b.c', undefined), 'b.d', undefined), { a: 1 });
    assert.deepEqual(withValue({}, 'x.y', 1), { x: { y: 1 } });
    assert.deepEqual(
      [valueIn(file, 'b.d'), valueIn(file, 'b.x'), valueIn(file, 'a.x.y')],
      [3, undefined, undefined],
    );
    assert.equal(valueIn(file, 'constructor'), undefined);
  });
});
