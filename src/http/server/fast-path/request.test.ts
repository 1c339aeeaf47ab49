import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { readBody } from '../../body/body.ts';
import { simpleHead } from './head.ts';
import { SimpleRequest } from './request.ts';

function requestOf(length: number): SimpleRequest {
  const head = simpleHead(`POST /v1/x?a=b HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}`);
  assert.ok(head !== null);
  return new SimpleRequest(new Socket(), head);
}

const limit = { limitBytes: 100 };

describe('a simple request', () => {
  it('has the fields of the head that was read', () => {
    const { headers, httpVersion, method, rawHeaders, url } = requestOf(5);
    assert.deepEqual([method, url, httpVersion], ['POST', '/v1/x?a=b', '1.1']);
    assert.deepEqual(rawHeaders, ['Host', 'a', 'Content-Length', '5']);
    assert.deepEqual(headers, { host: 'a', 'content-length': '5' });
  });

  it('gives the body that arrived with its head once, without a copy', async () => {
    const request = requestOf(5);
    const body = Buffer.from('hello');
    request.arriveWhole(body);
    assert.equal(request.complete, true);
    assert.equal((await readBody(request, limit))[0], body);
    assert.equal(request.takeWhole(), null);
    // What was read of it does not fail any more.
    request.abort();
    assert.equal(request.destroyed, false);
  });

  it('can be read as a stream, like a request of Node', async () => {
    const whole = requestOf(5);
    whole.arriveWhole(Buffer.from('hello'));
    const parts = requestOf(5);
    parts.arrive(Buffer.from('he'), false);
    setImmediate(() => parts.arrive(Buffer.from('llo'), true));
    const empty = requestOf(0);
    empty.arriveWhole(Buffer.alloc(0));
    for (const [request, text] of [
      [whole, 'hello'],
      [parts, 'hello'],
      [empty, ''],
    ] as const) {
      assert.equal(Buffer.concat(await request.toArray()).toString(), text);
      assert.equal(request.complete, true);
    }
  });

  it('fails its reader if the client leaves before the body is complete or read', async () => {
    const unread = requestOf(5);
    unread.arriveWhole(Buffer.from('hello'));
    const partial = requestOf(5);
    partial.arrive(Buffer.from('he'), false);
    for (const request of [unread, partial]) {
      const failed = once(request, 'error');
      request.abort();
      assert.equal((await failed)[0].code, 'ECONNRESET');
      await assert.rejects(readBody(request, limit), { code: 'client_closed' });
    }
  });
});
