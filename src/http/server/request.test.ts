import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { openClient } from '../../../test/support/clients/client.ts';
import { createServer } from './node-http.ts';
import { ChunkyRequest } from './request.ts';

/** Sends a body in chunks. @returns how much of it came, and the error that ended it */
async function received(count: number, bytes: number): Promise<{ length: number; error: string | null }> {
  const server = createServer({ IncomingMessage: ChunkyRequest });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = await openClient((server.address() as AddressInfo).port);
  client.socket.on('error', () => {});
  try {
    const requested = once(server, 'request') as Promise<[ChunkyRequest]>;
    const chunk = `${bytes.toString(16)}\r\n${'a'.repeat(bytes)}\r\n`;
    const headers = { 'transfer-encoding': 'chunked' };
    void client.send({ path: '/', headers, body: `${chunk.repeat(count)}0\r\n\r\n` });
    const [request] = await requested;
    let length = 0;
    request.on('data', (piece: Buffer) => {
      length += piece.length;
    });
    return await new Promise((resolve) => {
      request.once('end', () => resolve({ length, error: null }));
      request.once('error', (error: Error & { code?: string }) =>
        resolve({ length, error: error.code ?? '' }),
      );
    });
  } finally {
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
}

describe('a chunked request body', () => {
  it('may have many chunks of ordinary size, and a few tiny ones', async () => {
    assert.deepEqual(await received(2048, 1), { length: 2048, error: null });
    assert.deepEqual(await received(10_000, 100), { length: 1_000_000, error: null });
  });

  it('has its connection closed if it has many tiny chunks', async () => {
    const { error, length } = await received(100_000, 1);
    assert.equal(error, 'request_too_large');
    assert.ok(length <= 2048, `${length} bytes came`);
  });
});
