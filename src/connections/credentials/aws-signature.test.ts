import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AwsKeys } from '../accounts/schema.ts';
import { awsSignature, type SignableRequest } from './aws-signature.ts';

/** The key, region, service and time of AWS's own test suite for Signature Version 4. */
const keys: AwsKeys = {
  access_key_id: 'AKIDEXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const time = Date.UTC(2015, 7, 30, 12, 36);
const origin = 'https://example.amazonaws.com';
const plain: SignableRequest = { method: 'GET', origin, path: '/', body: [] };

/** Case of the suite → the request, and what it says is the signature. */
const cases: readonly [name: string, request: SignableRequest, signature: string][] = [
  ['get-vanilla', plain, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
  [
    'get-vanilla-query-order-key-case',
    { ...plain, path: '/?Param2=value2&Param1=value1' },
    'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
  ],
  [
    'post-vanilla',
    { ...plain, method: 'POST' },
    '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
  ],
  [
    'post-x-www-form-urlencoded',
    {
      ...plain,
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: [Buffer.from('Param1='), Buffer.from('value1')],
    },
    'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
  ],
];

describe('AWS signatures', () => {
  for (const [name, request, signature] of cases)
    it(`are as the test suite says: ${name}`, () => {
      const headers = awsSignature(request, keys, 'service', time);
      const names = request.headers === undefined ? 'host;x-amz-date' : 'content-type;host;x-amz-date';
      assert.deepEqual(headers, {
        'x-amz-date': '20150830T123600Z',
        authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
      });
    });

  it('cover the token of a session', () => {
    const headers = awsSignature(plain, { ...keys, session_token: 'session' }, 'service', time);
    assert.equal(headers['x-amz-security-token'], 'session');
    assert.match(headers['authorization'] ?? '', /SignedHeaders=host;x-amz-date;x-amz-security-token,/);
    const other = awsSignature(plain, { ...keys, session_token: 'another' }, 'service', time);
    assert.notEqual(headers['authorization'], other['authorization']);
  });
});
