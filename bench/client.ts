import { connect, type Socket } from 'node:net';
import { createComparison, createMessageReader } from './wire.ts';

/** What a connection sends, over and over, and what must come back. */
export interface Expectation {
  request: Buffer;
  /** What must come; null when it need only be whole. */
  body: Buffer | null;
  /** SSE frames in `body`. */
  frames: number;
}

export interface Exchange {
  firstByte(): void;
  /** `failure` is null when the whole answer arrived as expected. */
  done(failure: string | null): void;
}

const nothing = Buffer.alloc(0);

/** One keep-alive connection that carries one exchange at a time. */
export function openConnection(port: number): {
  send(exchange: Exchange, next: Expectation): void;
  close(): void;
} {
  let current: Exchange | null = null;
  let expected: Expectation = { request: nothing, body: null, frames: 0 };
  let status = '';
  let comparison = createComparison(nothing);
  let bytes = 0;
  let wrong = '';
  let began = false;
  const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });

  function settle(failure: string | null): void {
    const exchange = current;
    current = null;
    exchange?.done(failure);
  }

  const read = createMessageReader({
    head(text) {
      status = text.slice(9, 12);
      comparison = createComparison(expected.body ?? nothing);
      bytes = 0;
      wrong = '';
      began = false;
    },
    body(piece) {
      bytes += piece.length;
      if (expected.body !== null) comparison.add(piece);
      if (status !== '200' && wrong.length < 300) wrong += piece.toString('latin1', 0, 300);
      if (began) return;
      began = true;
      current?.firstByte();
    },
    end() {
      if (status !== '200') settle(`status ${status}: ${wrong}`);
      else if (expected.body === null ? bytes > 0 : comparison.matches()) settle(null);
      else settle('the answer is not what the upstream sent');
    },
  });
  socket.on('data', (bytes: Buffer) => {
    try {
      read(bytes);
    } catch (error) {
      settle(String(error));
      socket.destroy();
    }
  });
  socket.on('error', (error) => settle(error.message));
  socket.on('close', () => settle('the connection closed before the answer ended'));
  return {
    send(exchange, next) {
      if (socket.destroyed) {
        exchange.done('the connection is closed');
        return;
      }
      current = exchange;
      expected = next;
      socket.write(expected.request);
    },
    close() {
      current = null;
      socket.destroy();
    },
  };
}
