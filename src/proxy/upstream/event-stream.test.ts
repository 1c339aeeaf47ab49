import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import {
  checksum,
  chunkFrame,
  eventFrame,
  exceptionFrame,
} from '../../../test/support/upstream/event-frames.ts';
import { createUnframer, unframedHeaders } from './event-stream.ts';

/** What comes out of bytes that arrive in these pieces. */
async function unframed(pieces: readonly Buffer[]): Promise<string> {
  const stage = createUnframer();
  const out: Buffer[] = [];
  stage.on('data', (piece: Buffer) => out.push(piece));
  const { promise, reject, resolve } = Promise.withResolvers<void>();
  stage.on('end', resolve);
  stage.on('error', reject);
  for (const piece of pieces) stage.write(piece);
  stage.end();
  await promise;
  return Buffer.concat(out).toString('utf8');
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % bytes.length), bytes.length].sort((a, b) => a - b);
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

describe('the frames of AWS', () => {
  it('are checked by CRC-32, whose own check value is known', () => {
    assert.equal(checksum(Buffer.from('123456789')), 0xcbf43926);
    assert.equal(checksum(Buffer.from('')), 0);
  });

  it('become events, wherever they are cut', async () => {
    const events = [{ type: 'message_start' }, { type: 'ping' }, { type: 'content', text: 'wörld\n🙂' }];
    const bytes = Buffer.concat(events.map(chunkFrame));
    const expected = events
      .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      .join('');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length - 1), { maxLength: 20 }), async (places) => {
        assert.equal(await unframed(cut(bytes, places)), expected);
      }),
    );
  });

  it('that contain a line end give one line', async () => {
    const text = '{"type":"ping",\n "x": [1,\r\n2]}';
    assert.equal(await unframed([chunkFrame(text)]), 'event: ping\ndata: {"type":"ping","x":[1,2]}\n\n');
  });

  it('of an exception become the error event', async () => {
    const text = await unframed([exceptionFrame('throttlingException', 'slow down')]);
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } };
    assert.equal(text, `event: error\ndata: ${JSON.stringify(error)}\n\n`);
    assert.match(
      await unframed([exceptionFrame('newException', '')]),
      /"api_error","message":"newException"/,
    );
    const frame = eventFrame({ ':message-type': 'error', ':error-code': 'X', ':error-message': 'why' }, '');
    assert.match(await unframed([frame]), /"message":"why"/);
  });

  it('of a kind that is not known are passed over', async () => {
    const frame = eventFrame({ ':message-type': 'event', ':event-type': 'later' }, '{"new":1}');
    assert.doesNotMatch(await unframed([frame, chunkFrame({ type: 'ping' })]), /new/);
  });

  it('with any byte changed are refused', async () => {
    const good = chunkFrame({ type: 'ping', text: 'hello' });
    await fc.assert(
      fc.asyncProperty(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }), async (at, change) => {
        const bad = Buffer.from(good);
        bad[at] = (bad[at] ?? 0) ^ change;
        await assert.rejects(unframed([bad]), { code: 'upstream_protocol' });
      }),
    );
  });

  it('that end too early are a broken stream', async () => {
    const good = chunkFrame({ type: 'ping' });
    for (const length of [1, 11, 12, good.length - 1])
      await assert.rejects(unframed([good.subarray(0, length)]), { code: 'upstream_cut' });
  });

  it('whose sizes make no sense are refused before they are waited for', async () => {
    for (const [total, headers] of [
      [0xffffffff, 0],
      [15, 0],
      [100, 90],
    ] as const) {
      const prelude = Buffer.alloc(8);
      prelude.writeUInt32BE(total);
      prelude.writeUInt32BE(headers, 4);
      const sum = Buffer.alloc(4);
      sum.writeUInt32BE(checksum(prelude));
      await assert.rejects(unframed([Buffer.concat([prelude, sum])]), { code: 'upstream_protocol' });
    }
  });

  it('whose headers are not sound are refused', async () => {
    const whole = (head: Buffer): Buffer => {
      const prelude = Buffer.alloc(8);
      prelude.writeUInt32BE(16 + head.length);
      prelude.writeUInt32BE(head.length, 4);
      const sum = Buffer.alloc(4);
      sum.writeUInt32BE(checksum(prelude));
      const start = Buffer.concat([prelude, sum, head]);
      const end = Buffer.alloc(4);
      end.writeUInt32BE(checksum(start));
      return Buffer.concat([start, end]);
    };
    for (const head of [
      [1, 97, 10],
      [1, 97, 7, 0, 9, 1],
      [5, 97],
      [1, 97, 4, 0],
    ])
      await assert.rejects(unframed([whole(Buffer.from(head))]), { code: 'upstream_protocol' });
    await assert.rejects(unframed([whole(Buffer.from([1, 97, 0]))]), /neither an event nor an error/);
  });

  it('are recognized by the content type alone', () => {
    assert.equal(unframedHeaders({ 'content-type': 'text/event-stream' }), null);
    assert.equal(unframedHeaders({}), null);
    const headers = unframedHeaders({ 'content-type': 'application/vnd.amazon.eventstream', a: 'b' });
    assert.deepEqual(headers, { 'content-type': 'text/event-stream', a: 'b' });
  });
});
