import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { temporaryFolder } from '../../../test/support/machine/folder.ts';
import { proxyHeader, readProxyHeader } from './proxy-header.ts';
import { createHttpServer } from './server.ts';

const limits = { headerBytes: 16_384, headersTimeoutMs: 10_000, bodyTimeoutMs: 10_000, bodyBytes: 1_000_000 };

/** A connection over a Unix socket that an HTTP server would accept: it may end on one side. */
async function accepted(test: TestContext): Promise<{ client: Socket; socket: Socket }> {
  const path = join(temporaryFolder(test), 'owner.sock');
  const server = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const arrival = once(server, 'connection');
  const client = connect(path);
  const [socket] = (await arrival) as [Socket];
  test.after(() => {
    client.destroy();
    socket.destroy();
    server.close();
  });
  return { client, socket };
}

const never = () => assert.fail('no header was sent');

describe('a PROXY header', () => {
  it('omits the zones of link-local addresses, which may be longer than the line allows', () => {
    const zone = `%${'z'.repeat(40)}`;
    const ends = {
      localAddress: `fe80::1234:5678:9abc:def0${zone}`,
      localPort: 20128,
      remoteAddress: `fe80::fedc:ba98:7654:3210${zone}`,
      remotePort: 54321,
    };
    assert.equal(
      proxyHeader(ends as Socket),
      'PROXY TCP6 fe80::fedc:ba98:7654:3210 fe80::1234:5678:9abc:def0 54321 20128\r\n',
    );
  });

  it('is not waited for after the connection has ended', { timeout: 60_000 }, async (test) => {
    const { client, socket } = await accepted(test);
    readProxyHeader(socket, never);
    client.end('PROXY TC');
    await once(socket, 'close');
  });

  it('is waited for at most five seconds', { timeout: 60_000 }, async (test) => {
    const { socket } = await accepted(test);
    test.mock.timers.enable({ apis: ['setTimeout'] });
    readProxyHeader(socket, never);
    test.mock.timers.tick(4999);
    assert.equal(socket.destroyed, false);
    test.mock.timers.tick(1);
    assert.equal(socket.destroyed, true);
  });

  it('leaves no listener and no data on the connection', { timeout: 60_000 }, async (test) => {
    const { client, socket } = await accepted(test);
    const before = socket.eventNames().map((name) => [name, socket.listenerCount(name)]);
    test.mock.timers.enable({ apis: ['setTimeout'] });
    const ready = new Promise<void>((resolve) => readProxyHeader(socket, resolve));
    client.end('PROXY TCP4 192.0.2.1 192.0.2.2 1234 80\r\n');
    await ready;
    assert.deepEqual(
      socket.eventNames().map((name) => [name, socket.listenerCount(name)]),
      before,
    );
    test.mock.timers.tick(60_000);
    assert.equal(socket.destroyed, false);
    assert.equal(socket.remoteAddress, '192.0.2.1');
  });
});

describe('a server for forwarded connections', () => {
  const createOwner = () =>
    createHttpServer({
      limits,
      renderError: ({ code, status }) => ({ status, body: { code } }),
      onRequest: never,
      onUpgrade: never,
    });

  it('closes while a connection has not sent its header yet', { timeout: 60_000 }, async (test) => {
    const path = join(temporaryFolder(test), 'owner.sock');
    const owner = createOwner();
    await owner.listenForProxies(path);
    const client = connect(path);
    test.after(() => client.destroy());
    client.resume();
    await once(client, 'connect');
    // The one before it has been accepted when a later one is answered, by its end.
    const later = connect(path);
    later.end('no header\r\n').resume();
    await once(later, 'close');
    const clientClosed = once(client, 'close');
    await owner.close();
    await clientClosed;
  });

  it('listens on a socket that only this user may open', async (test) => {
    const path = join(temporaryFolder(test), 'owner.sock');
    const mask = process.umask(0);
    test.after(() => process.umask(mask));
    const owner = createOwner();
    const listening = owner.listenForProxies(path);
    assert.equal(statSync(path).mode & 0o077, 0);
    assert.equal(process.umask(0), 0);
    await listening;
    assert.equal(statSync(path).mode & 0o777, 0o600);
    await owner.close();
  });
});
