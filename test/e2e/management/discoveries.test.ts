import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { managed } from '../../support/management/management.ts';

describe('discoveries on the machine of the gateway', () => {
  const secret = 'sk-of-the-environment-0123456789';
  const at = managed({ env: { OPENAI_API_KEY: secret } });

  it('are shown without the key, and connected on request', async () => {
    const token = at.admin.token;
    const list = await at.call('GET', '/api/discoveries?expand=resources', { token });
    assert.equal(list.status, 200, list.text);
    const rows = list.json()['resources'] as { id: string; source: string; variable: string | null }[];
    const found = rows.find(({ source }) => source === 'environment');
    assert.deepEqual([found?.id, found?.variable], ['openai', 'OPENAI_API_KEY']);
    assert.equal((await at.call('GET', '/api/connections', { token })).json()['count'], 0, 'nothing is used');
    const body = { action: 'connect' };
    const connected = await at.call('POST', '/api/discoveries/openai', { token, body });
    assert.equal(connected.status, 200, connected.text);
    const { result } = connected.json() as { result: { connection_id: string } };
    const made = await at.call('GET', `/api/connections/${result.connection_id}`, { token });
    assert.deepEqual([made.json()['provider'], made.json()['needs_reentry']], ['openai', false]);
    assert.equal(
      (await at.call('GET', '/api/discoveries/openai', { token })).status,
      404,
      'it is no offer now',
    );
    for (const { text } of [list, connected, made]) assert.ok(!text.includes(secret));
    const audit = await at.call('GET', '/api/audit?expand=resources', { token });
    assert.match(audit.text, /discoveries\.connect/);
    assert.ok(!audit.text.includes(secret));
    const operator = (await at.person('olaf', 'operator')).token;
    assert.equal((await at.call('GET', '/api/discoveries', { token: operator })).status, 403);
  });
});
