import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import type { SeenRequest } from './upstream.ts';

/**
 * Checks the signature of a request as AWS does, from what came over the wire (Signature Version 4), written apart from
 * the code under test.
 */
export async function assertSigned(
  request: SeenRequest,
  expected: { id: string; secret: string; region: string; service: string },
): Promise<void> {
  const body = await request.whole;
  const authorization = request.header('authorization') ?? '';
  const found =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    );
  assert.ok(found, authorization);
  const [, id, day = '', region = '', service = '', names = '', signature] = found;
  assert.deepEqual(
    { id, region, service },
    { id: expected.id, region: expected.region, service: expected.service },
  );
  const signed = names.split(';');
  assert.deepEqual(signed, [...signed].sort());
  for (const name of ['host', 'x-amz-date']) assert.ok(signed.includes(name), name);
  const date = request.header('x-amz-date') ?? '';
  assert.ok(date.startsWith(day));
  const at = date.replace(/(....)(..)(..T..)(..)/, '$1-$2-$3:$4:');
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, date);
  const [path = '', query] = request.path.split('?');
  assert.equal(query, undefined, 'no query is expected here');
  // Every character of the path as sent, but for letters, digits and -._~/, once more.
  const canonicalPath = path.replace(
    /[^A-Za-z0-9\-._~/]/g,
    (sign) => `%${Buffer.from(sign).toString('hex').toUpperCase()}`,
  );
  let text = `${request.method}\n${canonicalPath}\n\n`;
  for (const name of signed) text += `${name}:${(request.header(name) ?? '').trim()}\n`;
  text += `\n${names}\n${createHash('sha256').update(body).digest('hex')}`;
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = `AWS4-HMAC-SHA256\n${date}\n${scope}\n${createHash('sha256').update(text).digest('hex')}`;
  let key = createHmac('sha256', `AWS4${expected.secret}`).update(day).digest();
  key = createHmac('sha256', key).update(region).digest();
  key = createHmac('sha256', key).update(service).digest();
  key = createHmac('sha256', key).update('aws4_request').digest();
  assert.equal(createHmac('sha256', key).update(toSign).digest('hex'), signature);
}
