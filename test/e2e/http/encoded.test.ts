import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  brotliCompressSync,
  createBrotliCompress,
  createDeflate,
  createGzip,
  createZstdCompress,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import OpenAI from 'openai';
import type { Reply } from '../../support/clients/client.ts';
import { chat, formats } from '../../support/formats/formats.ts';
import { bearer } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import {
  body,
  chunk,
  cut,
  end,
  fin,
  flood,
  open,
  type Step,
  stall,
  stream,
} from '../../support/upstream/steps.ts';

/** Values of `content-encoding`, and what makes such a body. */
const encodings: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  'x-gzip': gzipSync,
  GZIP: gzipSync,
  deflate: deflateSync,
  br: (bytes) => brotliCompressSync(bytes),
  zstd: zstdCompressSync,
  identity: (bytes) => bytes,
  'gzip, br': (bytes) => brotliCompressSync(gzipSync(bytes)),
  'gzip,gzip': (bytes) => gzipSync(gzipSync(bytes)),
  'identity, zstd , deflate': (bytes) => deflateSync(zstdCompressSync(bytes)),
};

/** Pieces of text, each flushed so that a reader can decode it before the next one comes. */
const flushing: Record<string, () => NodeJS.ReadWriteStream & { flush(done: () => void): void }> = {
  gzip: () => createGzip(),
  deflate: () => createDeflate(),
  br: () => createBrotliCompress(),
  zstd: () => createZstdCompress() as never,
};

async function flushed(encoding: string, pieces: readonly string[]): Promise<Buffer[]> {
  const stage = flushing[encoding]?.() ?? assert.fail(encoding);
  let out: Buffer[] = [];
  const all: Buffer[] = [];
  stage.on('data', (part: Buffer) => out.push(part));
  for (const piece of pieces) {
    stage.write(piece);
    await new Promise<void>((resolve) => stage.flush(resolve));
    await delay(5);
    all.push(Buffer.concat(out));
    out = [];
  }
  stage.end();
  await new Promise((resolve) => stage.on('end', resolve));
  all.push(Buffer.concat(out));
  return all;
}

/** What the client must never see of an encoding that was undone. */
function assertPlain(reply: Reply, text: string): void {
  assert.equal(reply.text, text);
  assert.equal(reply.end, 'complete');
  assert.equal(reply.header('content-encoding'), undefined);
  const length = reply.header('content-length');
  assert.ok(length === undefined || Number(length) === reply.body.length, `content-length: ${length}`);
}

describe('an encoded answer', () => {
  const at = setting();
  const ask = (format: (typeof formats)[number], more: object = {}) =>
    at.gateway.ask(format.path, format.request(more), { 'accept-encoding': 'gzip, br, zstd, deflate' });

  for (const format of formats) {
    for (const [encoding, encode] of Object.entries(encodings)) {
      it(`of ${format.name} in ${encoding} reaches the client plain: stream, whole and error`, async () => {
        const headers = { 'content-encoding': encoding };
        const { text } = format.stream();
        for (const split of ['whole', 'byte'] as const) {
          at.upstream.script([stream(encode(Buffer.from(text)), split, headers)]);
          const streamed = await ask(format, { stream: true });
          assert.match(streamed.header('content-type') ?? '', /^text\/event-stream/);
          assertPlain(streamed, text);
        }

        const answer = JSON.stringify(format.answer());
        const json = { 'content-type': 'application/json', ...headers };
        at.upstream.script([body(200, encode(Buffer.from(answer)), json)]);
        const whole = await ask(format);
        assert.equal(whole.status, 200);
        assertPlain(whole, answer);

        const error = JSON.stringify(format.error('Slow down', 'rate_limit_error'));
        at.upstream.script([body(429, encode(Buffer.from(error)), json)]);
        const failed = await ask(format, { stream: true });
        assert.equal(failed.status, 429);
        assertPlain(failed, error);

        const row = await at.gateway.entry(whole.header('x-request-id'));
        assert.deepEqual([row.outcome, row.usage?.['output'], row.estimated], ['ok', 5, false]);
      });
    }

    for (const encoding of Object.keys(flushing)) {
      it(`of ${format.name} in ${encoding} is passed on frame by frame`, async () => {
        const { preamble, content, ending, text } = format.stream();
        const pieces = await flushed(encoding, [preamble + content[0], content.slice(1).join('') + ending]);
        const [first, ...rest] = pieces;
        assert.ok(first !== undefined);
        const gate = Promise.withResolvers<void>();
        at.upstream.script([
          open({ 'content-encoding': encoding }),
          chunk(first),
          stall(gate.promise),
          chunk(Buffer.concat(rest)),
          end(),
        ]);
        const client = await at.gateway.client();
        await client.send({
          path: format.path,
          headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
          body: JSON.stringify(format.request({ stream: true })),
        });
        const reply = await client.open();
        await reply.until(preamble + content[0]);
        gate.resolve();
        assertPlain(await reply.whole, text);
        client.destroy();
      });
    }

    it(`of ${format.name} whose error stands before content is an HTTP error`, async () => {
      const error = {
        chat: 'data: {"error":{"message":"Slow down","code":429}}\n\n',
        responses:
          'event: error\ndata: {"type":"error","code":"rate_limit_exceeded","message":"Slow down"}\n\n',
        messages:
          'event: error\ndata: {"type":"error","error":{"type":"rate_limit_error","message":"Slow down"}}\n\n',
      }[format.name];
      const bytes = gzipSync(format.stream().preamble + error);
      at.upstream.script([stream(bytes, 'byte', { 'content-encoding': 'gzip' })]);
      const reply = await ask(format, { stream: true });
      assert.equal(reply.status, 429, reply.text);
      assert.match(reply.text, /Slow down/);
    });

    /** A stream that was cut inside its encoding: what is left of it, then a proper or a broken end of HTTP. */
    const cutOff: Record<string, Step> = { 'a clean end of HTTP': end(), 'a closed connection': fin() };
    for (const [how, last] of Object.entries(cutOff)) {
      it(`of ${format.name} that is cut inside its encoding by ${how} is a broken stream`, async () => {
        const { preamble, content } = format.stream();
        const sent = preamble + content[0];
        const [first] = await flushed('gzip', [sent, content[1] ?? '']);
        assert.ok(first !== undefined);
        at.upstream.script([open({ 'content-encoding': 'gzip' }), chunk(first), last]);
        const reply = await ask(format, { stream: true });
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.end, 'cut');
        assert.equal(reply.text.slice(0, sent.length), sent);
        const row = await at.gateway.entry(reply.header('x-request-id'));
        assert.equal(row.outcome, 'failed');
      });

      it(`of ${format.name} that lacks only the end of its encoding, by ${how}, is whole`, async () => {
        const { text } = format.stream();
        const [first] = await flushed('gzip', [text]);
        assert.ok(first !== undefined);
        at.upstream.script([open({ 'content-encoding': 'gzip' }), chunk(first), last]);
        const reply = await ask(format, { stream: true });
        assertPlain(reply, text);
        const row = await at.gateway.entry(reply.header('x-request-id'));
        assert.equal(row.outcome, 'ok');
      });
    }

    it(`of ${format.name} that is damaged after content is a broken stream`, async () => {
      const { preamble, content } = format.stream();
      const sent = preamble + content[0];
      const [first] = await flushed('gzip', [sent, '']);
      assert.ok(first !== undefined);
      const gate = Promise.withResolvers<void>();
      at.upstream.script([
        open({ 'content-encoding': 'gzip' }),
        chunk(first),
        // What is damaged before anything was passed on is an error, and no broken stream.
        stall(gate.promise),
        chunk(Buffer.alloc(64, 0xff)),
        end(),
      ]);
      const client = await at.gateway.client();
      await client.send({
        path: format.path,
        headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
        body: JSON.stringify(format.request({ stream: true })),
      });
      const answer = await client.open();
      await answer.until(sent);
      gate.resolve();
      const reply = await answer.whole;
      client.destroy();
      assert.equal(reply.end, 'cut');
      assert.ok(reply.text.startsWith(sent), reply.text);
      const row = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([row.outcome, row.error?.code], ['failed', 'upstream_protocol']);
    });

    it(`of ${format.name} that is not what its label says is an HTTP error`, async () => {
      const answer = JSON.stringify(format.answer());
      const whole = { 'content-type': 'application/json' };
      const scripts: Record<string, Step[]> = {
        'plain, called gzip': [body(200, answer, { ...whole, 'content-encoding': 'gzip' })],
        'plain, called zstd': [stream(format.stream().text, 'byte', { 'content-encoding': 'zstd' })],
        'of an unknown kind': [body(200, answer, { ...whole, 'content-encoding': 'lzma' })],
        'encoded too often': [body(200, answer, { ...whole, 'content-encoding': 'gzip, gzip, gzip, gzip' })],
        'cut inside gzip': [
          body(200, gzipSync(answer).subarray(0, 40), { ...whole, 'content-encoding': 'gzip' }),
        ],
        'cut inside br': [
          body(200, brotliCompressSync(answer).subarray(0, 40), { ...whole, 'content-encoding': 'br' }),
        ],
        'cut inside zstd': [
          body(200, zstdCompressSync(answer).subarray(0, 40), { ...whole, 'content-encoding': 'zstd' }),
        ],
      };
      for (const [what, steps] of Object.entries(scripts)) {
        at.upstream.script(steps);
        const reply = await ask(format);
        assert.equal(reply.status, 502, `${what}: ${reply.text}`);
        assert.match(String((reply.json()['error'] as { message: string }).message), /upstream/i, what);
      }
    });
  }

  it('in gzip members one after the other is all of them', async () => {
    const { text } = chat.stream();
    const members = cut(Buffer.from(text), 'frame').map((frame) => gzipSync(frame));
    at.upstream.script([stream(Buffer.concat(members), 'byte', { 'content-encoding': 'gzip' })]);
    assertPlain(await ask(chat, { stream: true }), text);
  });

  it('is not requested by the gateway, which would have to decode it', async () => {
    at.upstream.script([stream(chat.stream().text)]);
    await ask(chat, { stream: true });
    const accepted = (await at.upstream.request()).header('accept-encoding');
    assert.ok(accepted === undefined || accepted === 'identity', accepted);
  });

  it("is understood by the vendor's SDK", async () => {
    const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.gateway.key, maxRetries: 0 });
    at.upstream.script([
      stream(brotliCompressSync(chat.stream().text), 'whole', { 'content-encoding': 'br' }),
    ]);
    const answer = await openai.chat.completions
      .stream({ model: chat.model, messages: [{ role: 'user', content: 'hi' }] })
      .finalChatCompletion();
    assert.equal(answer.choices[0]?.message.content, 'Hello, wörld 🙂');
  });
});

describe('an encoded answer that is a bomb', () => {
  const at = setting();
  const zeros = 400 * 1024 * 1024;
  const room = 160 * 1024 * 1024;
  /** 400 MB in 400 KB of gzip, made once. */
  const bombs = {
    text: gzipSync(Buffer.alloc(zeros, 'x')),
    'white space': gzipSync(Buffer.alloc(zeros, ' ')),
  };

  for (const [what, bomb] of Object.entries(bombs))
    for (const status of [200, 500]) {
      it(`of ${what} with status ${status} is not held in memory`, async () => {
        assert.ok(bomb.length < 1024 * 1024);
        const before = await at.gateway.residentBytes();
        at.upstream.script([
          body(status, bomb, { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
        ]);
        const client = await at.gateway.client();
        client.socket.pause();
        await client.send({
          path: chat.path,
          headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
          body: JSON.stringify(chat.request()),
        });
        let most = 0;
        for (let beat = 0; beat < 30; beat += 1) {
          await delay(50);
          client.socket.pause();
          most = Math.max(most, (await at.gateway.residentBytes()) - before);
        }
        client.destroy();
        assert.ok(most < room, `the gateway grew by ${most / 1024 / 1024} MiB`);
      });
    }

  it('inside a stream is held back by a client that does not read', async () => {
    const before = await at.gateway.residentBytes();
    const { preamble, content } = chat.stream();
    const opening = await flushed('gzip', [preamble + content[0], '']);
    at.upstream.script([
      open({ 'content-encoding': 'gzip' }),
      chunk(Buffer.concat(opening)),
      flood(bombs.text, bombs.text.length * 4),
    ]);
    const client = await at.gateway.client();
    await client.send({
      path: chat.path,
      headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
      body: JSON.stringify(chat.request({ stream: true })),
    });
    const reply = await client.open();
    await reply.until(content[0] ?? '');
    let most = 0;
    for (let beat = 0; beat < 30; beat += 1) {
      client.socket.pause();
      await delay(50);
      most = Math.max(most, (await at.gateway.residentBytes()) - before);
    }
    client.destroy();
    assert.ok(most < room, `the gateway grew by ${most / 1024 / 1024} MiB`);
  });
});
