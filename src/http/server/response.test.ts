import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { createServer } from './node-http.ts';
import { UnsniffedResponse } from './response.ts';

type Answer = (response: UnsniffedResponse) => void;

/** What a client is sent for `request`, as Latin-1; the head apart. */
async function received(
  test: TestContext,
  answer: Answer,
  request = 'GET / HTTP/1.1',
): Promise<[string, string]> {
  const server = createServer({ ServerResponse: UnsniffedResponse }, (_, response) => answer(response));
  test.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.write(`${request}\r\nHost: a\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
  const end = text.indexOf('\r\n\r\n') + 4;
  return [text.slice(0, end), text.slice(end)];
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1');

describe('a chunked response', () => {
  it('has one chunk for each piece of bytes or text that is not empty, with lengths in bytes', async (test) => {
    const [head, body] = await received(test, (response) => {
      response.writeHead(200, ['x-a', '1']);
      response.write(Buffer.from('data: é\n\n'));
      response.write('data: 😀\n\n');
      response.write('');
      response.write(Buffer.alloc(0));
      response.write('616263', 'hex');
      response.end('end');
    });
    assert.match(head, /transfer-encoding: chunked/i);
    assert.equal(
      body,
      `a\r\n${latin1('data: é\n\n')}\r\nc\r\n${latin1('data: 😀\n\n')}\r\n3\r\nabc\r\n3\r\nend\r\n0\r\n\r\n`,
    );
  });

  it('does not re-encode its head when a text follows', async (test) => {
    const [head] = await received(test, (response) => {
      response.writeHead(200, ['x-name', 'caf\u00e9']);
      response.write('é');
      response.end();
    });
    assert.match(head, /x-name: caf\u00e9\r\n/);
  });

  it('keeps the order of its pieces while it is corked', async (test) => {
    const [, body] = await received(test, (response) => {
      response.writeHead(200);
      response.cork();
      response.write(Buffer.alloc(20_000, 'x'));
      response.write('small');
      response.uncork();
      response.end();
    });
    assert.ok(body.indexOf('small') > body.lastIndexOf('x'));
  });

  it('may have a piece of any length', async (test) => {
    const lengths = [16_383, 16_384, 16_385, 1_000_000];
    const [, body] = await received(test, (response) => {
      response.writeHead(200);
      for (const length of lengths) response.write(Buffer.alloc(length, 'x'));
      response.end();
    });
    const chunks = lengths.map((length) => `${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`);
    assert.ok(body === `${chunks.join('')}0\r\n\r\n`);
  });

  it('is sent in one buffer for each piece, the first together with the head', async (test) => {
    const single = test.mock.method(Socket.prototype, '_write' as 'write');
    const gathered = test.mock.method(Socket.prototype, '_writev' as 'write');
    await received(test, (response) => {
      single.mock.resetCalls();
      response.writeHead(200, ['x-a', '1']);
      response.write(Buffer.from('first'), () => {
        response.write(Buffer.from('second'), () => response.end());
      });
    });
    assert.equal(gathered.mock.callCount(), 0);
    const [first = '', second] = single.mock.calls.map(({ arguments: [piece] }) => String(piece));
    assert.match(first, /^HTTP\/1\.1 200[\s\S]*\r\n\r\n5\r\nfirst\r\n$/);
    assert.equal(second, '6\r\nsecond\r\n');
  });

  it('has no chunks for an HTTP/1.0 client, and no body for HEAD', async (test) => {
    const answer: Answer = (response) => {
      response.writeHead(200);
      response.write(Buffer.from('one'));
      response.write(Buffer.from('two'));
      response.end('three');
    };
    assert.equal((await received(test, answer, 'GET / HTTP/1.0'))[1], 'onetwothree');
    assert.equal((await received(test, answer, 'HEAD / HTTP/1.1'))[1], '');
  });

  it('waits for an earlier response on its connection', async (test) => {
    const responses: UnsniffedResponse[] = [];
    const answer: Answer = (response) => {
      response.writeHead(200);
      response.write(Buffer.from(`${responses.push(response)}a`));
      if (responses.length < 2) return;
      const [first, second] = responses as [UnsniffedResponse, UnsniffedResponse];
      second.write(Buffer.from('2b'));
      first.write(Buffer.from('1b'));
      second.write(Buffer.from('2c'), () => second.write(Buffer.from('2d'), () => second.end()));
      first.end();
    };
    const [, body] = await received(test, answer, 'GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1');
    assert.deepEqual(body.match(/\d[a-d]\r\n/g)?.join(''), '1a\r\n1b\r\n2a\r\n2b\r\n2c\r\n2d\r\n');
  });

  it('emits drain when there is room after pieces that did not fit', async (test) => {
    const piece = Buffer.alloc(10_000, 'x');
    let full = 0;
    let pieces = 0;
    const [, body] = await received(test, (response) => {
      response.writeHead(200);
      const fill = () => {
        while (pieces < 1000) {
          pieces += 1;
          if (response.write(piece)) continue;
          full += 1;
          assert.equal(response.writableNeedDrain, true);
          response.once('drain', fill);
          return;
        }
        response.end();
      };
      fill();
    });
    assert.ok(full > 0);
    assert.equal(body, `2710\r\n${piece}\r\n`.repeat(1000).concat('0\r\n\r\n'));
  });

  it('calls back when a piece was sent, and rejects one after its end', async (test) => {
    let sent = 0;
    const errors: unknown[] = [];
    await received(test, (response) => {
      response.on('error', (error) => errors.push(error));
      response.writeHead(200);
      response.write(Buffer.from('one'), () => {
        sent += 1;
      });
      response.end();
      response.write(Buffer.from('late'), (error) => errors.push(error));
    });
    assert.equal(sent, 1);
    assert.ok(errors.length > 0);
  });
});
