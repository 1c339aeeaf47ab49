import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { temporaryFolder } from '../test/support/machine/folder.ts';
import { readRunFile, writeRunFile } from './run-file.ts';

const content = {
  pid: 4711,
  host: '127.0.0.1',
  port: 20_128,
  url: 'http://127.0.0.1:20128',
  version: '1.2.3',
  started_at: '2026-11-21T08:00:00.000Z',
  key: 'sk-local-x',
};

describe('the run file', () => {
  it('is read as it was written, by its owner only, and leaves nothing beside it', (test) => {
    const dataDir = temporaryFolder(test);
    const path = writeRunFile(dataDir, content);
    assert.equal(path, join(dataDir, 'run.json'));
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.deepEqual(readRunFile(dataDir), content);
    writeRunFile(dataDir, { ...content, pid: 4712 });
    assert.equal(readRunFile(dataDir)?.pid, 4712);
    assert.deepEqual(readdirSync(dataDir), ['run.json']);
  });

  it('that is missing, cut short or malformed is ignored', (test) => {
    const dataDir = temporaryFolder(test);
    assert.equal(readRunFile(dataDir), null);
    assert.equal(readRunFile(join(dataDir, 'nowhere')), null);
    const { key: _, ...keyless } = content;
    const whole = JSON.stringify(content);
    const texts = ['', whole.slice(0, -9), 'null', JSON.stringify(keyless)];
    for (const patch of [{ pid: 0 }, { pid: -1 }, { url: 'here' }])
      texts.push(JSON.stringify({ ...content, ...patch }));
    for (const text of texts) {
      writeFileSync(join(dataDir, 'run.json'), text);
      assert.equal(readRunFile(dataDir), null, text);
    }
  });

  it('that exists and cannot be read is an error, not a stopped gateway', (test) => {
    const dataDir = temporaryFolder(test);
    mkdirSync(join(dataDir, 'run.json'));
    assert.throws(() => readRunFile(dataDir), { code: 'EISDIR' });
  });
});
