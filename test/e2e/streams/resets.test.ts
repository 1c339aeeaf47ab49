import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import {
  type Conversing,
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
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { responsesAnswer } from '../../support/upstream/answers.ts';
import { chunk, end, fin, hang, head, json, open, type Step, stall } from '../../support/upstream/steps.ts';

/** An answer, and the error that its connection ended with. */
interface Broken {
  reply: Reply;
  code: string | undefined;
}

/** The beginning of an answer, up to and with its first words. */
const begun = (format: Conversing): Step[] => {
  const { content, preamble } = streamIn(format);
  return [open(streamType(format)), chunk(`${preamble}${content[0]}`)];
};

describe('an answer that is broken off', () => {
  const at = fleet(1, { config: { drain_ms: 200 } });
  before(async () => {
    for (const provider of [...Object.values(speakerOf), 'openai-compatible', 'openai'])
      await at.connectAll(provider);
  });
  beforeEach(() => at.gateway.forgive());

  async function start(
    path: string,
    body: object | undefined,
  ): Promise<{ ended: Promise<Broken>; sees(text: string): Promise<void>; received(): Promise<string> }> {
    const client = await at.gateway.client();
    const closed = new Promise<string | undefined>((resolve) => {
      client.socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
      client.socket.on('close', () => resolve(undefined));
    });
    const headers = { 'content-type': 'application/json', ...bearer(at.gateway.key) };
    await client.send(
      body === undefined ? { method: 'GET', path, headers } : { path, headers, body: JSON.stringify(body) },
    );
    const reply = client.open();
    const ended = reply.then(async (opened) => {
      const whole = await opened.whole;
      return { reply: whole, code: whole.end === 'cut' ? await closed : undefined };
    });
    return {
      ended,
      sees: async (text) => (await reply).until(text),
      received: async () => (await reply).soFar(),
    };
  }

  const ask = ({ client: caller, upstream }: Pair, query = '') => {
    const { body, path } = streamRequest(caller, `${speakerOf[upstream]}-0/m-1`, at.gateway.key);
    return start(query === '' ? path : path.replace(/\?.*/, query), body);
  };
  const upstream = () => {
    const [only] = at.upstreams;
    assert.ok(only);
    return only;
  };

  it('by its upstream is reset in all pairs of formats, after everything that had come', async () => {
    upstream().respond(({ path }) => [...begun(formatAsked(path)), fin()]);
    const broken = await Promise.all(
      pairs.map(async (pair) => ({ pair, ...(await (await ask(pair)).ended) })),
    );
    for (const { code, pair, reply } of broken) {
      const about = `${pair.client} from ${pair.upstream}: ${reply.text}`;
      assert.deepEqual([reply.end, code], ['cut', 'ECONNRESET'], about);
      assert.equal(understood(pair.client, reply.body).text, 'Hel', about);
    }
  });

  it('by an error of its upstream has its message, if the clients of its format act on it', async () => {
    upstream().respond(({ path }) => {
      const format = formatAsked(path);
      return [...begun(format), chunk(errorIn(format, 'The disk is full')), end()];
    });
    const told = pairs.filter(
      ({ client: caller, upstream: from }) => caller === from || !/chat|completions/.test(caller),
    );
    const broken = await Promise.all(
      told.map(async (pair) => ({ pair, ...(await (await ask(pair)).ended) })),
    );
    for (const { code, pair, reply } of broken) {
      const about = `${pair.client} from ${pair.upstream}: ${reply.text}`;
      const { parts, text } = understood(pair.client, reply.body);
      assert.equal(text, 'Hel', about);
      const errors = parts.filter(({ type }) => type === 'error');
      assert.equal(errors.length, 1, about);
      assert.match(JSON.stringify(errors[0]), /The disk is full/, about);
      // An upstream of these formats that reports an error in its own words has ended its stream.
      const clean = pair.client === pair.upstream && /messages|responses/.test(pair.client);
      assert.deepEqual([reply.end, code], clean ? ['complete', undefined] : ['cut', 'ECONNRESET'], about);
    }
  });

  it('as a whole body, as audio or as a stored response is reset as well', async () => {
    const bytes = 'x'.repeat(9 * 1024 * 1024);
    const half = `{"choices":[{"message":{"content":"${bytes}`;
    const length = { 'content-type': 'application/json', 'content-length': String(half.length + 100) };
    const gate = Promise.withResolvers<void>();
    upstream().script([head(200, length), ({ write }) => write(half), stall(gate.promise), fin()]);
    const { body, path } = streamRequest('openai-chat', 'mistral-0/m-1', at.gateway.key);
    const large = await start(path, { ...body, stream: false });
    // More than the kernel delivers before a busy client reads: what it still holds, a reset throws away.
    await waitFor('all that is passed on', async () => (await large.received()).length === half.length);
    gate.resolve();
    const whole = await large.ended;
    assert.deepEqual(
      [whole.reply.status, whole.code, whole.reply.text.length],
      [200, 'ECONNRESET', half.length],
    );

    upstream().script([open({ 'content-type': 'audio/mpeg' }), chunk('half a sound'), fin()]);
    const speech = { model: 'openai-compatible-0/m-1', input: 'Hello', voice: 'alloy' };
    const sound = await (await start('/v1/audio/speech', speech)).ended;
    assert.deepEqual([sound.reply.text, sound.code], ['half a sound', 'ECONNRESET']);

    upstream().script([json(200, responsesAnswer())], [open(), chunk('data: {}\n\n'), fin()]);
    await at.gateway.ask('/v1/responses', { model: 'openai-0/m-1', input: 'hi' });
    const again = await (await start('/v1/responses/resp_1?stream=true', undefined)).ended;
    assert.deepEqual([again.reply.text, again.code], ['data: {}\n\n', 'ECONNRESET']);
  });

  it('by a gateway that stops ends with the error of its format, and is reset', async () => {
    upstream().respond(({ path }) => [...begun(formatAsked(path)), hang()]);
    const gemini = pairs.filter(({ client }) => client === 'gemini');
    const arrays = gemini.map((pair) => ({ pair, query: '?key=none' }));
    const all = [...pairs.map((pair) => ({ pair, query: '' })), ...arrays];
    const open = await Promise.all(
      all.map(async ({ pair, query }) => ({ pair, query, ...(await ask(pair, query)) })),
    );
    await Promise.all(open.map(({ sees }) => sees('Hel')));
    process.kill(at.gateway.pid, 'SIGTERM');
    for (const { ended, pair, query } of open) {
      const { code, reply } = await ended;
      const about = `${pair.client} from ${pair.upstream}${query}: ${reply.text}`;
      assert.deepEqual([reply.end, code], ['cut', 'ECONNRESET'], about);
      if (query !== '') {
        const elements = JSON.parse(`${reply.text}]`) as {
          error?: { code: number; message: string; status: string };
        }[];
        assert.deepEqual(
          [elements.at(-1)?.error?.code, elements.at(-1)?.error?.status],
          [503, 'UNAVAILABLE'],
          about,
        );
        continue;
      }
      const { parts, rest } = understood(pair.client, reply.body);
      assert.match(JSON.stringify(parts.filter(({ type }) => type === 'error')), /shutting down/, about);
      assert.equal(rest, '', about);
    }
    await waitFor('the end of the gateway', () => at.gateway.output().stderr.includes('stopped'));
  });
});
