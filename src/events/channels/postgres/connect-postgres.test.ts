import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { it } from 'node:test';
import type { Address } from '../broker/address.ts';
import { connectPostgres, type PostgresUse } from './connect-postgres.ts';

/** The answers of a server that lets everybody in: AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

function addressOf(server: Server): Address {
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    scheme: 'postgres',
    hosts: [{ host: '127.0.0.1', port: address.port }],
    parameters: new Map(),
    password: '',
    path: 'events',
    secrets: [],
    username: 'somebody',
  };
}

it('gives up a server that stops answering after the login, and leaves no connection to it', async (t) => {
  const connected = Promise.withResolvers<Promise<unknown>>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    connected.resolve(once(socket, 'close'));
    socket.once('data', () => socket.write(WELCOME));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const use = {
    onEvents: null,
    async prepare(sql: Parameters<PostgresUse['prepare']>[0]) {
      await sql`select 1`;
    },
  };
  await assert.rejects(
    connectPostgres(addressOf(server), use, () => {}, 200),
    { code: 'ETIMEDOUT' },
  );
  await await connected.promise;
});

it('leaves no unhandled error when it is given up before the server answers', async (t) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on('unhandledRejection', note);
  const asked = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(WELCOME);
      socket.once('data', () => asked.resolve());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    process.off('unhandledRejection', note);
    server.close();
  });
  const connecting = connectPostgres(
    addressOf(server),
    {
      onEvents: null,
      async prepare(sql) {
        sql`select 1`.catch(() => {});
        await asked.promise;
        throw new Error('given up');
      },
    },
    () => {},
  );
  await assert.rejects(connecting, /given up/);
  // Node.js tells of it when the microtasks are done.
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(unhandled, []);
});
