import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface DelayedPort {
  readonly port: number;
  /** By how long each piece is held back on its way to the target, in milliseconds; 0 for not at all. */
  delayMs: number;
  /** Ends every connection, as a broken network does. */
  cut(): void;
  close(): Promise<void>;
}

/** A port that passes everything on to another one on this machine, later. */
export async function delayedPort(target: () => number, delayMs = 0): Promise<DelayedPort> {
  const sockets = new Set<Socket>();
  const own = { delayMs };
  const server = createServer((client) => {
    const upstream = connect(target(), '127.0.0.1');
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (piece) => later(own.delayMs, () => upstream.write(piece)));
    upstream.on('data', (piece) => client.write(piece));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: address !== null && typeof address === 'object' ? address.port : 0,
    get delayMs() {
      return own.delayMs;
    },
    set delayMs(ms) {
      own.delayMs = ms;
    },
    cut,
    async close() {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

function later(ms: number, run: () => void): void {
  if (ms === 0) run();
  else setTimeout(run, ms);
}
