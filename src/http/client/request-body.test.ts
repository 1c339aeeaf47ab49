import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { sendPieces } from './request-body.ts';

type Taken = (error?: Error | null) => void;

/** A socket whose writes are taken when the test says so. */
function slowSocket() {
  const waiting: { bytes: number; callback: Taken }[] = [];
  const socket = new Writable({
    write: (piece: Buffer, _, callback) => void waiting.push({ bytes: piece.length, callback }),
    writev(pieces, callback) {
      const bytes = pieces.reduce((sum, { chunk }) => sum + (chunk as Buffer).length, 0);
      waiting.push({ bytes, callback });
    },
    // The system cancels what it has not taken.
    destroy(error, done) {
      for (const { callback } of waiting.splice(0)) callback(new Error('cancelled'));
      done(error);
    },
  });
  socket.on('error', () => {});
  return { socket: socket as Socket, waiting };
}

const SIZE = 200_000;
const head = 'POST / HTTP/1.1\r\n\r\n';
const pieces = () => Array.from({ length: 5 }, () => Buffer.alloc(SIZE, 'a'));
async function* coming() {
  yield* pieces();
}
const LENGTH = 5 * SIZE;

const ways = {
  'are there': { declared: LENGTH, make: pieces },
  'are there, in chunks': { declared: 'unknown', make: pieces },
  'are there, the last one empty': { declared: LENGTH, make: () => [...pieces(), Buffer.alloc(0)] },
  'come one by one': { declared: LENGTH, make: coming },
  'come one by one, in chunks': { declared: 'unknown', make: coming },
} as const;

/** Sends, and lets the socket take `writes` writes. */
async function sendUntil(way: keyof typeof ways, writes: number) {
  const { socket, waiting } = slowSocket();
  const { declared, make } = ways[way];
  const result: { sent: boolean | null } = { sent: null };
  sendPieces(socket, { head, declared, pieces: make() }).then((sent) => {
    result.sent = sent;
  });
  let bytes = 0;
  for (let done = 0; done < writes; done += 1) {
    await turn();
    const next = waiting.shift();
    if (next === undefined) break;
    assert.equal(result.sent, null, 'a write is still under way');
    bytes += next.bytes;
    next.callback();
  }
  await turn();
  return { result, socket, waiting, bytes };
}

describe('the pieces of a request body', () => {
  for (const way of Object.keys(ways) as (keyof typeof ways)[]) {
    it(`that ${way} count as sent once the last write was taken, and not before`, async () => {
      const { bytes, result } = await sendUntil(way, Number.POSITIVE_INFINITY);
      assert.equal(result.sent, true);
      assert.ok(bytes >= head.length + 5 * SIZE, String(bytes));
    });

    it(`that ${way} do not count as sent if the socket closes or fails meanwhile`, async () => {
      const closed = await sendUntil(way, 1);
      assert.equal(closed.result.sent, null);
      closed.socket.destroy();
      await turn();
      assert.equal(closed.result.sent, false);
      const failed = await sendUntil(way, 1);
      failed.waiting[0]?.callback(new Error('reset'));
      await turn();
      assert.equal(failed.result.sent, false);
    });

    it(`that ${way} do not count as sent on a socket that was closed before`, async () => {
      const { socket } = slowSocket();
      socket.destroy();
      const { declared, make } = ways[way];
      assert.equal(await sendPieces(socket, { head, declared, pieces: make() }), false);
    });
  }
});
