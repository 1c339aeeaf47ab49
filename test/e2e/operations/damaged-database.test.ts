import assert from 'node:assert/strict';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startGateway, waitFor } from '../../support/gateway/gateway.ts';

it('a database that is lost while the gateway runs makes it unready, and it does not start on an emptied one', async () => {
  const gateway = await startGateway();
  const path = join(gateway.dataDir, 'modelgate.db');
  const ready = () => gateway.send({ method: 'GET', path: '/readyz' });
  try {
    assert.equal((await ready()).status, 200);
    renameSync(path, `${path}.away`);
    await waitFor('the loss to be noticed', async () => {
      const reply = await ready();
      return reply.status === 503 && reply.text.includes('"store/file"');
    });
    assert.deepEqual((await ready()).json()['failing'], ['store']);
    await waitFor('a line in the log', () => /the database file is damaged/.test(gateway.output().stderr));
    renameSync(`${path}.away`, path);
    await waitFor('the file to be found again', async () => (await ready()).status === 200);
    const chat = { model: 'demo/echo', messages: [{ role: 'user', content: 'hi' }] };
    assert.equal((await gateway.ask('/v1/chat/completions', chat)).status, 200);
    await gateway.kill();
    for (const name of [path, `${path}-wal`, `${path}-shm`]) writeFileSync(name, '');
    const { code, stderr } = await gateway.cli('serve', '--port', '0');
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^gateway: The database .*modelgate\.db cannot be used: it is empty.*`gateway restore`/,
    );
    const doctor = await gateway.cli('doctor', '--json', '--no-liveness', '--port', '0');
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /it is empty/);
  } finally {
    await gateway.kill();
    rmSync(gateway.home, { recursive: true, force: true });
  }
});
