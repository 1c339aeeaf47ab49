import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { RawClient } from '../../support/clients/client.ts';
import { type Format, formats } from '../../support/formats/formats.ts';
import { bearer } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chunk, end, flood, head, open, raw, type Step } from '../../support/upstream/steps.ts';
import type { SeenRequest } from '../../support/upstream/upstream.ts';

const MiB = 1024 * 1024;
/** What the gateway and the test's own sockets may hold besides the kernel. */
const IN_PROCESSES = 16 * MiB;
/** What may be on the way: two connections, each with a send and a receive buffer of the kernel, and the processes. */
const BUFFERED = 2 * (largestSocketBuffer('wmem') + largestSocketBuffer('rmem')) + IN_PROCESSES;
const TOTAL = BUFFERED + 128 * MiB;
/** How much the gateway's memory may grow while it carries the stream, garbage that was not yet collected included. */
const GROWTH = 128 * MiB;

/** To how many bytes Linux lets a TCP buffer grow; it is 4 MiB on one machine and 32 MiB on the next. */
function largestSocketBuffer(kind: 'rmem' | 'wmem'): number {
  const [, , largest] = readFileSync(`/proc/sys/net/ipv4/tcp_${kind}`, 'utf8').split('\t');
  return Number(largest);
}

const at = setting({ config: { keepalive_ms: 200 } });

/** A content frame of about 16 KiB. */
const largeFrame = (format: Format) => format.stream({ text: ['x'.repeat(16_000)] }).content[0] ?? '';

async function ask(format: Format, more: object): Promise<RawClient> {
  const client = await at.gateway.client();
  await client.send({
    path: format.path,
    headers: { 'content-type': 'application/json', ...bearer(at.gateway.key) },
    body: JSON.stringify(format.request(more)),
  });
  return client;
}

/** Waits until no byte has left the upstream for a while; returns how many have. */
async function stuck(request: SeenRequest): Promise<number> {
  for (let last = -1; ; ) {
    const sent = request.sentBytes();
    if (sent === last) return sent;
    last = sent;
    await delay(400);
  }
}

/** Highest resident size while `work` runs. */
async function peak<Result>(work: Promise<Result>): Promise<{ result: Result; peak: number }> {
  let highest = 0;
  let done = false;
  const watch = (async () => {
    while (!done) {
      highest = Math.max(highest, await at.gateway.residentBytes());
      await delay(20);
    }
  })();
  const result = await work.finally(() => {
    done = true;
  });
  await watch;
  return { result, peak: highest };
}

/** Throws away what comes, so that the test itself stays small; resolves with the count and the last bytes. */
function drain(client: RawClient): Promise<{ bytes: number; tail: string }> {
  return new Promise((resolve) => {
    let bytes = 0;
    let tail = '';
    client.socket.removeAllListeners('data');
    client.socket.on('data', (piece: Buffer) => {
      bytes += piece.length;
      tail = (tail + piece.subarray(-4096).toString('latin1')).slice(-4096);
      if (tail.endsWith('0\r\n\r\n')) resolve({ bytes, tail });
    });
    client.socket.on('close', () => resolve({ bytes, tail }));
    client.socket.resume();
  });
}

describe('a client that does not read', () => {
  for (const format of formats) {
    it(`holds its upstream back, keep-alives due or not, and gets the whole stream later (${format.name})`, async (test) => {
      const { ending, preamble } = format.stream();
      const frame = largeFrame(format);
      at.upstream.always(open(), chunk(preamble), flood(frame, TOTAL), chunk(ending), end());
      const before = await at.gateway.residentBytes();
      const client = await ask(format, { stream: true });
      client.socket.pause();
      try {
        const request = await at.upstream.request();
        const sent = await stuck(request);
        test.diagnostic(`${(sent / MiB).toFixed(1)} MiB had left the upstream when it was held back`);
        assert.ok(sent > 16_000, 'the stream began');
        assert.ok(sent < BUFFERED, `${sent} bytes left the upstream though nobody read`);
        // Several keep-alives would have been due by now; they must not pile up either.
        await delay(1000);
        assert.equal(request.sentBytes(), sent);
        const held = (await at.gateway.residentBytes()) - before;
        assert.ok(held < GROWTH, `${held} bytes of memory for a stream at rest`);

        const { result, peak: highest } = await peak(drain(client));
        test.diagnostic(`grew by ${((highest - before) / MiB).toFixed(0)} MiB at most`);
        assert.ok(result.bytes >= TOTAL, `${result.bytes} bytes came`);
        assert.ok(result.tail.includes(format.terminal), result.tail.slice(-500));
        assert.ok(highest - before < GROWTH, `grew by ${highest - before} bytes`);
      } finally {
        client.destroy();
      }
    });
  }
});

describe('a client that reads slowly', () => {
  it('lets others through at their own pace', async () => {
    const [format] = formats;
    const { ending, preamble, text } = format.stream();
    const slow: Step[] = [open(), chunk(preamble), flood(largeFrame(format), TOTAL), chunk(ending), end()];
    at.upstream.script(slow, slow, slow, ...Array.from({ length: 20 }, () => [open(), chunk(text), end()]));
    const clients: RawClient[] = [];
    try {
      for (let count = 0; count < 3; count += 1) {
        const client = await ask(format, { stream: true });
        client.socket.pause();
        clients.push(client);
        await at.upstream.request(count);
      }
      for (let count = 0; count < 20; count += 1) {
        const reply = await at.gateway.ask(format.path, format.request({ stream: true }));
        // On a busy machine it may come with a sign of life.
        assert.equal(reply.text.replaceAll(': keep-alive\n\n', ''), text);
      }
    } finally {
      for (const client of clients) client.destroy();
    }
    // What they had not read is recorded as left, not lost.
    const request = await at.upstream.request(0);
    await request.closed;
  });

  it('gets every byte in its order, however the pauses fall', async () => {
    for (const format of formats) {
      const text = Array.from({ length: 3000 }, (_, index) => `${index}:${'y'.repeat(500)};`);
      const stream = format.stream({ text });
      at.upstream.always(open(), chunk(stream.text), end());
      const client = await ask(format, { stream: true });
      try {
        const opened = client.open();
        let done = false;
        const stutter = (async () => {
          while (!done) {
            client.socket.pause();
            await delay(15);
            client.socket.resume();
            await delay(2);
          }
        })();
        const reply = await (await opened).whole;
        done = true;
        await stutter;
        assert.equal(reply.end, 'complete');
        assert.equal(
          reply.text.replaceAll(/^(: keep-alive|event: ping\ndata: .*)\n\n/gm, ''),
          stream.text.replaceAll(/^event: ping\ndata: .*\n\n/gm, ''),
        );
      } finally {
        client.destroy();
      }
    }
  });
});

describe('an answer that is no stream', () => {
  it('is held back too when it is larger than the gateway buffers', async (test) => {
    const [format] = formats;
    const shell = JSON.stringify(format.answer({ text: ['@'] }));
    const [start = '', rest = ''] = shell.split('@');
    const piece = 'z'.repeat(64 * 1024);
    const many = Math.ceil(TOTAL / piece.length);
    const length = start.length + many * piece.length + rest.length;
    const filling: Step = async ({ write }) => {
      for (let count = 0; count < many; count += 1) if (!(await write(piece))) return;
    };
    at.upstream.always(
      head(200, { 'content-type': 'application/json', 'content-length': String(length) }),
      raw(start),
      filling,
      raw(rest),
    );
    const before = await at.gateway.residentBytes();
    const client = await ask(format, {});
    try {
      let bytes = 0;
      const more = Promise.withResolvers<void>();
      const all = Promise.withResolvers<void>();
      client.socket.removeAllListeners('data');
      client.socket.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes >= 20 * MiB) more.resolve();
        if (bytes >= length) all.resolve();
      });
      client.socket.on('close', () => all.resolve());
      // It stops in the middle, when the answer has long been passing through.
      await more.promise;
      client.socket.pause();
      const sent = await stuck(await at.upstream.request());
      const read = bytes;
      assert.ok(sent - read < BUFFERED, `${sent} bytes left the upstream and ${read} were read`);
      client.socket.resume();
      const { peak: highest } = await peak(all.promise);
      test.diagnostic(`grew by ${((highest - before) / MiB).toFixed(0)} MiB at most`);
      assert.ok(bytes >= length, `${bytes} of ${length} bytes came`);
      assert.ok(highest - before < GROWTH, `grew by ${highest - before} bytes`);
    } finally {
      client.destroy();
    }
  });
});

describe('an upstream that reads slowly', () => {
  it('makes the client of a large request wait, and gets all of it', async () => {
    const [format] = formats;
    const content = 'q'.repeat(30 * MiB);
    const body = JSON.stringify(format.request({ messages: [{ role: 'user', content }] }));
    const slowly: Step = async ({ socket, request }) => {
      for (let round = 0; round < 20; round += 1) {
        socket.pause();
        await delay(10);
        socket.resume();
        await delay(5);
      }
      await request.whole;
    };
    at.upstream.always(
      slowly,
      raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: '),
      async ({ write }) => {
        const answer = Buffer.from(JSON.stringify(format.answer()));
        await write(`${answer.length}\r\n\r\n`);
        await write(answer);
      },
    );
    const reply = await at.gateway.ask(format.path, body);
    assert.equal(reply.status, 200, reply.text.slice(0, 300));
    const whole = await (await at.upstream.request()).whole;
    assert.equal(whole.length, body.length - 'up/'.length);
  });
});
