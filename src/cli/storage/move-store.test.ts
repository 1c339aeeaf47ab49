import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { freePort } from '../../../test/support/brokers/server-process.ts';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { openOutbox } from '../../store/postgres/outbox.ts';
import { moveStoreTo } from './move-store.ts';

async function move(dataDir: string): Promise<unknown> {
  return moveStoreTo({
    dataDir,
    direction: 'to sqlite',
    url: `postgres://gateway@127.0.0.1:${await freePort()}/gateway`,
    now: Date.now,
    owner: () => null,
    progress() {},
  });
}

describe('moving the state of a gateway', () => {
  it('is refused while records wait in the journal of one that was killed', async (test) => {
    const dataDir = temporaryFolder(test);
    mkdirSync(join(dataDir, 'journal'));
    writeFileSync(join(dataDir, 'journal', 'one.0'), '["id"]\n["a"]\n');
    await assert.rejects(move(dataDir), {
      code: 'conflict',
      message: /wait in .*journal\. Start the gateway once/,
    });
  });

  it('is refused while records wait for a server that was away', async (test) => {
    const dataDir = temporaryFolder(test);
    const outbox = openOutbox(dataDir);
    outbox.put({ table: 'requests', columns: ['id'], rows: [['a']] });
    outbox.close();
    await assert.rejects(move(dataDir), { code: 'conflict', message: /wait in .*outbox\.db/ });
  });

  it('continues when those files are empty', async (test) => {
    const dataDir = temporaryFolder(test);
    mkdirSync(join(dataDir, 'journal'));
    writeFileSync(join(dataDir, 'journal', 'one.0'), '');
    openOutbox(dataDir).close();
    await assert.rejects(move(dataDir), { code: 'database_unreachable' });
  });
});
