import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { fc } from '../../../test/support/machine/properties.ts';
import type { JsonObject } from '../../codecs/json/values.ts';
import { WebSocketResponseSink } from './response-sink.ts';

interface Heard {
  sink: WebSocketResponseSink;
  messages: JsonObject[];
  remembered: JsonObject[];
  closes(): number;
}

function opened(streamId: string | null = null): Heard {
  const messages: JsonObject[] = [];
  const remembered: JsonObject[] = [];
  let closes = 0;
  const sink = new WebSocketResponseSink({
    socket: { full: false, send: (text) => messages.push(JSON.parse(text)) },
    streamId,
    onResponse: (response) => remembered.push(response),
  });
  sink.on('close', () => {
    closes += 1;
  });
  return { sink, messages, remembered, closes: () => closes };
}

const item = (text: string) => ({ type: 'message', content: [{ type: 'output_text', text }] });
const events = (output: unknown[]) => [
  { type: 'response.created', response: { id: 'resp_1' } },
  { type: 'response.output_text.delta', delta: 'wörld 🙂' },
  { type: 'response.output_item.done', item: item('wörld 🙂') },
  { type: 'response.completed', response: { id: 'resp_1', output } },
];
const framed = (list: readonly { type: string }[]) =>
  list.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
const stream = ['content-type', 'text/event-stream; charset=utf-8'];
const isTerminal = ({ type }: JsonObject) => type === 'response.completed' || type === 'error';

describe('an answer as messages', () => {
  it('is the same however its bytes are cut, comments and an end mark left out', () => {
    const all = events([item('wörld 🙂')]);
    const bytes = Buffer.from(`: hi\n\n${framed(all)}data: [DONE]\n\n`);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 8 }), (cuts) => {
        const { messages, sink } = opened();
        sink.writeHead(200, stream);
        const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
        for (const [index, edge] of edges.entries()) sink.write(bytes.subarray(edges[index - 1] ?? 0, edge));
        sink.end();
        assert.deepEqual(messages, all);
      }),
    );
  });

  it('names what was dropped for its model, on the first event only', () => {
    const { messages, sink } = opened();
    sink.writeHead(200, [...stream, 'x-gateway-dropped', 'reasoning.context,user', 'x-request-id', 'req_1']);
    sink.write(framed(events([])));
    sink.end();
    const [first, ...others] = messages;
    assert.deepEqual(first, {
      headers: { 'x-gateway-dropped': 'reasoning.context,user' },
      ...events([])[0],
    });
    assert.deepEqual(others, events([]).slice(1));
  });

  it('reports exactly once how it ended, wherever it breaks off', async () => {
    const bytes = Buffer.from(framed(events([])));
    for (let length = 0; length <= bytes.length; length += 1) {
      const { closes, messages, sink } = opened('a');
      sink.writeHead(200, stream);
      sink.write(bytes.subarray(0, length));
      sink.socket.resetAndDestroy();
      sink.write('data: {"type":"late"}\n\n');
      sink.end();
      assert.equal(messages.filter(isTerminal).length, 1);
      assert.ok(isTerminal(messages.at(-1) ?? {}));
      assert.ok(messages.every((message) => message['stream_id'] === 'a'));
      await turn();
      assert.equal(closes(), 1);
    }
  });

  it('is stored with the items that came, if the last event does not repeat them', () => {
    const { sink, remembered } = opened();
    sink.writeHead(200, stream);
    sink.end(framed(events([])));
    assert.deepEqual(remembered, [{ id: 'resp_1', output: [item('wörld 🙂')] }]);
  });

  for (const [name, body, message] of [
    ['no JSON', '<html>no', /<html>no/],
    ['another shape', '{"detail":"no such thing"}', /no such thing/],
    ['nothing', '', /without a message/],
    ['too deep', `{"error":{"message":"deep","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`, /broke off/],
  ] as const) {
    it(`that is an error in ${name} is an error with a message`, () => {
      const { messages, sink } = opened();
      sink.writeHead(503, { 'content-type': 'text/html', 'retry-after': '5' });
      sink.end(body);
      assert.equal(messages.length, 1);
      const [{ error, headers, type } = {}] = messages;
      assert.deepEqual([type, headers], ['error', { 'retry-after': '5' }]);
      assert.match(JSON.stringify(error), message);
    });
  }

  it('ends when its peer is gone, and sends nothing more', async () => {
    const { closes, messages, sink } = opened();
    sink.disconnect();
    sink.writeHead(200, stream);
    sink.end(framed(events([])));
    await turn();
    assert.deepEqual([messages.length, closes(), sink.destroyed], [0, 1, true]);
  });
});
