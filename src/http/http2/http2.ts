import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { detach } from './prior-knowledge.ts';
import type { Http2Sessions, SessionsInput } from './sessions.ts';

/** What a server of HTTP/1 needs to serve HTTP/2 on the same port. Node's HTTP/2 is loaded with the first such connection. */
export interface Http2Connections {
  /** Takes a connection over from Node's HTTP/1 server, which stopped at the preface of HTTP/2. */
  takeOver(socket: Socket, behindPreface: Buffer): void;
  /** How many exchanges are open. */
  open(): number;
  /** The sockets of the requests that are being answered. */
  busy(): Iterable<Duplex>;
  /** Accepts no more requests; open ones continue. */
  drain(): void;
  /** Ends every connection at once. */
  close(): void;
}

export interface Http2Input extends SessionsInput {
  /** Called if Node's HTTP/2 cannot be loaded. */
  onLoadError(error: unknown): void;
}

export function createHttp2Connections(input: Http2Input): Http2Connections {
  let loading: Promise<Http2Sessions> | null = null;
  let sessions: Http2Sessions | null = null;
  let draining = false;
  const load = async (): Promise<Http2Sessions> => {
    const { createHttp2Sessions } = await import('./sessions.ts');
    sessions = createHttp2Sessions(input);
    if (draining) sessions.drain();
    return sessions;
  };
  return {
    takeOver(socket, behindPreface) {
      detach(socket);
      loading ??= load();
      loading.then(
        (loaded) => loaded.accept(socket, behindPreface),
        (error: unknown) => {
          loading = null;
          input.onLoadError(error);
          socket.destroy();
        },
      );
    },
    open: () => sessions?.open() ?? 0,
    busy: () => sessions?.busy() ?? [],
    drain() {
      draining = true;
      sessions?.drain();
    },
    close: () => sessions?.close(),
  };
}
