import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { clientOf, inNetworks, isLoopbackAddress, plainAddress } from './client-address.ts';

describe('the address of a client', () => {
  it('is the same when it is mapped to IPv6', () => {
    assert.equal(plainAddress('::ffff:10.0.0.1'), '10.0.0.1');
    assert.equal(clientOf('::FFFF:10.0.0.1'), clientOf('10.0.0.1'));
    assert.notEqual(clientOf('10.0.0.1'), clientOf('10.0.0.2'));
  });

  it('is the same for every loopback address', () => {
    for (const own of ['127.0.0.1', '127.9.8.7', '::1', '::ffff:127.0.0.1']) {
      assert.ok(isLoopbackAddress(own), own);
      assert.equal(clientOf(own), 'loopback');
    }
    for (const other of ['128.0.0.1', '::2', '', 'localhost', '1127.0.0.1'])
      assert.equal(isLoopbackAddress(other), false, other);
  });

  it('is the same for all addresses of an IPv6 network, however they are written', () => {
    for (const one of ['2001:db8:0:1::5', '2001:0db8::1:ffff:0:0:9', 'FE80::1%eth0', '2001:db8:0:1:2:3:4:5'])
      assert.match(
        clientOf(one),
        one.startsWith('FE80') ? /^fe80:0:0:0::\/64$/ : /^2001:db8:0:1::\/64$/,
        one,
      );
  });

  it('is in a network or not', () => {
    const networks = ['10.0.0.0/8', '192.168.1.7', '2001:db8::/32'];
    for (const inside of ['10.255.0.1', '192.168.1.7', '2001:db8:5::1', '::ffff:10.0.0.1'])
      assert.ok(inNetworks(inside, networks), inside);
    for (const outside of ['11.0.0.1', '192.168.1.8', '2001:db9::1', '', 'nonsense', '::1'])
      assert.equal(inNetworks(outside, networks), false, outside);
  });

  it('is parsed from any text without an error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), fc.ipV4(), fc.string()), (text) => {
        clientOf(text);
        inNetworks(text, ['10.0.0.0/8', '::/0']);
      }),
    );
  });
});
