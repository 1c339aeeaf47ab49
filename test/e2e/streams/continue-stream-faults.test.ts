import assert from 'node:assert/strict';
import { before, beforeEach, describe, it } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import type { OpenReply } from '../../support/clients/client.ts';
import { fleet } from '../../support/gateway/fleet.ts';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { chatStream, messagesStream } from '../../support/upstream/answers.ts';
import { geminiStream } from '../../support/upstream/answers-native.ts';
import {
  chunk,
  end,
  fin,
  hang,
  json,
  open,
  pause,
  readAll,
  reset,
  resetNow,
  stall,
  stream,
} from '../../support/upstream/steps.ts';

const event = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
const messages = messagesStream({ text: ['One ', 'two'] });
const textBlock = event({
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '' },
} as {
  type: string;
});
const thinkingBlock = textBlock.replace(
  '"type":"text","text":""',
  '"type":"thinking","thinking":"","signature":""',
);
const start = messages.preamble.slice(0, messages.preamble.indexOf('\n\n') + 2);
const ping = 'event: ping\ndata: {"type": "ping"}\n\n';

describe('an answer that breaks off in an odd way', () => {
  // Each process keeps connections of its own.
  const at = fleet(2, { config: { keepalive_ms: 200 }, oneWorker: true });
  const upstreams = () => {
    const [first, second] = at.upstreams;
    assert.ok(first && second);
    return { first, second };
  };
  const providers = ['openai-compatible', 'anthropic-compatible', 'gemini-compatible'];
  before(async () => {
    for (const provider of providers) await at.connectAll(provider);
    for (const one of providers) {
      const reply = await at.manage('POST', '/api/combos', {
        name: `c-${one}`,
        targets: [`${one}-0/m-1`, 'gemini-compatible-1/m-2'],
        options: { continue_stream: true },
      });
      assert.equal(reply.status, 200, reply.text);
    }
  });
  beforeEach(() => at.gateway.forgive());

  const body = { stream: true, max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] };

  async function opened(path: string, model: string, text?: string): Promise<OpenReply> {
    const client = await at.gateway.client();
    const headers = { 'content-type': 'application/json', ...bearer(at.gateway.key) };
    await client.send({ path, headers, body: text ?? JSON.stringify({ model, ...body }) });
    return client.open();
  }

  const opening: readonly [string, string][] = [
    ['nothing', ''],
    ['its first event', start],
    ['the beginning of a text', start + textBlock],
    ['the beginning of a thought', start + thinkingBlock],
  ];
  for (const [what, begun] of opening) {
    it(`after ${what} and a keep-alive is still one answer`, async () => {
      const { first, second } = upstreams();
      const gate = Promise.withResolvers<void>();
      first.script([open(), ...(begun === '' ? [] : [chunk(begun)]), stall(gate.promise), reset()]);
      second.always(stream(geminiStream({ text: ['Four'] })));
      const reply = await opened('/v1/messages', 'c-anthropic-compatible');
      await reply.until(ping);
      gate.resolve();
      const whole = await reply.whole;
      const told = [...whole.text.replaceAll(ping, '').matchAll(/^data: (.*)$/gm)].map(([, data]) =>
        JSON.parse(data ?? ''),
      );
      assert.equal(told[0]?.type, 'message_start', whole.text);
      assert.equal(told.filter(({ type }) => type === 'message_start').length, 1, whole.text);
      const starts = told.filter(({ type }) => type === 'content_block_start').map(({ index }) => index);
      const stops = told.filter(({ type }) => type === 'content_block_stop').map(({ index }) => index);
      assert.deepEqual(starts, [...starts.keys()], whole.text);
      assert.deepEqual(stops, starts, whole.text);
      const said = told.findLast(({ type }) => type === 'content_block_delta');
      assert.deepEqual([said?.index, said?.delta], [starts.at(-1), { type: 'text_delta', text: 'Four' }]);
      assert.equal(told.at(-1)?.type, 'message_stop');
    });
  }

  it('is not continued if only its upstream can read the request', async () => {
    const { first, second } = upstreams();
    const { content, preamble } = chatStream({ text: ['One ', 'two'] });
    const nested = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    for (const odd of ['NaN', nested]) {
      await at.gateway.forgive();
      first.always(open(), chunk(preamble + content[0]), reset());
      second.always(stream(geminiStream({ text: [' two'] })));
      const text = JSON.stringify({ model: 'c-openai-compatible', ...body }).replace('50', odd);
      const reply = await opened('/v1/chat/completions', 'c-openai-compatible', text);
      const whole = await reply.whole;
      assert.equal(whole.end, 'cut');
      assert.match(whole.text, /One /);
      assert.equal((await at.gateway.entry(whole.header('x-request-id'))).outcome, 'failed');
    }
  });

  it('is continued on a new connection if the old ones turn out to be closed', async () => {
    const { first, second } = upstreams();
    const gate = Promise.withResolvers<void>();
    second.always(readAll, () => gate.promise, stream(geminiStream({ text: [' two'] })));
    const warm = Array.from({ length: 4 }, () =>
      opened('/v1/messages', 'gemini-compatible-1/m-2').then((reply) => reply.whole),
    );
    await second.request(3);
    gate.resolve();
    await Promise.all(warm);
    const stale = new Set(second.requests.map(({ connection }) => connection));
    const { content, preamble } = messages;
    first.always(open(), chunk(preamble + content[0]), reset());
    second.respond(({ connection }) =>
      stale.has(connection) ? [resetNow()] : [stream(geminiStream({ text: [' two'] }))],
    );
    const reply = await (await opened('/v1/messages', 'c-anthropic-compatible')).whole;
    assert.equal(second.requests.length, 2);
    assert.match(reply.text, /message_stop/);
  });

  it('is continued after an error without a blank line', async () => {
    const { first, second } = upstreams();
    const { content, preamble } = chatStream({ text: ['One ', 'two'] });
    first.always(stream(`${preamble}${content[0]}data: {"error":{"message":"Overloaded","code":503}}\n`));
    second.always(stream(geminiStream({ text: [' two'] })));
    const reply = await (await opened('/v1/chat/completions', 'c-openai-compatible')).whole;
    assert.equal(second.requests.length, 1, reply.text);
    assert.equal(reply.text.includes('Overloaded'), false);
    assert.match(reply.text, /\[DONE\]/);
  });

  it('is not continued if it was finished', async () => {
    const { first, second } = upstreams();
    const { content, ending, preamble } = chatStream({ text: ['One ', 'two'], usage: null });
    const error = 'data: {"error":{"message":"Overloaded","code":503}}\n\n';
    first.always(stream(preamble + content.join('') + ending.replace('data: [DONE]\n\n', error)));
    second.always(stream(geminiStream({ text: [' three'] })));
    const reply = await (await opened('/v1/chat/completions', 'c-openai-compatible')).whole;
    assert.equal(reply.end, 'cut');
    assert.equal(second.requests.length, 0);
  });

  it('passes unchanged once it is too long to be continued', async () => {
    const { first, second } = upstreams();
    const huge = 'x'.repeat(5 * 1024 * 1024);
    const { content, preamble, text } = chatStream({
      model: 'c-openai-compatible',
      text: ['One ', huge, 'two'],
    });
    first.always(stream(text, [2_000_000, 4_500_000]));
    second.always(stream(geminiStream({ text: [' two'] })));
    const whole = await (await opened('/v1/chat/completions', 'c-openai-compatible')).whole;
    // On a busy machine it comes with signs of life between its frames.
    assert.equal(whole.text.replaceAll(': keep-alive\n\n', '') === text, true);
    // A reset discards what was not read yet.
    const begun = `${preamble}${content[0]}${content[1]}`;
    const gate = Promise.withResolvers<void>();
    first.always(open(), chunk(begun), stall(gate.promise), fin());
    const reply = await opened('/v1/chat/completions', 'c-openai-compatible');
    const received = () => reply.soFar().replaceAll(': keep-alive\n\n', '');
    await waitFor('all that had come', () => received().length === begun.length);
    gate.resolve();
    assert.equal((await reply.whole).end, 'cut');
    assert.equal(received() === begun, true);
    assert.equal(second.requests.length, 0);
  });

  it('does not wait for an upstream that does not end after its error', async () => {
    const { first } = upstreams();
    const tools = [{ id: 'call_1', name: 'f', arguments: '{"a":1}' }];
    const chat = chatStream({ tools });
    const error = 'data: {"error":{"message":"Overloaded","code":503}}\n\n';
    const gemini = geminiStream({ text: ['One '] });
    const cases: readonly [string, string, string][] = [
      ['/v1/chat/completions', 'c-openai-compatible', chat.preamble + chat.content.join('') + error],
      [
        '/v1/chat/completions',
        'gemini-compatible-0/m-1',
        gemini.slice(0, gemini.indexOf('\n\r\n') + 3) + error,
      ],
    ];
    for (const [path, model, said] of cases) {
      first.always(open(), chunk(said), hang());
      const reply = await (await opened(path, model)).whole;
      assert.equal(reply.end, 'cut', reply.text);
      const [request] = first.requests;
      await request?.closed;
    }
  });

  it('gets keep-alives while the continuing upstream is silent, never inside a frame', async () => {
    const { first, second } = upstreams();
    const { content, preamble } = messages;
    const gate = Promise.withResolvers<void>();
    const half = chunk((content[1] ?? '').slice(0, 20));
    first.always(open(), chunk(preamble + content[0]), half, stall(gate.promise), reset());
    const other = Promise.withResolvers<void>();
    second.always(open(), stall(other.promise), chunk(geminiStream({ text: [' two'] })), end());
    const reply = await opened('/v1/messages', 'c-anthropic-compatible');
    // The client has whole frames, whatever the upstream has sent.
    await reply.until(content[0] + ping);
    gate.resolve();
    await second.request();
    const before = reply.soFar();
    await reply.until(before + ping);
    other.resolve();
    assert.match((await reply.whole).text, /message_stop/);
  });

  it('gets keep-alives while the continuing upstream is awaited', async () => {
    const { first, second } = upstreams();
    const reply = await at.manage('POST', '/api/combos', {
      name: 'patient',
      targets: ['openai-compatible-0/m-1', 'gemini-compatible-1/m-2'],
      options: { continue_stream: true, wait_ms: 10_000 },
    });
    assert.equal(reply.status, 200, reply.text);
    const { content, preamble } = chatStream({ text: ['One ', 'two'] });
    first.always(open(), chunk(preamble + content[0]), reset());
    const later = json(429, { error: { code: 429, message: 'later' } }, { 'retry-after': '2' });
    second.script([later], [stream(geminiStream({ text: [' two'] }))]);
    const whole = await (await opened('/v1/chat/completions', 'patient')).whole;
    assert.equal(second.requests.length, 2);
    assert.ok(whole.text.split(': keep-alive\n\n').length > 3, whole.text);
    assert.match(whole.text, /\[DONE\]/);
  });

  it('is one answer to the vendor’s own client, whatever part was interrupted', async () => {
    const { first, second } = upstreams();
    const client = new Anthropic({ baseURL: at.gateway.url, apiKey: at.gateway.key, maxRetries: 0 });
    const thought = event({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'Hm' },
    } as { type: string });
    const stop = event({ type: 'content_block_stop', index: 0 } as { type: string });
    first.always(
      open(),
      chunk(start + thinkingBlock + thought + stop + textBlock.replace('0', '1')),
      reset(),
    );
    second.always(stream(geminiStream({ text: ['Four'] })));
    const answer = await client.messages
      .stream({
        model: 'c-anthropic-compatible',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'hi' }],
      })
      .finalMessage();
    assert.deepEqual(
      answer.content.map((block) => (block.type === 'text' ? block.text : block.type)),
      ['thinking', 'Four'],
    );
  });

  it('is retried without what its target refuses, after a keep-alive as before one', async () => {
    const { first, second } = upstreams();
    const refusal = {
      error: {
        message: "Unsupported parameter: 'temperature'",
        param: 'temperature',
        code: 'unsupported_parameter',
      },
    };
    first.script([pause(700), json(400, refusal)], [stream(chatStream({ text: ['One'] }).text)]);
    second.always(stream(geminiStream({ text: ['Two'] })));
    const text = JSON.stringify({ model: 'c-openai-compatible', ...body, temperature: 0.5 });
    const reply = await (await opened('/v1/messages', '', text)).whole;
    assert.match(reply.text, /ping[\s\S]*One[\s\S]*message_stop/);
    assert.equal(reply.text.split('message_start').length, 3, 'one event and its name');
    assert.deepEqual([reply.end, first.requests.length, second.requests.length], ['complete', 2, 0]);
    assert.equal(first.requests[1]?.body.includes('temperature'), false);
  });
});
