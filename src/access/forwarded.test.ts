import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../test/support/machine/properties.ts';
import { networks } from './client-address.ts';
import { clientAddress } from './forwarded.ts';

const trusted = networks(['127.0.0.1', '::1', '10.0.0.0/8']);
const through = (peer: string, xff?: string, forwarded?: string) =>
  clientAddress(
    peer,
    {
      ...(xff === undefined ? {} : { 'x-forwarded-for': xff }),
      ...(forwarded === undefined ? {} : { forwarded }),
    },
    trusted,
  );

describe('the address of a client behind a proxy', () => {
  it('is taken from a trusted proxy, and from nobody else', () => {
    assert.equal(through('127.0.0.1'), '127.0.0.1');
    assert.equal(through('127.0.0.1', '203.0.113.7'), '203.0.113.7');
    assert.equal(through('::ffff:127.0.0.1', '203.0.113.7'), '203.0.113.7');
    assert.equal(through('203.0.113.9', '127.0.0.1'), '203.0.113.9', 'not from a stranger');
    assert.equal(through('203.0.113.9', undefined, 'for=127.0.0.1'), '203.0.113.9');
    assert.equal(through('10.1.1.1', '198.51.100.2, 203.0.113.7, 10.2.2.2'), '203.0.113.7');
    assert.equal(
      through('127.0.0.1', '127.0.0.1, 203.0.113.7'),
      '203.0.113.7',
      'the client may have made up the first',
    );
    assert.equal(through('127.0.0.1', '10.0.0.9, 10.0.0.8'), '10.0.0.9');
    assert.equal(clientAddress('127.0.0.1', { 'x-forwarded-for': '203.0.113.7' }, networks([])), '127.0.0.1');
  });

  it('is read in every spelling', () => {
    for (const xff of ['203.0.113.7:4711', ' 203.0.113.7 ', 'x, 203.0.113.7'])
      assert.equal(through('127.0.0.1', xff), '203.0.113.7', xff);
    for (const xff of ['2001:db8::1', '[2001:db8::1]', '[2001:db8::1]:443'])
      assert.equal(through('127.0.0.1', xff), '2001:db8::1', xff);
    for (const text of [
      'for=203.0.113.7',
      'proto=https;For="203.0.113.7:80";by=10.0.0.1',
      'for=1.2.3.4, for=203.0.113.7',
    ])
      assert.equal(through('127.0.0.1', undefined, text), '203.0.113.7', text);
    assert.equal(through('127.0.0.1', undefined, 'for="[2001:db8::1]:4711"'), '2001:db8::1');
  });

  it('is unknown when it cannot be read, or when two headers disagree', () => {
    for (const xff of ['', 'unknown', '203.0.113.7, _hidden', '999.1.1.1', 'localhost'])
      assert.equal(through('127.0.0.1', xff), '', xff);
    assert.equal(through('127.0.0.1', undefined, 'proto=https'), '');
    assert.equal(through('127.0.0.1', '203.0.113.7', 'for=127.0.0.1'), '');
    assert.equal(through('127.0.0.1', '203.0.113.7', 'for=203.0.113.7'), '203.0.113.7');
  });

  it('is never one that only the client supplied', () => {
    const address = fc.ipV4().filter((one) => !trusted(one));
    fc.assert(
      fc.property(fc.string(), address, (invented, real) => {
        const address = through('127.0.0.1', `${invented.replace(/[\r\n]/g, '')}, ${real}`);
        assert.equal(address, real);
      }),
    );
  });
});
