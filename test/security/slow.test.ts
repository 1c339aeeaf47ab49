import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openClient, type RawClient } from '../support/clients/client.ts';
import { managed } from '../support/management/management.ts';

const HEADERS_MS = 1000;
const BODY_MS = 2000;

describe('clients that take their time', () => {
  const at = managed({ config: { limits: { headers_timeout_ms: HEADERS_MS, body_timeout_ms: BODY_MS } } });
  /** Connects often, sends a beginning, and then a little now and again, until all have been closed. */
  const allClosed = async (count: number, beginning: string, little: string) => {
    const clients: RawClient[] = [];
    for (let index = 0; index < count; index++) clients.push(await openClient(at.gateway.port));
    try {
      await Promise.all(clients.map((client) => client.write(beginning)));
      const open = () => clients.filter(({ socket }) => !socket.destroyed && !socket.readableEnded);
      for (const { socket } of clients) {
        socket.on('error', () => {});
        socket.resume();
      }
      while (open().length > 0) {
        assert.equal((await at.call('GET', '/api/ping')).status, 200, 'others are served meanwhile');
        await delay(200);
        await Promise.all(open().map((client) => client.write(little)));
      }
    } finally {
      for (const client of clients) client.destroy();
    }
  };
  const own = () => `host: 127.0.0.1:${at.gateway.port}\r\n`;

  it('SC-48 with their headers are disconnected', async () => {
    await allClosed(100, `GET /api/ping HTTP/1.1\r\n${own()}`, 'x-a: b\r\n');
  });

  it('SC-48 with their bodies are disconnected', async () => {
    const head = `POST /api/keys HTTP/1.1\r\n${own()}x-auth-token: ${at.admin.token}\r\ncontent-length: 10000\r\n\r\n{`;
    await allClosed(100, head, ' ');
  });

  it('SC-48 and SC-49 with reading block nobody, and cost little memory', async () => {
    const { token } = at.admin;
    const before = await at.gateway.residentBytes();
    const clients: RawClient[] = [];
    for (let index = 0; index < 50; index++) clients.push(await openClient(at.gateway.port));
    const request = `GET /api/openapi.json HTTP/1.1\r\n${own()}x-auth-token: ${token}\r\n\r\n`;
    for (const { socket } of clients) {
      socket.on('error', () => {});
      socket.pause();
      // More than the buffers of a connection hold, asked for one after the other.
      socket.write(request.repeat(40));
    }
    for (let count = 0; count < 10; count++) {
      assert.equal((await at.call('GET', '/api/keys', { token })).status, 200);
      await delay(100);
    }
    const growth = (await at.gateway.residentBytes()) - before;
    for (const client of clients) client.destroy();
    assert.ok(growth < 300 * 1024 * 1024, `${growth} bytes more`);
  });
});
