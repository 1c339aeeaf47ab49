import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, it } from 'node:test';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { stub } from '../../test/support/machine/stub.ts';
import type { Config } from '../config.ts';
import { ownCommand } from './own-command.ts';

const folder = temporaryFolder({ after });
const place = (dataDir: string, source: Config['sources']['dataDir']) =>
  stub<Config>({ dataDir, sources: { dataDir: source } });

it('is the short name if the shell finds this program under it, otherwise a path', () => {
  const started = join(folder, 'gateway.js');
  writeFileSync(started, '');
  mkdirSync(join(folder, 'bin'));
  symlinkSync(started, join(folder, 'bin', 'gateway'));
  mkdirSync(join(folder, 'other'));
  writeFileSync(join(folder, 'other', 'gateway'), '');
  const command = ownCommand(place('/d', 'default'), {
    searchPath: ['', '/nowhere', join(folder, 'bin')].join(delimiter),
    started,
  });
  assert.deepEqual(command, { program: 'gateway', flags: '' });
  const another = ownCommand(place("/it's here", 'flag'), { searchPath: join(folder, 'other'), started });
  assert.match(another.program, /\/bin\/gateway$/);
  assert.equal(another.flags, " --data-dir '/it'\\''s here'");
});
