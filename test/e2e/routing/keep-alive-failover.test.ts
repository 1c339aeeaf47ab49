import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import { codecOf } from '../../../src/codecs/index.ts';
import type { OpenReply, Reply } from '../../support/clients/client.ts';
import { openSocket, textOf as socketText } from '../../support/clients/socket.ts';
import {
  type Conversing,
  conversing,
  errorIn,
  formatAsked,
  type Pair,
  pairs,
  speakerOf,
  streamIn,
  streamRequest,
  streamType,
  understood,
} from '../../support/formats/formats-matrix.ts';
import { fleet } from '../../support/gateway/fleet.ts';
import { bearer, rowsOf, waitFor } from '../../support/gateway/gateway.ts';
import {
  body,
  chunk,
  end,
  hang,
  json,
  open,
  pause,
  reset,
  resetNow,
  type Step,
  stall,
  stream,
} from '../../support/upstream/steps.ts';
import type { SeenRequest } from '../../support/upstream/upstream.ts';

/** What stands in everything that a target says which is left; none of it may reach a client. */
const GONE = 'gone-target';
const TEXT = 'Hello, wörld 🙂';

/** What a target does that is left, once the client has had a keep-alive. */
const faults: Readonly<Record<string, (format: Conversing, later: Step) => readonly Step[]>> = {
  'never answers': () => [hang()],
  'is silent after its headers and a preamble': (format) => [
    open(streamType(format)),
    ...preamble(format),
    hang(),
  ],
  'answers 503': (_, later) => [
    later,
    json(503, { error: { message: GONE, type: 'overloaded', code: 'overloaded' } }),
  ],
  'reports a failure in its stream': (format, later) => [
    open(streamType(format)),
    ...preamble(format),
    later,
    chunk(errorIn(format, GONE)),
    hang(),
  ],
  'ends after its headers': (format, later) => [open(streamType(format)), later, end()],
  'breaks off after a preamble': (format, later) => [
    open(streamType(format)),
    ...preamble(format),
    later,
    reset(),
  ],
  'resets the connection': (_, later) => [later, resetNow()],
  'answers half of a JSON document': (_, later) => [
    later,
    body(200, `{"${GONE}": [`, { 'content-type': 'application/json' }),
  ],
};

/** Those that would keep their connection for ever. */
const hanging = new Set([
  'never answers',
  'is silent after its headers and a preamble',
  'reports a failure in its stream',
]);

function preamble(format: Conversing): Step[] {
  const { preamble: text } = streamIn(format, { model: GONE });
  return text === '' ? [] : [chunk(text)];
}

const healthy = ({ path }: Pick<SeenRequest, 'path'>): readonly Step[] => {
  const format = formatAsked(path);
  return [stream(streamIn(format).text, 'whole', streamType(format))];
};

const keepAliveOf = (caller: Conversing): string | null =>
  codecOf(caller).stream?.keepAlive?.toString() ?? null;

describe('a streamed request whose first target fails after a keep-alive', () => {
  const at = fleet(2, {
    config: {
      keepalive_ms: 100,
      drain_ms: 200,
      timeouts: { headers_ms: 3000, first_byte_ms: 3000, idle_ms: 3000 },
    },
  });
  before(async () => {
    for (const provider of Object.values(speakerOf)) await at.combineAll(provider);
  });
  beforeEach(() => at.gateway.forgive());

  const upstreams = () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    return { first, second };
  };

  async function ask(caller: Conversing, model: string, more: object = {}): Promise<OpenReply> {
    const client = await at.gateway.client();
    const { body: sent, path } = streamRequest(caller, model, at.gateway.key);
    const headers = { 'content-type': 'application/json', ...bearer(at.gateway.key) };
    await client.send({ path, headers, body: JSON.stringify({ ...sent, ...more }) });
    return client.open();
  }

  /** Resolves with the beginning of the answer, for a format with keep-alives once one has come. */
  async function begin({ client: caller, upstream }: Pair): Promise<OpenReply> {
    const reply = ask(caller, `c-${speakerOf[upstream]}`);
    const keepAlive = keepAliveOf(caller);
    if (keepAlive !== null) await (await reply).until(keepAlive);
    return reply;
  }

  /** All pairs at once: each target is asked before any of them fails. */
  async function askAll(): Promise<{ pair: Pair; reply: Reply }[]> {
    const gate = Promise.withResolvers<void>();
    released = gate.promise;
    const { first } = upstreams();
    const asked = pairs.map(async (pair) => ({ pair, open: begin(pair) }));
    await first.request(pairs.length - 1);
    const begun = await Promise.all(asked);
    await Promise.all(
      begun.filter(({ pair }) => keepAliveOf(pair.client) !== null).map(({ open: one }) => one),
    );
    gate.resolve();
    return Promise.all(begun.map(async ({ open: one, pair }) => ({ pair, reply: await (await one).whole })));
  }
  let released: Promise<void> = Promise.resolve();
  const later: Step = (turn) => stall(released)(turn);

  const targetHeaders = ({ headers }: Reply) =>
    headers.map(([name]) => name.toLowerCase()).filter((name) => /^x-gateway-|ratelimit/.test(name));

  for (const [what, steps] of Object.entries(faults)) {
    it(`gets the whole answer of the next one in every format when it ${what}`, async () => {
      const { first, second } = upstreams();
      first.respond(({ path }) => steps(formatAsked(path), later));
      second.respond(healthy);
      const replies = await askAll();
      for (const { pair, reply } of replies) {
        const about = `${pair.client} from ${pair.upstream}: ${reply.text}`;
        const keepAlive = keepAliveOf(pair.client);
        assert.deepEqual([reply.status, reply.end], [200, 'complete'], about);
        assert.ok(!reply.text.includes(GONE), about);
        const plain = keepAlive === null ? reply.text : reply.text.replaceAll(keepAlive, '');
        const { parts, rest, text } = understood(pair.client, Buffer.from(plain));
        assert.deepEqual([text, rest], [TEXT, ''], about);
        assert.equal(parts.filter(({ type }) => type === 'message-start').length, 1, about);
        assert.equal(parts.at(-1)?.type, 'message-end', about);
        assert.ok(!parts.some(({ type }) => type === 'error'), about);
        if (keepAlive === null) assert.ok(targetHeaders(reply).includes('x-gateway-connection'), about);
        else {
          assert.ok(reply.text.startsWith(keepAlive), about);
          assert.deepEqual(targetHeaders(reply), [], about);
        }
      }
      if (hanging.has(what)) await Promise.all(first.requests.map(({ closed }) => closed));
      for (const [index, row] of (
        await rowsOf(
          at.gateway,
          replies.map(({ reply }) => reply),
        )
      ).entries()) {
        const speaker = speakerOf[pairs[index]?.upstream ?? 'gemini'];
        assert.deepEqual([row.outcome, row.status, row.connection], ['ok', 200, `${speaker}-1`]);
        assert.equal(row.estimated, false);
      }
    });
  }

  it('gets an error in every format when no target answers, and no regular end', async () => {
    const { first, second } = upstreams();
    const refused = (words: string) =>
      json(503, { error: { message: words, type: 'overloaded', code: 'overloaded' } });
    first.respond(() => [later, refused('No room here')]);
    second.respond(() => [refused('None there either')]);
    const replies = await askAll();
    for (const { pair, reply } of replies) {
      const about = `${pair.client} from ${pair.upstream}: ${reply.text}`;
      const keepAlive = keepAliveOf(pair.client);
      if (keepAlive === null) {
        assert.deepEqual([reply.status, reply.end], [503, 'complete'], about);
        assert.match(reply.text, /None there either/);
        continue;
      }
      assert.deepEqual([reply.status, reply.end], [200, 'cut'], about);
      assert.deepEqual(targetHeaders(reply), [], about);
      const { parts, rest } = understood(pair.client, Buffer.from(reply.text.replaceAll(keepAlive, '')));
      const told = parts.filter(({ type }) => type === 'error');
      assert.equal(told.length, 1, about);
      assert.match(JSON.stringify(told[0]), /None there either \(tried /, about);
      assert.equal(rest, '', about);
    }
    for (const row of await rowsOf(
      at.gateway,
      replies.map(({ reply }) => reply),
    )) {
      assert.deepEqual([row.outcome, row.error?.code, row.usage], ['failed', 'upstream_error', null]);
      assert.match(row.error?.message ?? '', /None there either/);
    }
  });

  it('is retried without encrypted reasoning that its target refuses', async () => {
    const { first } = upstreams();
    const gate = Promise.withResolvers<void>();
    const refused = {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'Invalid `signature` in `thinking` block' },
    };
    first.script([stall(gate.promise), json(400, refused)], [stream(streamIn('anthropic-messages').text)]);
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'of-another-account' };
    const call = { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' };
    const messages = [
      { role: 'user', content: 'List the files.' },
      { role: 'assistant', content: [thought, call] },
      { role: 'user', content: [result] },
    ];
    const reply = await ask('anthropic-messages', 'c-anthropic-compatible', { messages });
    await reply.until('event: ping');
    gate.resolve();
    const { end: ending, text } = await reply.whole;
    assert.deepEqual([ending, understood('anthropic-messages', Buffer.from(text)).text], ['complete', TEXT]);
    assert.equal(first.requests.length, 2);
    assert.equal(first.requests[1]?.body.includes('of-another-account'), false);
  });

  it('ends its upstream request when the client leaves', async () => {
    const { first, second } = upstreams();
    first.always(hang());
    second.always(hang());
    const client = await at.gateway.client();
    const { body: sent, path } = streamRequest('openai-chat', 'c-anthropic-compatible', at.gateway.key);
    const headers = { 'content-type': 'application/json', ...bearer(at.gateway.key) };
    await client.send({ path, headers, body: JSON.stringify(sent) });
    const reply = await client.open();
    reply.whole.catch(() => {});
    await reply.until(': keep-alive');
    client.destroy();
    await (await first.request()).closed;
    const entry = await at.gateway.entry(reply.header('x-request-id'));
    assert.deepEqual(
      [entry.outcome, entry.status, entry.streamed, entry.usage],
      ['aborted', 499, true, null],
    );
    assert.equal(second.requests.length, 0);
  });

  it('keeps its status on a WebSocket, which has pings instead of keep-alives', async () => {
    const { first, second } = upstreams();
    const later429 = json(429, { error: { message: 'Slow down', type: 'rate_limit_error', code: 'slow' } });
    // Several times the interval of keep-alives.
    first.always(pause(500), later429);
    second.always(later429);
    const socket = await openSocket(at.gateway);
    socket.create({ model: 'c-responses-compatible', input: 'hi', store: false });
    const refused = await socket.until('error', 'response.failed');
    assert.deepEqual([refused.type, refused.status], ['error', 429]);
    await at.gateway.forgive();
    second.always(stream(streamIn('openai-responses').text));
    socket.create({ model: 'c-responses-compatible', input: 'hi', store: false });
    const answer = await socket.answer();
    assert.equal(answer.at(-1)?.type, 'response.completed');
    assert.equal(socketText(answer), TEXT);
    socket.ws.close();
    await socket.closed;
  });

  it('gets an error in its open stream when the gateway stops', async () => {
    const { first, second } = upstreams();
    first.always(hang());
    second.always(hang());
    const asked = conversing.filter((caller) => keepAliveOf(caller) !== null);
    const open = await Promise.all(
      asked.map(async (caller) => ({
        client: caller,
        reply: await begin({ client: caller, upstream: 'anthropic-messages' }),
      })),
    );
    process.kill(at.gateway.pid, 'SIGTERM');
    for (const { client: caller, reply } of open) {
      const { end: ending, text } = await reply.whole;
      assert.equal(ending, 'cut', caller);
      const { parts } = understood(caller, Buffer.from(text.replaceAll(keepAliveOf(caller) ?? '', '')));
      assert.match(JSON.stringify(parts), /shutting down/, caller);
    }
    assert.equal(second.requests.length, 0);
    await waitFor('the end of the gateway', () => at.gateway.output().stderr.includes('stopped'));
  });
});
