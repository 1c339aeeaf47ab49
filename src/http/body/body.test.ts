import assert from 'node:assert/strict';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import {
  brotliCompressSync,
  constants,
  createGzip,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { fc } from '../../../test/support/machine/properties.ts';
import { GatewayError } from '../../lib/error.ts';
import { sendJson } from '../send.ts';
import { createHttpServer } from '../server/server.ts';
import { readBody } from './body.ts';

const LIMIT = 1_000_000;
const limits = { headerBytes: 16_384, headersTimeoutMs: 5000, bodyTimeoutMs: 10_000, bodyBytes: LIMIT };
const outcomes: { pieces: number; error: unknown }[] = [];
let waiting: (() => void)[] = [];

const server = createHttpServer({
  limits,
  renderError: (error) => ({ status: error.status, body: { code: error.code, message: error.message } }),
  onUpgrade: (_request, socket) => socket.destroy(),
  onRequest: async (exchange) => {
    try {
      const pieces = await readBody(exchange.request, { limitBytes: LIMIT });
      outcomes.push({ pieces: pieces.length, error: null });
      const body = Buffer.concat(pieces);
      sendJson(exchange, 200, { bytes: body.length, text: body.toString('base64') });
    } catch (error) {
      outcomes.push({ pieces: 0, error });
      throw error;
    } finally {
      for (const wake of waiting.splice(0)) wake();
    }
  },
});
let port = 0;
before(async () => {
  ({ port } = await server.listen('127.0.0.1', 0));
});
after(() => server.close());

function nextOutcome(): Promise<void> {
  return new Promise((resolve) => {
    waiting = [...waiting, resolve];
  });
}

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: { bytes?: number; text?: string; code?: string; message?: string };
}

function post(body: Buffer, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': body.length, ...headers } },
      async (response) => {
        const pieces: Buffer[] = [];
        for await (const piece of response) pieces.push(piece);
        const text = Buffer.concat(pieces).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

const compress: Record<string, (body: Buffer) => Buffer> = {
  gzip: (body) => gzipSync(body),
  'x-gzip': (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
  zstd: (body) => zstdCompressSync(body),
};

describe('readBody', () => {
  const text = Buffer.from(`{"model":"a","input":"${'größe '.repeat(20_000)}"}`);

  for (const [name, encode] of Object.entries(compress)) {
    it(`decodes ${name}, also in capitals and together with identity`, async () => {
      const plain = await post(encode(text), { 'content-encoding': name });
      assert.equal(plain.body.text, text.toString('base64'));
      const shouted = await post(encode(text), { 'content-encoding': `identity, ${name.toUpperCase()}` });
      assert.equal(shouted.body.text, text.toString('base64'));
    });

    it(`rejects corrupt or truncated ${name} data as an invalid request`, async () => {
      const encoded = encode(text);
      const cut = await post(encoded.subarray(0, encoded.length - 12), { 'content-encoding': name });
      assert.equal(cut.status, 400);
      assert.equal(cut.body.code, 'invalid_request');
      const corrupt = await post(Buffer.from('{"model":"not compressed at all"}'), {
        'content-encoding': name,
      });
      assert.equal(corrupt.status, 400);
      assert.match(corrupt.body.message ?? '', new RegExp(`not complete ${name} data`));
    });
  }

  it('decodes two codings in the reverse of their order', async () => {
    const encoded = zstdCompressSync(gzipSync(text));
    const answer = await post(encoded, { 'content-encoding': 'gzip, zstd' });
    assert.equal(answer.body.text, text.toString('base64'));
  });

  it('rejects three codings, and unknown ones by name', async () => {
    const three = await post(text, { 'content-encoding': 'gzip, br, gzip' });
    assert.equal(three.status, 415);
    assert.match(three.body.message ?? '', /content-encoding names 3 codings/);
    const unknown = await post(text, { 'content-encoding': 'compress' });
    assert.equal(unknown.status, 415);
    assert.equal(unknown.body.code, 'unsupported_encoding');
    assert.match(unknown.body.message ?? '', /content-encoding "compress"/);
    assert.equal((await post(text, { 'content-encoding': 'constructor' })).status, 415);
  });

  it('returns any bytes as they were sent, plain or compressed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 5000 }),
        fc.constantFrom(...Object.keys(compress), 'identity'),
        async (bytes, name) => {
          const body = Buffer.from(bytes);
          const answer = await post(compress[name]?.(body) ?? body, { 'content-encoding': name });
          assert.equal(answer.body.text, body.toString('base64'));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('returns the pieces as they arrived', async () => {
    const answer = await post(Buffer.alloc(900_000, 'a'));
    assert.equal(answer.body.bytes, 900_000);
    assert.ok((outcomes.at(-1)?.pieces ?? 0) > 1);
  });

  it('returns no pieces for a request without a body', async () => {
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.deepEqual(await response.json(), { bytes: 0, text: '' });
  });

  it('accepts a body of exactly the limit and rejects one byte more, declared or chunked', async () => {
    assert.equal((await post(Buffer.alloc(LIMIT))).status, 200);
    const declared = await post(Buffer.alloc(LIMIT + 1));
    assert.equal(declared.status, 413);
    assert.match(declared.body.message ?? '', /1000000 bytes.*1000001 bytes/);
    const chunked = await postChunked(LIMIT + 1);
    assert.equal(chunked.status, 413);
    assert.equal(chunked.headers.connection, 'close');
  });

  it('lets a client read the 413 that sends everything before it reads', async () => {
    const size = 4 * 1024 * 1024;
    const socket = connect(port, '127.0.0.1');
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
    });
    socket.pause();
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, 'x'), Buffer.from('\r\n')]);
    for (let sent = 0; sent < size; sent += 65_536) {
      if (!socket.write(chunk)) await new Promise((resolve) => socket.once('drain', resolve));
    }
    socket.write('0\r\n\r\n');
    socket.resume();
    await new Promise((resolve, reject) => {
      socket.on('end', resolve);
      socket.on('error', reject);
    });
    assert.match(received, /^HTTP\/1\.1 413 /);
    assert.match(received, /request_too_large/);
    socket.destroy();
  });

  for (const codings of ['gzip', 'gzip, gzip', 'zstd', 'br']) {
    it(`stops early, in bounded memory, at a bomb of 100 MB under ${codings}`, async () => {
      let bomb: Buffer = await gzipOfZeros(100 * 1024 * 1024);
      if (codings === 'gzip, gzip') bomb = gzipSync(bomb);
      if (codings === 'zstd') bomb = zstdCompressSync(Buffer.alloc(100 * 1024 * 1024));
      if (codings === 'br') {
        bomb = brotliCompressSync(Buffer.alloc(100 * 1024 * 1024), {
          params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
        });
      }
      assert.ok(bomb.length < LIMIT);
      const before = process.memoryUsage().rss;
      const answer = await post(bomb, { 'content-encoding': codings });
      assert.equal(answer.status, 413);
      assert.equal(answer.body.code, 'request_too_large');
      const grown = process.memoryUsage().rss - before;
      assert.ok(grown < 40 * 1024 * 1024, `resident memory grew by ${grown} bytes`);
    });
  }

  it('counts compressed bytes that decompress to nothing', async () => {
    const empty = Buffer.from(gzipSync(Buffer.alloc(0)));
    const body = Buffer.concat(Array.from({ length: 60_000 }, () => empty));
    assert.ok(body.length > LIMIT);
    const answer = await postPieces([body.subarray(0, 600_000), body.subarray(600_000)], {
      'content-encoding': 'gzip',
    });
    assert.equal(answer.status, 413);
  });

  for (const coding of ['identity', 'gzip']) {
    it(`fails with client_closed if the client leaves in the middle of an ${coding} body`, async () => {
      const socket = connect(port, '127.0.0.1');
      const outcome = nextOutcome();
      socket.write(
        `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\nContent-Encoding: ${coding}\r\n\r\n`,
      );
      socket.write(gzipSync(text).subarray(0, 20), () => socket.destroy());
      await outcome;
      const error = outcomes.at(-1)?.error;
      assert.ok(error instanceof GatewayError);
      assert.equal(error.code, 'client_closed');
    });
  }
});

function postChunked(size: number): Promise<Answer> {
  return postPieces([Buffer.alloc(size)], {});
}

function postPieces(pieces: Buffer[], headers: Record<string, string>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { port, host: '127.0.0.1', method: 'POST', headers: { 'transfer-encoding': 'chunked', ...headers } },
      async (response) => {
        const received: Buffer[] = [];
        for await (const piece of response) received.push(piece);
        const text = Buffer.concat(received).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(text) });
      },
    );
    request.on('error', reject);
    for (const piece of pieces) request.write(piece);
    request.end();
  });
}

async function gzipOfZeros(size: number): Promise<Buffer> {
  const gzip = createGzip();
  const pieces: Buffer[] = [];
  gzip.on('data', (piece) => pieces.push(piece));
  const ended = new Promise((resolve) => gzip.on('end', resolve));
  const zeros = Buffer.alloc(1024 * 1024);
  for (let sent = 0; sent < size; sent += zeros.length) {
    if (!gzip.write(zeros)) await new Promise((resolve) => gzip.once('drain', resolve));
  }
  gzip.end();
  await ended;
  return Buffer.concat(pieces);
}
