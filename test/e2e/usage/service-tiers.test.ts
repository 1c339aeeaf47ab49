import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chat, messages, responses } from '../../support/formats/formats.ts';
import {
  type Conversing,
  conversing,
  formatAsked,
  streamRequest,
} from '../../support/formats/formats-matrix.ts';
import { rowsOf } from '../../support/gateway/gateway.ts';
import { type ProviderGateway, startProviderGateway } from '../../support/gateway/provider-gateway.ts';
import { chatStream, messagesStream, responsesStream } from '../../support/upstream/answers.ts';
import { geminiStream } from '../../support/upstream/answers-native.ts';
import { body as answer, json } from '../../support/upstream/steps.ts';

const TOKENS = 100_000;

interface Case {
  /** `PROVIDER/MODEL`. */
  model: string;
  /** What the answer says, in the words of the format in which the provider is asked. */
  says: string;
  /** The tier and the cost that the ledger has. */
  served: string;
  usd: number | null;
}

/** USD for 100,000 tokens of input. */
const cases: readonly Case[] = [
  { model: 'openai/gpt-5.4', says: 'default', served: 'default', usd: 0.25 },
  { model: 'openai/gpt-5.4', says: 'priority', served: 'priority', usd: 0.5 },
  { model: 'openai/gpt-5.4', says: 'flex', served: 'flex', usd: 0.125 },
  { model: 'openai/gpt-5.4', says: 'scale', served: 'scale', usd: null },
  { model: 'groq/qwen/qwen3-32b', says: 'on_demand', served: 'default', usd: 0.029 },
  { model: 'groq/qwen/qwen3-32b', says: 'flex', served: 'flex', usd: 0.029 },
  { model: 'anthropic/claude-opus-4-7', says: 'standard', served: 'default', usd: 0.5 },
  { model: 'anthropic/claude-opus-4-7', says: 'batch', served: 'batch', usd: 0.25 },
  { model: 'anthropic/claude-opus-4-7', says: 'fast', served: 'fast', usd: 3 },
  { model: 'anthropic/claude-opus-4-7', says: 'priority', served: 'priority', usd: null },
  { model: 'gemini/gemini-2.5-flash', says: 'ON_DEMAND', served: 'default', usd: 0.03 },
  { model: 'gemini/gemini-2.5-flash', says: 'flex', served: 'flex', usd: 0.015 },
];

/** An answer of the format that names the tier where the format does. */
function answerIn(format: Conversing, says: string, stream: boolean): [text: string, type: string] {
  const chatUsage = { prompt_tokens: TOKENS, completion_tokens: 0, total_tokens: TOKENS };
  const events = 'text/event-stream';
  const tier = `"service_tier":${JSON.stringify(says)}`;
  switch (format) {
    case 'openai-responses': {
      const usage = { input_tokens: TOKENS, output_tokens: 0, total_tokens: TOKENS };
      const named = (text: string) => text.replaceAll('"object":"response"', `"object":"response",${tier}`);
      return stream
        ? [named(responsesStream({ usage }).text), events]
        : [named(JSON.stringify(responses.answer({ usage }))), 'application/json'];
    }
    case 'anthropic-messages': {
      const fast = says === 'fast';
      const named = { service_tier: fast ? 'standard' : says, ...(fast && { speed: 'fast' }) };
      const usage = { input_tokens: TOKENS, output_tokens: 0, ...named };
      return stream
        ? [messagesStream({ usage }).text, events]
        : [JSON.stringify(messages.answer({ usage })), 'application/json'];
    }
    case 'gemini': {
      const name = says === says.toUpperCase() ? 'trafficType' : 'serviceTier';
      const usage = { promptTokenCount: TOKENS, totalTokenCount: TOKENS, [name]: says };
      const text = geminiStream({ text: ['Hi'], usage });
      if (stream) return [text, events];
      const chunk = JSON.parse(text.slice('data: '.length, text.indexOf('\r\n'))) as {
        candidates: object[];
      };
      const candidates = chunk.candidates.map((one) => ({ ...one, finishReason: 'STOP' }));
      return [JSON.stringify({ ...chunk, candidates }), 'application/json'];
    }
    default: {
      const named = (text: string) => text.replaceAll('"created":', `${tier},"created":`);
      return stream
        ? [named(chatStream({ usage: chatUsage }).text), events]
        : [named(JSON.stringify(chat.answer({ usage: chatUsage }))), 'application/json'];
    }
  }
}

/** The request of a client of the format that wants the whole answer. */
function wholeRequest(format: Conversing, model: string, key: string) {
  const { body, path } = streamRequest(format, model, key);
  if (format !== 'gemini') return { path, body: { ...body, stream: false } };
  return { path: path.replace(':streamGenerateContent?alt=sse', ':generateContent'), body };
}

describe('the service tier that an answer names', () => {
  let started: ProviderGateway;
  let gateway: ProviderGateway['gateway'];
  let upstream: ProviderGateway['upstream'];
  before(async () => {
    started = await startProviderGateway(['openai', 'groq', 'anthropic', 'gemini']);
    ({ gateway, upstream } = started);
  });
  after(() => started.stop());

  for (const client of conversing)
    it(`determines the price, in whole answers and streams, for clients of ${client}`, async () => {
      const asked = cases.flatMap((one) => [false, true].map((stream) => ({ ...one, stream })));
      let says = '';
      upstream.respond(({ body, path }) => {
        const format = formatAsked(path);
        const streamed =
          format === 'gemini' ? path.includes('stream') : /"stream":\s*true/.test(String(body));
        const [text, type] = answerIn(format, says, streamed);
        return [answer(200, text, { 'content-type': type })];
      });
      const replies = [];
      for (const one of asked) {
        const make = one.stream ? streamRequest : wholeRequest;
        const { body, path } = make(client, one.model, gateway.key);
        says = one.says;
        const reply = await gateway.ask(path, body);
        assert.equal(reply.status, 200, `${one.model} ${one.says}: ${reply.text}`);
        if (!one.stream && one.usd !== null)
          assert.equal(Number(reply.header('x-gateway-cost-usd')), one.usd, `${one.model} ${one.says}`);
        replies.push(reply);
      }
      const rows = await rowsOf(gateway, replies);
      assert.deepEqual(
        rows.map(({ asked_tier, cost_unknown, cost_usd, served_tier }) => ({
          asked_tier,
          served_tier,
          cost_usd: cost_usd === null ? null : Number(cost_usd.toFixed(9)),
          cost_unknown,
        })),
        asked.map(({ served, usd }) => ({
          asked_tier: null,
          served_tier: served,
          cost_usd: usd,
          cost_unknown: usd === null ? 'no_tier_price' : null,
        })),
      );
    });

  it('is also read from the headers of the answer', async () => {
    const [text] = answerIn('gemini', 'SERVICE_TIER_UNSPECIFIED', false);
    upstream.always(json(200, text, { 'x-gemini-service-tier': 'flex' }));
    const { body, path } = wholeRequest('gemini', 'gemini/gemini-2.5-flash', gateway.key);
    const reply = await gateway.ask(path, body);
    const row = await gateway.entry(reply.header('x-request-id'));
    assert.deepEqual([row.served_tier, row.cost_usd], ['flex', 0.015]);
  });

  it('is stored beside the requested one, in the ledger and in its sums', async () => {
    upstream.respond(({ path }) => [json(200, answerIn(formatAsked(path), 'default', false)[0])]);
    const replies = [
      await gateway.ask(chat.path, chat.request({ model: 'openai/gpt-5.4', service_tier: 'priority' })),
      await gateway.ask(chat.path, chat.request({ model: 'openai/gpt-5.4', service_tier: 'auto' })),
      await gateway.ask(messages.path, messages.request({ model: 'openai/gpt-5.4', speed: 'fast' })),
    ];
    const rows = await rowsOf(gateway, replies);
    assert.deepEqual(
      rows.map(({ asked_tier, cost_usd, served_tier }) => [asked_tier, served_tier, cost_usd]),
      [
        ['priority', 'default', 0.25],
        [null, 'default', 0.25],
        ['fast', 'default', 0.25],
      ],
    );
    const { usage } = (await gateway.cliJson('usage', '--by', 'tier')) as {
      usage: { tier: string | null; cost_usd: number | null }[];
    };
    assert.deepEqual(usage.map(({ tier }) => tier).toSorted(), [
      'batch',
      'default',
      'fast',
      'flex',
      'priority',
      'scale',
    ]);
    assert.equal(usage.find(({ tier }) => tier === 'scale')?.cost_usd, null);
    const page = await gateway.manage(
      'GET',
      '/api/requests?filter[]=served_tier=scale&filter[]=cost_unknown=no_tier_price',
    );
    assert.ok((page.json() as { subcount: number }).subcount > 0, page.text);
    const explained = await gateway.cli('explain', replies[0]?.header('x-request-id') ?? '');
    assert.match(explained.stdout, /Service tier: asked for priority, served by default/);
  });

  it('is requested in the terms of each format, or reported as dropped', async () => {
    const seen: unknown[] = [];
    upstream.respond(({ body, path }) => {
      const { service_tier, serviceTier } = JSON.parse(body.toString()) as Record<string, unknown>;
      seen.push(service_tier ?? serviceTier);
      return [json(200, answerIn(formatAsked(path), 'default', false)[0])];
    });
    const asked: readonly [body: object, path: string][] = [
      [responses.request({ model: 'groq/qwen/qwen3-32b', service_tier: 'flex' }), responses.path],
      [messages.request({ model: 'openai/gpt-5.4', service_tier: 'standard_only' }), messages.path],
      [chat.request({ model: 'anthropic/claude-opus-4-7', service_tier: 'default' }), chat.path],
      [chat.request({ model: 'anthropic/claude-opus-4-7', service_tier: 'flex' }), chat.path],
      [chat.request({ model: 'gemini/gemini-2.5-flash', service_tier: 'priority' }), chat.path],
    ];
    const dropped: unknown[] = [];
    for (const [body, path] of asked) {
      const reply = await gateway.ask(path, body);
      assert.equal(reply.status, 200, reply.text);
      dropped.push(reply.header('x-gateway-dropped'));
    }
    assert.deepEqual(
      seen.map((tier) => tier ?? null),
      ['flex', 'default', 'standard_only', null, 'priority'],
    );
    assert.deepEqual(
      dropped.map((names) => names ?? null),
      [null, null, null, 'service_tier', null],
    );
  });
});
