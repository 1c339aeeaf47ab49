import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { challenged, firstResult, managed } from '../support/management/management.ts';

const from = (address: string) => ({ 'x-forwarded-for': address });

describe('behind a proxy that is trusted', () => {
  const at = managed({ config: { trusted_proxies: ['127.0.0.1'] } });

  it('SC-15 and SC-16 failures count against the client that the proxy names, and nobody else', async () => {
    const wrong = (address: string) =>
      at.call('GET', '/api/auth', { basic: ['admin', 'wrong'], headers: from(address) });
    for (let count = 0; count < 6; count++) await wrong('203.0.113.7');
    assert.equal((await wrong('203.0.113.7')).status, 429);
    for (const spoofed of ['198.51.100.1, 203.0.113.7', '127.0.0.1, 203.0.113.7'])
      assert.equal((await wrong(spoofed)).status, 429, spoofed);
    const basic = ['admin', at.admin.password] as const;
    const other = await at.call('GET', '/api/auth', { basic, headers: from('203.0.113.8') });
    assert.equal(other.status, 200, other.text);
  });

  it('SC-64 a token stays bound to its network, and the audit log has the client', async () => {
    const body = { name: 'bound', scopes: ['services:read'], cidrs: ['192.0.2.0/24'] };
    const made = await at.call('POST', '/api/tokens', { token: await at.login('admin'), body });
    const token = String(firstResult(made)['token']);
    const get = (headers: Readonly<Record<string, string>>) =>
      at.call('GET', '/api/services', { token, headers });
    assert.equal((await get(from('192.0.2.9'))).status, 200);
    assert.equal((await get({ forwarded: 'for=192.0.2.9' })).status, 200);
    const refusedWith: Readonly<Record<string, string>>[] = [
      {},
      from('192.0.2.9, 203.0.113.7'),
      from('unknown'),
      { ...from('203.0.113.7'), forwarded: 'for=192.0.2.9' },
      { 'x-real-ip': '192.0.2.9' },
    ];
    for (const headers of refusedWith) challenged(await get(headers));
    const path = "/api/audit?expand=resources&filter[]=action='auth.refused'&filter[]=address='203.0.113.7'";
    const noted = await at.call('GET', path, { token: at.admin.token });
    assert.ok(Number(noted.json()['subcount']) > 0);
  });

  it('SC-15 the owner key of this machine does not work from elsewhere', async () => {
    const { status } = await at.call('GET', '/api/keys', { token: at.ownerKey() });
    assert.equal(status, 200);
    challenged(await at.call('GET', '/api/keys', { token: at.ownerKey(), headers: from('203.0.113.7') }));
    challenged(
      await at.call('GET', '/api/keys', { token: at.ownerKey(), headers: from('127.0.0.1, 203.0.113.7') }),
    );
  });
});
