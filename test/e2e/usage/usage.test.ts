import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Reply } from '../../support/clients/client.ts';
import { asAsked, chat, type Format, formats, messages, responses } from '../../support/formats/formats.ts';
import type { LedgerLine } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json, stream } from '../../support/upstream/steps.ts';

/** A vendor's usage object, and the disjoint buckets that it must become. */
interface UsageCase {
  what: string;
  format: Format;
  usage: object;
  buckets: Readonly<Record<string, number>>;
}

const cases: readonly UsageCase[] = [
  {
    what: 'plain counts',
    format: chat,
    usage: { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 },
    buckets: { input: 12, output: 5 },
  },
  {
    what: 'cache reads, reasoning and audio inside the totals',
    format: chat,
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 300,
      total_tokens: 1300,
      prompt_tokens_details: { cached_tokens: 600, audio_tokens: 50 },
      completion_tokens_details: { reasoning_tokens: 120, audio_tokens: 30 },
    },
    buckets: { input: 350, cache_read: 600, audio_input: 50, output: 150, reasoning: 120, audio_output: 30 },
  },
  {
    what: 'cache hits in the older manner',
    format: chat,
    usage: {
      prompt_tokens: 100,
      completion_tokens: 10,
      total_tokens: 110,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    },
    buckets: { input: 36, cache_read: 64, output: 10 },
  },
  {
    what: 'cache reads and reasoning inside the totals',
    format: responses,
    usage: {
      input_tokens: 900,
      input_tokens_details: { cached_tokens: 512 },
      output_tokens: 80,
      output_tokens_details: { reasoning_tokens: 64 },
      total_tokens: 980,
    },
    buckets: { input: 388, cache_read: 512, output: 16, reasoning: 64 },
  },
  {
    what: 'both cache lifetimes beside the input',
    format: messages,
    usage: {
      input_tokens: 10,
      cache_read_input_tokens: 2000,
      cache_creation_input_tokens: 700,
      cache_creation: { ephemeral_5m_input_tokens: 500, ephemeral_1h_input_tokens: 200 },
      output_tokens: 40,
      server_tool_use: { web_search_requests: 3 },
    },
    buckets: {
      input: 10,
      cache_read: 2000,
      cache_write_5m: 500,
      cache_write_1h: 200,
      output: 40,
      web_searches: 3,
    },
  },
];

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const event = (value: { type: string }) => `event: ${value.type}\n${data(value)}`;

/** Asserts the buckets named; every other one must be nothing. */
function assertBuckets(entry: LedgerLine, buckets: Readonly<Record<string, number>>): void {
  assert.ok(entry.usage, 'there is a usage');
  const counted = Object.fromEntries(Object.entries(entry.usage).filter(([, count]) => count !== 0));
  assert.deepEqual(counted, buckets);
}

describe('usage', () => {
  const price = {
    input: 1,
    output: 2,
    cache_read: 0.1,
    cache_write_5m: 1.25,
    cache_write_1h: 2,
    reasoning: 2,
  };
  const prices = { 'openai-compatible/m-1': price, 'openai/m-1': price, 'anthropic-compatible/m-1': price };
  const at = setting({ config: { prices } });

  const streamed = (format: Format) => at.gateway.ask(format.path, format.request({ stream: true }));
  const entryOf = (reply: Reply) => at.gateway.entry(reply.header('x-request-id'));

  for (const { what, format, usage, buckets } of cases) {
    it(`of ${format.name} with ${what} is the same disjoint buckets, streamed or not`, async () => {
      const { text } = format.stream({ usage });
      const answer = format.answer({ usage });
      at.upstream.script([stream(text, 'byte')], [json(200, answer)]);
      const asStream = await streamed(format);
      assert.equal(asStream.text, text);
      const asWhole = await at.gateway.ask(format.path, format.request());
      assert.equal(asWhole.text, JSON.stringify(answer));
      for (const reply of [asStream, asWhole]) {
        const entry = await entryOf(reply);
        assertBuckets(entry, buckets);
        assert.equal(entry.estimated, false);
      }
    });
  }

  for (const format of formats) {
    it(`of ${format.name} is priced in the ledger and in the header of a whole answer`, async () => {
      at.upstream.script([json(200, format.answer())], [stream(format.stream().text)]);
      const whole = await at.gateway.ask(format.path, format.request());
      const expected = (12 * price.input + 5 * price.output) / 1e6;
      assert.equal(whole.header('x-gateway-cost-usd'), String(expected.toFixed(6)));
      const entry = await entryOf(whole);
      assert.ok(Math.abs((entry.cost_usd ?? 0) - expected) < 1e-12, `${entry.cost_usd}`);
      assert.equal(entry.streamed, false);
      const reply = await streamed(format);
      assert.equal(reply.header('x-gateway-cost-usd'), undefined, 'not known when the headers leave');
      const inLedger = await entryOf(reply);
      assert.ok(Math.abs((inLedger.cost_usd ?? 0) - expected) < 1e-12, `${inLedger.cost_usd}`);
      assert.equal(inLedger.streamed, true);
    });

    it(`of ${format.name} that the upstream does not report is estimated and says so`, async () => {
      const text = ['word '.repeat(200), 'word '.repeat(200)];
      const { text: body } = format.stream({ usage: null, text });
      const answer = JSON.stringify(format.answer({ usage: null, text }));
      at.upstream.script([stream(body, 'frame')], [json(200, answer)]);
      const asStream = await streamed(format);
      assert.equal(asStream.text, body, 'no usage is made up for the client');
      const asWhole = await at.gateway.ask(format.path, format.request());
      assert.equal(asWhole.text, answer);
      for (const reply of [asStream, asWhole]) {
        const { estimated, usage, outcome } = await entryOf(reply);
        assert.deepEqual([estimated, outcome], [true, 'ok']);
        const output = usage?.['output'] ?? 0;
        // Responses tells its text three times over; the estimate is one by size.
        assert.ok(output > 250 && output < 1500, `2,000 bytes of text as ${output} tokens`);
        assert.ok((usage?.['input'] ?? 0) > 5, JSON.stringify(usage));
      }
    });
  }

  it('of a model without a price has no cost, which is not a cost of zero', async () => {
    at.upstream.script([json(200, chat.answer({ model: 'm-2' }))]);
    const reply = await at.gateway.ask(chat.path, chat.request({ model: 'up/m-2' }));
    assert.equal(reply.header('x-gateway-cost-usd'), undefined);
    assert.equal((await entryOf(reply)).cost_usd, null);
  });

  describe('in a chat stream', () => {
    const base = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm-1' };
    const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
    const delta = (content: string, more: object = {}) =>
      data({ ...base, choices: [{ index: 0, delta: { content }, finish_reason: null }], ...more });
    const finish = (more: object = {}) =>
      data({ ...base, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], ...more });
    const done = 'data: [DONE]\n\n';
    const places: Record<string, string> = {
      'in a chunk without choices': delta('a') + finish() + data({ ...base, choices: [], usage }) + done,
      'in the chunk that finishes': delta('a') + finish({ usage }) + done,
      'before the last chunk': delta('a') + data({ ...base, choices: [], usage }) + finish() + done,
      'null until the end':
        delta('a', { usage: null }) + finish({ usage: null }) + data({ ...base, choices: [], usage }) + done,
      'growing in every chunk':
        delta('a', { usage: { ...usage, completion_tokens: 1, total_tokens: 13 } }) +
        delta('b', { usage: { ...usage, completion_tokens: 3, total_tokens: 15 } }) +
        finish({ usage }) +
        done,
      'told twice': delta('a') + finish({ usage }) + data({ ...base, choices: [], usage }) + done,
      'after [DONE]': delta('a') + finish() + done + data({ ...base, choices: [], usage }),
      'without [DONE]': delta('a') + finish() + data({ ...base, choices: [], usage }),
      'of the root and of a vendor extension': delta('a') + finish({ x_groq: { id: 'r', usage } }) + done,
    };
    for (const [place, text] of Object.entries(places)) {
      it(`${place} is found`, async () => {
        at.upstream.script([stream(text, 'byte')]);
        const reply = await streamed(chat);
        assert.equal(reply.text, asAsked(chat, text));
        const entry = await entryOf(reply);
        assert.deepEqual([entry.outcome, entry.estimated], ['ok', false]);
        assertBuckets(entry, { input: 12, output: 5 });
      });
    }
  });

  it('in a messages stream that restates it cumulatively is not added up', async () => {
    const start = { input_tokens: 10, cache_read_input_tokens: 90, output_tokens: 1 };
    const text = [
      event({
        type: 'message_start',
        message: { id: 'm', type: 'message', role: 'assistant', model: 'm-1', content: [], usage: start },
      } as { type: string }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as {
        type: string;
      }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } } as {
        type: string;
      }),
      event({ type: 'message_delta', delta: {}, usage: { output_tokens: 4 } } as { type: string }),
      event({ type: 'content_block_stop', index: 0 } as { type: string }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { input_tokens: 10, output_tokens: 7 },
      } as { type: string }),
      event({ type: 'message_stop' }),
    ].join('');
    at.upstream.script([stream(text, 'byte')]);
    const entry = await entryOf(await streamed(messages));
    assertBuckets(entry, { input: 10, cache_read: 90, output: 7 });
  });

  describe('at the end of a long terminal event of responses', () => {
    const usage = { input_tokens: 12, output_tokens: 5, total_tokens: 17 };
    const opening = responses.stream().preamble + responses.stream().content.join('');
    const completed = (response: object) =>
      event({ type: 'response.completed', sequence_number: 99, response } as { type: string });
    const long = 'x'.repeat(300_000);
    const common = { id: 'resp_1', object: 'response', status: 'completed', model: 'm-1', output: [] };
    const shapes: Record<string, string> = {
      'after everything else': completed({ ...common, instructions: long, usage }),
      'before everything else': completed({ ...common, usage, instructions: long }),
      'between long members': completed({ ...common, instructions: long, usage, metadata: { long } }),
      'with [DONE] behind it': `${completed({ ...common, usage, instructions: long })}${data('[DONE]').replaceAll('"', '')}`,
    };
    for (const [place, ending] of Object.entries(shapes)) {
      for (const split of ['whole', Array.from({ length: 500 }, (_, index) => index * 1400)] as const) {
        it(`${place} is found, in ${split === 'whole' ? 'one piece' : 'many pieces'}`, async () => {
          at.upstream.script([stream(opening + ending, split)]);
          const reply = await streamed(responses);
          assert.equal(reply.end, 'complete');
          assert.equal(reply.text, asAsked(responses, opening + ending));
          const entry = await entryOf(reply);
          assert.deepEqual([entry.outcome, entry.estimated], ['ok', false]);
          assertBuckets(entry, { input: 12, output: 5 });
        });
      }
    }

    it('that is invalid does not make the stream look broken', async () => {
      const text = opening + completed({ ...common, instructions: long, usage: null });
      at.upstream.script([stream(text)]);
      const reply = await streamed(responses);
      assert.equal(reply.end, 'complete');
      const entry = await entryOf(reply);
      assert.deepEqual([entry.outcome, entry.estimated], ['ok', true]);
    });
  });
});
