import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { startGateway, waitFor } from '../support/gateway/gateway.ts';

const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');

it('the first steps in docs/events.md do what the page says', async (t) => {
  const gateway = await startGateway();
  t.after(() => gateway.stop());
  const [, first = ''] = /^```yaml\n([\s\S]*?)^```/m.exec(page) ?? [];
  const file = join(gateway.home, 'first.yaml');
  writeFileSync(file, first);
  assert.equal((await gateway.cli('events', 'apply', file)).code, 0);
  assert.equal(readFileSync(join(gateway.dataDir, 'events.yaml'), 'utf8'), first);
  const failing = { model: 'demo/none-such', messages: [{ role: 'user', content: 'hi' }] };
  await waitFor('the event in the log', async () => {
    await gateway.ask('/v1/chat/completions', failing);
    const { stderr, stdout } = gateway.output();
    return (stdout + stderr).includes('io.modelgate.request.failed.v1');
  });
  const status = await gateway.cli('events', 'status');
  assert.equal(status.code, 0, status.stderr);
  assert.match(status.stdout, /log +running/);
});
