import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface DelayedPort {
  readonly port: number;
  /** By how long each piece is held back on its way to the target, in milliseconds; 0 for not at all. */
  delayMs: number;
  /** Whether new connections are ended at once. */
  refuses: boolean;
  /**
   * The connections that are open stay so, and nothing passes on them any more, also not the end of either side: the other end
   * vanished, and nobody was told. What is left of them then is closed after half a minute, as by servers that look for dead clients.
   * @param besides how many of them, those that were opened last, stay as they are
   */
  silence(besides?: number): void;
  /** Ends every connection, as a broken network does. */
  cut(): void;
  close(): Promise<void>;
}

/** For how long one side of a silent connection outlives the other. */
const ORPHAN_MS = 30_000;

/** A port that passes everything on to another one on this machine, later. */
export async function delayedPort(target: () => number, delayMs = 0): Promise<DelayedPort> {
  const sockets = new Set<Socket>();
  /** Those that are open, in the order in which they were opened. */
  const connections = new Set<{ silent: boolean }>();
  const own = { delayMs, refuses: false };
  const server = createServer((client) => {
    if (own.refuses) return void client.destroy();
    const connection = { silent: false };
    connections.add(connection);
    const upstream = connect(target(), '127.0.0.1');
    for (const socket of [client, upstream]) {
      socket.setNoDelay(true);
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        connections.delete(connection);
        const endBoth = () => {
          client.destroy();
          upstream.destroy();
        };
        if (!connection.silent) endBoth();
        else setTimeout(endBoth, ORPHAN_MS).unref();
      });
    }
    const pass = (to: Socket, piece: Buffer) => {
      if (!connection.silent) to.write(piece);
    };
    client.on('data', (piece) => later(own.delayMs, () => pass(upstream, piece)));
    upstream.on('data', (piece) => pass(client, piece));
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
    get refuses() {
      return own.refuses;
    },
    set refuses(is) {
      own.refuses = is;
    },
    silence(besides = 0) {
      const silenced = [...connections].slice(0, connections.size - besides);
      for (const connection of silenced) connection.silent = true;
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
