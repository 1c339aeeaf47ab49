import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { outboundConnector } from '../outbound/connector.ts';
import { Pool, request } from '../outbound/undici.ts';

const FINAL = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';

/** A server that answers each request with these bytes, in pieces, and a pool of one connection to it. */
async function serving(test: TestContext, answers: readonly (readonly string[])[]) {
  let turns = 0;
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', async () => {
      const pieces = answers[turns++] ?? [];
      for (const piece of pieces) {
        socket.write(piece, 'latin1');
        for (let waited = 0; waited < 3; waited += 1) await turn();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connect = outboundConnector({ timeoutMs: 5000, listening: () => null });
  const pool = new Pool(origin, { connections: 1, pipelining: 1, connect });
  test.after(async () => {
    await pool.destroy();
    server.close();
  });
  const ask = async () => {
    const { body, statusCode } = await request(`${origin}/`, {
      method: 'POST',
      body: '{}',
      dispatcher: pool,
    });
    return [statusCode, await body.text()];
  };
  return { ask, connections: () => connections };
}

describe('an unexpected 100 Continue', () => {
  it('is skipped, however it is split', async (test) => {
    const bytes = `${CONTINUE}${FINAL}`;
    const cuts = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
    const answers = cuts.map((cut) => [bytes.slice(0, cut), bytes.slice(cut)]);
    const { ask, connections } = await serving(test, answers);
    for (const cut of cuts) assert.deepEqual(await ask(), [200, 'hello'], `cut at ${cut}`);
    assert.equal(connections(), 1);
  });

  it('is skipped twice, with headers, byte by byte, and before other interim responses', async (test) => {
    const withHeaders = 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n';
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    const { ask } = await serving(test, [
      [CONTINUE + withHeaders + FINAL],
      [...(CONTINUE + withHeaders + FINAL)],
      [CONTINUE, hints, FINAL],
      [FINAL],
    ]);
    for (let count = 0; count < 4; count += 1) assert.deepEqual(await ask(), [200, 'hello']);
  });

  it('is not skipped inside a body', async (test) => {
    const head = `HTTP/1.1 200 OK\r\ncontent-length: ${CONTINUE.length * 2}\r\n\r\n`;
    const { ask } = await serving(test, [[head, CONTINUE, CONTINUE]]);
    assert.deepEqual(await ask(), [200, CONTINUE + CONTINUE]);
  });
});
