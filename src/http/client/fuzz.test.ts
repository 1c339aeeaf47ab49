import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  answerInPieces,
  ask,
  type Outcome,
  ownClient,
  type RawServer,
  startRawServer,
  undiciPool,
} from '../../../test/support/clients/http-clients.ts';
import type { Client } from './client.ts';

let server: RawServer;
before(async () => {
  server = await startRawServer();
});
after(() => server.close());

const runs = Number(process.env['FUZZ_RUNS'] ?? 150);

const statusLine = fc.constantFrom(
  ...['HTTP/1.1 200 OK', 'HTTP/1.1 200', 'HTTP/1.1 429 Too Many', 'HTTP/1.0 200 OK', 'HTTP/1.1 204 None'],
  ...[
    'HTTP/1.1 304 Same',
    'HTTP/1.1 599 x',
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 103 Early',
    'HTTP/1.2 200 OK',
  ],
  ...[
    'HTTP/2.0 200 OK',
    'http/1.1 200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'ICY 200 OK',
  ],
);
const field = fc.constantFrom(
  ...[
    'Content-Length: 5',
    'Content-Length: 0',
    'Content-Length: 11',
    'content-length:5 ',
    'Content-Length: 0x5',
  ],
  ...['Content-Length: 5\t', 'Content-Length: -1', 'Content-Length: 5 5', 'Transfer-Encoding: chunked'],
  ...['transfer-encoding: Chunked', 'Transfer-Encoding: gzip', 'Transfer-Encoding: gzip, chunked'],
  ...[
    'Transfer-Encoding: identity',
    'Transfer-Encoding: chunked;a=b',
    'Transfer-Encoding:',
    'Connection: close',
  ],
  ...[
    'Connection: keep-alive',
    'Connection: upgrade',
    'Upgrade: h2c',
    'Keep-Alive: timeout=5',
    'Set-Cookie: a=b',
  ],
  ...[
    'X: y',
    'X:y',
    'X:',
    'X :y',
    ' X: y',
    'X: \xe9',
    'X: a\0b',
    'X: a\x7fb',
    'X\x80: y',
    'X: "a\tb"',
    '__proto__: x',
  ],
);
const lineEnd = fc.oneof(
  { weight: 30, arbitrary: fc.constant('\r\n') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '\r', '\r\r\n', '\r\n\r\n', '') },
);
const plainBody = fc.constantFrom('', 'hello', 'hello world', '0\r\n\r\n');
const chunk = fc
  .tuple(
    fc.constantFrom('', 'hello', 'a\r\nb', 'x'.repeat(300)),
    fc.constantFrom(
      '',
      '',
      '',
      ...[';a=b', ';a', ';a=', ';a="b;c"', ';a="\\""', ';a="b', '; a', ';', ';a;b', ' ', '\t'],
    ),
  )
  .map(([text, extension]) => `${text.length.toString(16)}${extension}\r\n${text}\r\n`);
const chunkedBody = fc
  .tuple(
    fc.array(chunk, { maxLength: 4 }),
    fc.constantFrom(
      '0\r\n\r\n',
      '0\r\n\r\n',
      '00\r\n\r\n',
      '0;x\r\n\r\n',
      '0\r\nT: u\r\n\r\n',
      '0\r\nT: u\r\nV : w\r\n\r\n',
      '',
    ),
  )
  .map(([chunks, end]) => chunks.join('') + end);
const head = fc
  .tuple(statusLine, fc.array(fc.tuple(field, lineEnd), { maxLength: 4 }), lineEnd, lineEnd)
  .map(
    ([status, fields, first, last]) =>
      status + first + fields.map(([text, end]) => text + end).join('') + last,
  );
/** Heads that are in order, with bodies that are theirs: what is behind them is reached more often. */
const soundHead = fc.constantFrom(
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
  'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
);
/** One byte is left out, doubled, or exchanged. */
const damage = fc.option(
  fc.tuple(fc.nat(), fc.constantFrom('drop', 'double', 'change'), fc.integer({ min: 0, max: 255 })),
  { freq: 2 },
);
const answer = fc
  .tuple(
    fc.oneof(head, soundHead),
    fc.oneof(plainBody, chunkedBody),
    fc.constantFrom('', '', 'HTTP/1.1 200 OK\r\n\r\n'),
    damage,
  )
  .map(([before, body, behind, damaged]) => {
    const bytes = before + body + behind;
    if (damaged === null) return bytes;
    const [place, how, code] = damaged;
    const at = place % bytes.length;
    const byte =
      how === 'drop' ? '' : how === 'double' ? bytes.charAt(at).repeat(2) : String.fromCharCode(code);
    return bytes.slice(0, at) + byte + bytes.slice(at + 1);
  });

/** Cuts a text at places, which are taken modulo its length. */
function cut(text: string, places: readonly number[]): string[] {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [...at, text.length]
    .map((end, index) => text.slice(at[index - 1] ?? 0, end))
    .filter((piece) => piece !== '');
}

/**
 * undici counts the body of a 204 and a 304 against a length that is not theirs (RFC 9110, 8.6), and takes a tab behind a length
 * for a part of it (5.5).
 */
function isMisread(bytes: string, { status }: Outcome): boolean {
  return status === 204 || status === 304 || /content-length:[^\r]*\t/i.test(bytes);
}

/** undici leaves the blanks behind a value, which are no part of it (RFC 9110, 5.5), and a name that no object should have. */
function withoutBlanks(headers: object | null): object {
  const trimmed = ([name, value]: [string, string | string[]]) => [
    name,
    Array.isArray(value) ? value.map((one) => one.replace(/[ \t]+$/, '')) : value.replace(/[ \t]+$/, ''),
  ];
  const sound = Object.entries(headers ?? {}).filter(([name]) => name !== '__proto__');
  return Object.fromEntries(sound.map(trimmed));
}

async function outcomeOf(client: Client, pieces: readonly string[]): Promise<Outcome> {
  server.behave(answerInPieces(pieces));
  const outcome = await ask(client, server.origin);
  await client.destroy();
  return outcome;
}

describe("the gateway's HTTP/1.1 client and undici", () => {
  it('read the same from a response, however its bytes are split', async () => {
    await fc.assert(
      fc.asyncProperty(answer, fc.array(fc.nat(), { maxLength: 6 }), async (bytes, places) => {
        const theirs = await outcomeOf(undiciPool(server.origin), [bytes]);
        const ours = await outcomeOf(ownClient(server.origin), [bytes]);
        const inPieces = await outcomeOf(ownClient(server.origin), cut(bytes, places));
        assert.deepEqual([inPieces.end, inPieces.status], [ours.end, ours.status]);
        if (ours.end === 'failed') return;
        assert.deepEqual(inPieces, ours);
        if (theirs.code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && isMisread(bytes, ours)) return;
        assert.deepEqual(ours, { ...theirs, headers: withoutBlanks(theirs.headers) });
      }),
      { numRuns: runs },
    );
  });

  it('send each request once, and give each its own response, whenever servers close', async () => {
    const ways = fc.array(fc.constantFrom(...Object.keys(waysToAnswer)), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(ways, fc.integer({ min: 1, max: 3 }), async (plan, atOnce) => {
        const seen: string[] = [];
        server.behave((socket) => {
          socket.on('data', (bytes) => {
            // A small request is one write, and loopback passes it on as one.
            const id = /\{(\d+)\}$/.exec(bytes.toString('latin1'))?.[1] ?? '?';
            seen.push(id);
            waysToAnswer[plan[Number(id) % plan.length] ?? '']?.(socket, `body ${id}`);
          });
        });
        const client = ownClient(server.origin);
        const total = 12;
        let next = 0;
        const failed: string[] = [];
        const askAll = async (): Promise<void> => {
          for (let number = next; number < total; number = next) {
            next += 1;
            const outcome = await ask(client, server.origin, { body: Buffer.from(`{${number}}`) });
            if (outcome.end === 'ended') assert.equal(outcome.body, `body ${number}`);
            else failed.push(String(number));
          }
        };
        await Promise.all(Array.from({ length: atOnce }, askAll));
        await client.destroy();
        assert.deepEqual(seen, [...new Set(seen)], 'a request came twice');
        // What ended well was sent; what failed may not have been.
        for (let number = 0; number < total; number += 1)
          assert.ok(seen.includes(String(number)) || failed.includes(String(number)));
      }),
      { numRuns: Math.ceil(runs / 3) },
    );
  });
});

const headOf = (text: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n`;

/** What a server does with a request whose answer is `text`. */
const waysToAnswer: Readonly<Record<string, (socket: Socket, text: string) => void>> = {
  answer: (socket, text) => socket.write(`${headOf(text)}\r\n${text}`),
  'answer in chunks': (socket, text) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`,
    ),
  'answer and close': (socket, text) => socket.end(`${headOf(text)}Connection: close\r\n\r\n${text}`),
  'answer and close without a word': (socket, text) => socket.end(`${headOf(text)}\r\n${text}`),
  'answer and reset': (socket, text) => {
    socket.write(`${headOf(text)}\r\n${text}`, () => setImmediate(() => socket.resetAndDestroy()));
  },
  'answer and close a turn later': (socket, text) => {
    socket.write(`${headOf(text)}\r\n${text}`);
    setImmediate(() => socket.end());
  },
  'answer and say more': (socket, text) =>
    socket.write(`${headOf(text)}\r\n${text}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
  'say more a turn later': (socket, text) => {
    socket.write(`${headOf(text)}\r\n${text}`);
    setImmediate(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'));
  },
  'close without an answer': (socket) => socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
  'half a head': (socket) => socket.end('HTTP/1.1 200 OK\r\nConte'),
  'half a body': (socket, text) => socket.end(`${headOf(`${text} and more`)}\r\n${text}`),
};
