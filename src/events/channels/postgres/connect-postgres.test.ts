import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { it } from 'node:test';
import { connectPostgres } from './connect-postgres.ts';

/** The answers of a server that lets everybody in: AuthenticationOk and ReadyForQuery. */
const WELCOME = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

it('leaves no error that nobody handles when it is given up before the server answers', async (t) => {
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
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const connecting = connectPostgres(
    {
      scheme: 'postgres',
      hosts: [{ host: '127.0.0.1', port: address.port }],
      parameters: new Map(),
      password: '',
      path: 'events',
      secrets: [],
      username: 'somebody',
    },
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
