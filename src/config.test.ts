import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../test/support/machine/folder.ts';
import { isLoopback, loadConfig, readVariable, setVariables } from './config.ts';
import { GatewayError } from './lib/error.ts';

/** A message of a GatewayError that `load` throws. */
function refusal(load: () => unknown): string {
  try {
    load();
  } catch (error) {
    assert.ok(error instanceof GatewayError, String(error));
    assert.equal(error.code, 'invalid_request');
    return error.message;
  }
  return assert.fail('it was accepted');
}

describe('the configuration', () => {
  it('has defaults that listen on this machine only and want a key', (test) => {
    const { authRequired, dataDir, host, port, sources, storageKey } = loadConfig({
      env: { HOME: temporaryFolder(test) },
    });
    assert.deepEqual([host, port, authRequired, storageKey], ['127.0.0.1', 20_128, true, null]);
    assert.match(dataDir.replaceAll('\\', '/'), /\/\.local\/share\/modelgate$/);
    assert.deepEqual(new Set(Object.values(sources)), new Set(['default']));
  });

  it('takes a flag before the environment, that before the file, that before the default', (test) => {
    const dataDir = temporaryFolder(test);
    writeFileSync(
      join(dataDir, 'config.json'),
      JSON.stringify({ host: '127.0.0.3', port: 3, log_level: 'warn' }),
    );
    const env = { DATA_DIR: dataDir, GATEWAY_HOST: '127.0.0.2', GATEWAY_PORT: '2', GATEWAY_LOG_LEVEL: '' };
    const config = loadConfig({ env, flags: { port: '1' } });
    assert.deepEqual([config.port, config.host, config.logLevel], [1, '127.0.0.2', 'warn']);
    const { port, host, logLevel, authRequired, dataDir: where } = config.sources;
    assert.deepEqual(
      [port, host, logLevel, authRequired, where],
      ['flag', 'environment', 'file', 'default', 'environment'],
    );
  });

  it('finds the data directory by flag, DATA_DIR, XDG_DATA_HOME and HOME, in this order', (test) => {
    const home = temporaryFolder(test);
    const at = (env: Record<string, string>, dataDir?: string) =>
      loadConfig({ env, flags: dataDir === undefined ? {} : { dataDir } }).dataDir;
    const [a, b, c] = ['a', 'b', 'c'].map((name) => join(home, name)) as [string, string, string];
    const env = { HOME: home, XDG_DATA_HOME: b, DATA_DIR: a };
    assert.equal(at(env, c), c);
    assert.equal(at(env), a);
    assert.equal(at({ ...env, DATA_DIR: '' }), join(b, 'modelgate'));
    assert.equal(at({ HOME: home }), join(home, '.local', 'share', 'modelgate'));
    assert.equal(at(env, 'relative'), resolve('relative'));
  });

  it('names what is wrong and where', (test) => {
    const dataDir = temporaryFolder(test);
    const path = join(dataDir, 'config.json');
    const file = (text: string) => {
      writeFileSync(path, text);
      return refusal(() => loadConfig({ env: { DATA_DIR: dataDir } }));
    };
    assert.match(file('{'), /config\.json is not valid JSON/);
    assert.match(file('{"prot":1}'), /config\.json: .*"prot"/);
    assert.match(file('{"limits":{"body_bytes":"many"}}'), /limits\.body_bytes/);
    assert.match(file('{"prices":{"gpt":{"input":1,"output":1}}}'), /provider\/model/);
    assert.match(file('{"prices":{"a/b":{"input":"1","output":1}}}'), /prices\.a\/b\.input: a rate is/);
    assert.match(file('{"prices":{"a/b":{"input":1}}}'), /prices\.a\/b: input and output/);
    assert.match(file('{"prices":{"a/b":{}}}'), /at least one rate/);
    assert.match(file('{"prices":{"a/b":{"image":"1"}}}'), /prices\.a\/b\.image: a price is/);
    assert.match(file('{"port":65536}'), /port/);
    writeFileSync(path, '{}');
    const env = { DATA_DIR: dataDir };
    assert.match(
      refusal(() => loadConfig({ env: { ...env, GATEWAY_PORT: '80a' } })),
      /GATEWAY_PORT.*"80a"/,
    );
    assert.match(
      refusal(() => loadConfig({ env, flags: { port: '-1' } })),
      /--port.*"-1"/,
    );
    assert.match(
      refusal(() => loadConfig({ env, flags: { port: '' } })),
      /--port/,
    );
    assert.match(
      refusal(() => loadConfig({ env: { ...env, GATEWAY_AUTH_REQUIRED: 'no' } })),
      /GATEWAY_AUTH_REQUIRED/,
    );
    assert.match(
      refusal(() => loadConfig({ env: { ...env, GATEWAY_LOG_LEVEL: 'loud' } })),
      /GATEWAY_LOG_LEVEL/,
    );
    assert.match(
      refusal(() => loadConfig({ env, flags: { host: '' } })),
      /--host is empty/,
    );
    assert.match(
      refusal(() => loadConfig({ env, flags: { dataDir: '' } })),
      /--data-dir is empty/,
    );
    mkdirSync(join(dataDir, 'sub', 'config.json'), { recursive: true });
    assert.match(
      refusal(() => loadConfig({ env, flags: { dataDir: join(dataDir, 'sub') } })),
      /cannot be read/,
    );
  });

  it('allows access without a key only when it is reachable from this machine alone', (test) => {
    const env = { DATA_DIR: temporaryFolder(test), GATEWAY_AUTH_REQUIRED: 'false' };
    assert.equal(loadConfig({ env }).authRequired, false);
    for (const host of ['0.0.0.0', '::', '192.168.1.2', 'example.com'])
      assert.match(
        refusal(() => loadConfig({ env, flags: { host } })),
        /only allowed on a loopback address/,
      );
  });

  it('never reads an empty storage key as a key', (test) => {
    const env = { DATA_DIR: temporaryFolder(test) };
    assert.equal(loadConfig({ env: { ...env, STORAGE_ENCRYPTION_KEY: '' } }).storageKey, null);
    const secret = 'MDEyMzQ1Njc4OWFiY2RlZg';
    const given = loadConfig({ env: { ...env, STORAGE_ENCRYPTION_KEY: secret } });
    assert.deepEqual([given.storageKey, given.sources.storageKey], [secret, 'environment']);
    assert.throws(
      () => loadConfig({ env: { ...env, STORAGE_ENCRYPTION_KEY: 'guess-me' } }),
      (error: unknown) => {
        assert.ok(error instanceof GatewayError && error.param === 'STORAGE_ENCRYPTION_KEY');
        assert.doesNotMatch(error.message, /guess-me/);
        return true;
      },
    );
  });

  it('knows which addresses are this machine’s alone', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost'])
      assert.equal(isLoopback(host), true, host);
    for (const host of [
      '',
      '0.0.0.0',
      '::',
      '10.0.0.1',
      '127.0.0.1.example.com',
      'localhost.example.com',
      '1127.0.0.1',
    ])
      assert.equal(isLoopback(host), false, host);
  });

  it('treats an empty variable as not set', () => {
    const env = { A: 'a', B: '' };
    assert.deepEqual(
      [readVariable('A', env), readVariable('B', env), readVariable('C', env)],
      ['a', undefined, undefined],
    );
    assert.deepEqual(setVariables(['A', 'B', 'C'], env), ['A']);
  });
});
