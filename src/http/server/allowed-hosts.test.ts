import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GatewayError } from '../../lib/error.ts';
import { allowedHosts, checkHost } from './allowed-hosts.ts';

const hosts = allowedHosts('192.168.1.5', ['Gateway.LAN', 'gw.example:8443']);
const isRefusal = (error: unknown) => error instanceof GatewayError && error.code === 'host_not_allowed';
const check = (host: string, url?: string) => checkHost({ rawHeaders: ['Host', host], url }, hosts);

describe('the allowed values of Host', () => {
  it('are the names of this machine, the address it listens on and the configured names, with any port', () => {
    for (const host of [
      'localhost',
      'LocalHost:20128',
      '127.0.0.1',
      '127.0.0.1:1',
      '[::1]:80',
      '192.168.1.5:20128',
      'gateway.lan',
      'GW.example',
    ])
      check(host);
  });

  it('are compared as whole names, without prefixes and suffixes', () => {
    const own = ['localhost', '127.0.0.1', '[::1]', '192.168.1.5', 'gateway.lan', 'gw.example'];
    for (const name of own)
      for (const host of [
        `x${name}`,
        `x.${name}`,
        `x-${name}`,
        `${name}x`,
        `${name}.x`,
        ...(/\d$/.test(name) ? [] : [`${name}.`]),
        `${name}@evil.example`,
        `evil.example@${name}`,
        `${name}/evil.example`,
        `evil.example#${name}`,
        `${name}?`,
        `${name} x`,
        `${name}, evil.example`,
      ])
        assert.throws(() => check(host), isRefusal, host);
    for (const host of ['', '127.0.0.2', '0.0.0.0', '[::2]', 'evil.example', 'localhost:port'])
      assert.throws(() => check(host), isRefusal, host);
  });

  it('do not include the unspecified address that the gateway may listen on', () => {
    for (const all of ['0.0.0.0', '::', '[::]']) {
      const listening = allowedHosts(all, []);
      for (const host of ['0.0.0.0', '[::]'])
        assert.throws(() => checkHost({ rawHeaders: ['host', host] }, listening), isRefusal, host);
      checkHost({ rawHeaders: ['host', '127.0.0.1'] }, listening);
    }
    checkHost({ rawHeaders: ['host', '[fe80::7]:1'] }, allowedHosts('fe80::7', []));
  });

  it('are required exactly once, and also in a target in absolute form', () => {
    const allow = (rawHeaders: string[], url?: string) => checkHost({ rawHeaders, url }, hosts);
    assert.throws(() => allow([]), isRefusal);
    assert.throws(() => allow(['host', 'localhost', 'HOST', 'localhost']), isRefusal);
    assert.throws(() => allow(['host', 'localhost'], 'http://evil.example/v1/models'), isRefusal);
    assert.throws(() => allow(['host', 'evil.example'], 'http://localhost/v1/models'), isRefusal);
    allow(['host', 'localhost'], 'http://127.0.0.1:20128/v1/models');
    allow(['host', 'localhost'], '/v1/models?next=http://evil.example/');
  });
});
