import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { messages } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatStream, responsesStream } from '../../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../../support/upstream/answers-native.ts';
import { chunk, open, reset, type Step, stream } from '../../support/upstream/steps.ts';

const at = setting();
const words = 'a word of the request '.repeat(2_000);
/** Four bytes each. */
const aboutTokens = Buffer.byteLength(words) / 4;
const question = (model: string, more: object = {}) =>
  messages.request({ model, stream: true, messages: [{ role: 'user', content: words }], ...more });

interface Told {
  type: string;
  message?: { usage: Record<string, number> };
  usage?: Record<string, number>;
}

/** The usage at the beginning of a stream and at its end. */
function usagesIn(text: string): (Record<string, number> | undefined)[] {
  const events: Told[] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data));
  const of = (type: string) => events.find((event) => event.type === type);
  return [of('message_start')?.message?.usage, of('message_delta')?.usage];
}

const lines = (text: string): Step => stream(text, 'whole', { 'content-type': 'application/x-ndjson' });
/** Each counts the input in its own way, at the end of its stream. */
const late: Record<string, { answer: Step; input: number; cached: number }> = {
  'up/m-1': { answer: stream(chatStream().text, 'whole'), input: 12, cached: 0 },
  'resp/m-1': { answer: stream(responsesStream().text, 'whole'), input: 12, cached: 0 },
  'local/m-1': { answer: lines(ollamaStream()), input: 100, cached: 0 },
};

describe('the input of an answer whose upstream counts it at the end', () => {
  before(async () => {
    await at.gateway.connect({ provider: 'ollama-compatible', name: 'local', baseUrl: at.upstream.url });
    await at.gateway.connect({ provider: 'gemini-compatible', name: 'google', baseUrl: at.upstream.url });
  });

  for (const [model, { answer, cached, input }] of Object.entries(late))
    it(`is estimated at the beginning and corrected at the end, with ${model}`, async () => {
      at.upstream.always(answer);
      const reply = await at.gateway.ask(messages.path, question(model));
      assert.equal(reply.status, 200, reply.text);
      const [begun, ended] = usagesIn(reply.text);
      const told = begun?.['input_tokens'] ?? 0;
      assert.ok(told > aboutTokens && told < aboutTokens * 1.2, `${told}, and about ${aboutTokens}`);
      assert.deepEqual([ended?.['input_tokens'], ended?.['cache_read_input_tokens']], [input, cached]);
      const { estimated, usage } = await at.gateway.entry(reply.header('x-request-id'));
      assert.deepEqual([estimated, usage?.['input']], [false, input]);
    });

  it('is the upstream’s own count where that comes first', async () => {
    at.upstream.always(stream(geminiStream(), 'whole'));
    const reply = await at.gateway.ask(messages.path, question('google/m-1'));
    const [begun] = usagesIn(reply.text);
    assert.deepEqual([begun?.['input_tokens'], begun?.['cache_read_input_tokens']], [40, 60]);
  });

  it('is estimated in the same way for the ledger if the end never comes', async () => {
    const { content, preamble } = chatStream();
    at.upstream.always(open(), chunk(preamble + content.join('')), reset());
    const reply = await at.gateway.ask(messages.path, question('up/m-1'));
    const [begun] = usagesIn(reply.text);
    const { estimated, usage } = await at.gateway.entry(reply.header('x-request-id'));
    assert.deepEqual([estimated, usage?.['input']], [true, begun?.['input_tokens']]);
  });

  it('is not estimated in an answer that comes whole', async () => {
    at.upstream.always(stream(chatStream().text, 'whole'));
    const reply = await at.gateway.ask(messages.path, question('up/m-1', { stream: false }));
    assert.equal(JSON.parse(reply.text).usage.input_tokens, 12);
  });
});
