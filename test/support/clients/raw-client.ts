import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { HttpServer } from '../../../src/http/server/server.ts';

/** A client of bytes, which sees both ends of its connection. */
export interface RawClient {
  /** Sends a piece, and waits until the server has read it or is gone. */
  send(piece: string | Buffer): Promise<void>;
  /** Waits until nothing more can come: the server has answered all that it has read, or waits for more. */
  settled(): Promise<void>;
  /** Says that nothing more comes, and waits for the end. @returns all that the server said, in Latin-1 */
  end(): Promise<string>;
}

/** Connects to a server of this process. @param server has no other connection, nor any that is answered late */
export async function dialServer(server: HttpServer, port: number): Promise<RawClient> {
  const accepted = Promise.withResolvers<Socket>();
  let client: Socket;
  const onAccepted = (message: unknown) => {
    const { socket } = message as { socket: Socket };
    if (socket.localPort === port) accepted.resolve(socket);
  };
  subscribe('net.server.socket', onAccepted);
  client = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
  let text = '';
  client.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  client.on('error', () => {});
  client.on('end', () => client.end());
  const closed = once(client, 'close').catch(() => []);
  const peer = await accepted.promise;
  unsubscribe('net.server.socket', onAccepted);
  if (client.connecting) await once(client, 'connect');

  const isOver = () => client.destroyed || peer.destroyed || !client.writable;
  const isRead = () => isOver() || peer.bytesRead >= client.bytesWritten;
  const isSettled = () => {
    if (isOver()) return true;
    if (!isRead() || peer.writableLength > 0 || client.bytesRead < peer.bytesWritten) return false;
    for (const { request } of server.openExchanges()) if (request.complete) return false;
    return true;
  };
  return {
    async send(piece) {
      if (isOver()) return;
      client.write(piece, 'latin1');
      while (!isRead()) await turn();
    },
    async settled() {
      // What is settled for some turns has no callback under way.
      for (let quiet = 0; quiet < 5; quiet += 1) {
        await turn();
        if (!isSettled()) quiet = 0;
      }
    },
    async end() {
      client.end();
      await closed;
      return text;
    },
  };
}
