import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { temporaryFolder } from '../../test/support/machine/folder.ts';
import { userStore } from '../access/users/users.ts';
import { loadConfig } from '../config.ts';
import { openStore } from '../store/database.ts';
import { openGatewayTunnels } from './open.ts';

async function opened(test: TestContext, authRequired: boolean) {
  const folder = temporaryFolder(test);
  const store = await openStore(join(folder, 'data'), { create: true });
  test.after(() => store.close());
  const tunnels = await openGatewayTunnels({
    store,
    config: { ...loadConfig({ flags: { dataDir: folder } }), authRequired },
    listening: () => null,
    hosts: new Set(),
    log: pino({ level: 'silent' }),
    now: Date.now,
    onChange() {},
  });
  return { tunnels, users: userStore(store) };
}

describe('the tunnels of a gateway', () => {
  it('need an admin password, and then gateway keys', async (test) => {
    const { tunnels, users } = await opened(test, false);
    await assert.rejects(tunnels.create('cloudflared', null), {
      code: 'conflict',
      message: /needs an admin password first/,
    });
    await users.setAdminPassword('a hash');
    await assert.rejects(tunnels.create('cloudflared', null), {
      code: 'conflict',
      message: /needs gateway keys/,
    });
    assert.deepEqual([tunnels.created(), tunnels.open()], [[], false]);
  });
});
