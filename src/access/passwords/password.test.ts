import assert from 'node:assert/strict';
import { scryptSync } from 'node:crypto';
import { describe, it } from 'node:test';
import { hashPassword, isOutdated, unmatchableHash, verifyPassword } from './password.ts';

describe('a hashed password', () => {
  it('is scrypt with the costs that OWASP names, over a salt of its own', async () => {
    const phc = await hashPassword('a long secret');
    const [, kind, cost, salt = '', hash = ''] = phc.split('$');
    assert.deepEqual([kind, cost], ['scrypt', 'ln=17,r=8,p=1']);
    const bytes = Buffer.from(salt, 'base64');
    assert.equal(bytes.length, 16);
    const expected = scryptSync('a long secret', bytes, 32, { N: 2 ** 17, r: 8, p: 1, maxmem: 2 ** 28 });
    assert.deepEqual(Buffer.from(hash, 'base64'), expected);
    assert.notEqual((await hashPassword('a long secret')).split('$')[3], salt);
  });

  it('is renewed when its cost parameters are outdated', () => {
    assert.equal(isOutdated(unmatchableHash()), false);
    for (const cost of ['ln=16,r=8,p=1', 'ln=17,r=4,p=1', 'ln=17,r=8,p=2', 'ln=18,r=8,p=1'])
      assert.equal(isOutdated(unmatchableHash().replace('ln=17,r=8,p=1', cost)), true, cost);
  });

  it('is checked with the costs that it was made with, up to a bound', async () => {
    const salt = Buffer.alloc(16, 7);
    const hash = scryptSync('a', salt, 32, { N: 2 ** 4, r: 1, p: 1 });
    const phc = (cost: string) => `$scrypt$${cost}$${salt.toString('base64')}$${hash.toString('base64')}`;
    const unpadded = (cost: string) =>
      phc(cost).replaceAll('=', '').replace('ln', 'ln=').replace(',r', ',r=').replace(',p', ',p=');
    assert.equal(await verifyPassword('a', unpadded('ln=4,r=1,p=1')), true);
    assert.equal(await verifyPassword('b', unpadded('ln=4,r=1,p=1')), false);
    for (const cost of ['ln=21,r=1,p=1', 'ln=4,r=17,p=1', 'ln=4,r=1,p=5', 'ln=5,r=1,p=1'])
      assert.equal(await verifyPassword('a', unpadded(cost)), false, cost);
  });
});
