import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { unitText } from './unit.ts';

const analyze = '/usr/bin/systemd-analyze';
const input = {
  node: process.execPath,
  program: '/opt/model gate/100%/$HOME/bin/gateway.js',
  dataDir: '/home/ann/data "x"\\y',
  port: null,
  environmentFile: '/home/ann/100%/service.env',
  drainMs: 30_000,
};

describe('the unit of systemd', () => {
  it('quotes paths, so that nothing in them means something to systemd', () => {
    const text = unitText(input);
    assert.ok(text.includes('"/opt/model gate/100%%/$$HOME/bin/gateway.js" serve --non-interactive\n'));
    assert.ok(text.includes('Environment="DATA_DIR=/home/ann/data \\"x\\"\\\\y"\n'));
    assert.ok(text.includes('EnvironmentFile=-/home/ann/100%%/service.env\n'));
    assert.ok(text.includes('TimeoutStopSec=65\n'));
    assert.throws(() => unitText({ ...input, dataDir: '/a\nExecStart=/bin/false' }), /cannot|can hold/);
  });

  it('keeps a port that was named', () => {
    assert.ok(unitText({ ...input, port: 8080 }).includes('--non-interactive --port 8080\n'));
  });

  it('is understood by systemd', { skip: !existsSync(analyze) }, (test) => {
    const file = join(temporaryFolder(test), 'modelgate.service');
    writeFileSync(file, unitText({ ...input, program: process.execPath }));
    const { status, stderr } = spawnSync(analyze, ['verify', '--user', '--man=no', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: temporaryFolder(test) },
    });
    const about = stderr.split('\n').filter((line) => line.includes('modelgate.service'));
    assert.deepEqual([status, about], [0, []], stderr);
  });
});
