import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { variables } from '../../src/cli/variables.ts';
import { readOtelVariables } from '../../src/lib/otel-variables.ts';
import { createSandbox, type Sandbox } from './run.ts';

describe('gateway env', () => {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await createSandbox();
  });
  after(() => sandbox.close());

  it('knows every variable that the configuration reads', () => {
    const source = readFileSync(new URL('../../src/config.ts', import.meta.url), 'utf8');
    const read = [...source.matchAll(/env\['([A-Z_]+)'\]|Variable\(env, '([A-Z_]+)'/g)].map(
      ([, a, b]) => a ?? b,
    );
    const located = ['HOME', 'XDG_DATA_HOME', 'LOCALAPPDATA'];
    // OpenTelemetry's are read one by one, by names that are put together.
    const given: Record<string, string> = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      OTEL_TRACES_SAMPLER: 'traceidratio',
    };
    const noted = (name: string) => {
      read.push(name);
      return given[name];
    };
    readOtelVariables(new Proxy({}, { get: (_, name) => noted(String(name)) }));
    const own = [...new Set(read)].filter((name) => name !== undefined && !located.includes(name));
    assert.deepEqual(variables.map(({ name }) => name).toSorted(), own.toSorted());
  });

  it('shows what is set, and no secret', async () => {
    const env = { GATEWAY_LOG_LEVEL: 'warn', REDIS_URL: 'redis://:hunter2@127.0.0.1:6379' };
    for (const args of [
      ['env', 'show'],
      ['env', 'show', '--json'],
      ['env', 'get', 'REDIS_URL'],
    ]) {
      const { stdout } = await sandbox.run(args, { env });
      assert.ok(!stdout.includes('hunter2'), args.join(' '));
    }
    assert.match((await sandbox.run(['env', 'show'], { env })).stdout, /GATEWAY_LOG_LEVEL +warn/);
    assert.equal((await sandbox.run(['env', 'get', 'GATEWAY_LOG_LEVEL'], { env })).stdout, 'warn\n');
    assert.equal((await sandbox.run(['env', 'get', 'GATEWAY_HOST'], { env })).code, 1);
  });

  it('prints a line that a shell can evaluate, whatever the value', async () => {
    const value = "/tmp/it's $HOME `x`";
    const { stdout } = await sandbox.run(['env', 'set', 'DATA_DIR', value]);
    const seen = execFileSync('/bin/sh', ['-c', `${stdout}\nprintf %s "$DATA_DIR"`], { encoding: 'utf8' });
    assert.equal(seen, value);
    assert.equal((await sandbox.run(['env', 'set', 'DATA_DIR', ''])).stdout, 'unset DATA_DIR\n');
  });

  it('refuses other variables, wrong values and secrets (exit 2)', async () => {
    for (const args of [
      ['PATH', '/bin'],
      ['GATEWAY_PORT', 'many'],
      ['GATEWAY_LOG_LEVEL', 'loud'],
      ['STORAGE_ENCRYPTION_KEY', 'x'],
    ])
      assert.equal((await sandbox.run(['env', 'set', ...args])).code, 2, args.join(' '));
  });
});
