import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { chat, messages } from '../../support/formats/formats.ts';
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

/** A whole stream of a format, and the vendor's word for its end. */
function streamIn(format: Conversing): { text: string; raw: string } {
  switch (format) {
    case 'openai-responses':
      return { text: responsesStream({}).text, raw: 'completed' };
    case 'anthropic-messages':
      return { text: messagesStream({}).text, raw: 'end_turn' };
    case 'gemini':
      return { text: geminiStream({ text: ['Hi'] }), raw: 'STOP' };
    default:
      return { text: chatStream({}).text, raw: 'stop' };
  }
}

describe('the finish reason of an answer', () => {
  let started: ProviderGateway;
  let gateway: ProviderGateway['gateway'];
  let upstream: ProviderGateway['upstream'];
  before(async () => {
    started = await startProviderGateway(['openai', 'anthropic', 'gemini']);
    ({ gateway, upstream } = started);
  });
  after(() => started.stop());

  for (const client of conversing)
    it(`is in the ledger for a client of ${client}, whether its answer is relayed or translated`, async () => {
      const raws: string[] = [];
      upstream.respond(({ path }) => {
        const { raw, text } = streamIn(formatAsked(path));
        raws.push(raw);
        return [answer(200, text, { 'content-type': 'text/event-stream' })];
      });
      const replies = [];
      for (const model of ['openai/gpt-5.4', 'anthropic/claude-opus-4-7', 'gemini/gemini-2.5-flash']) {
        const { body, path } = streamRequest(client, model, gateway.key);
        const reply = await gateway.ask(path, body);
        assert.equal(reply.status, 200, reply.text);
        replies.push(reply);
      }
      assert.deepEqual(
        (await rowsOf(gateway, replies)).map((row) => [row.finish_reason, row.raw_finish_reason]),
        raws.map((raw) => ['stop', raw]),
      );
    });

  it('can be shown, filtered by and explained', async () => {
    upstream.always(json(200, JSON.stringify({ ...messages.answer({}), stop_reason: 'max_tokens' })));
    const asked = [messages, chat].map(({ path, request }) =>
      gateway.ask(path, request({ model: 'anthropic/claude-opus-4-7' })),
    );
    const rows = await rowsOf(gateway, await Promise.all(asked));
    assert.deepEqual(
      rows.map((row) => [row.finish_reason, row.raw_finish_reason]),
      rows.map(() => ['length', 'max_tokens']),
    );
    const page = await gateway.manage(
      'GET',
      '/api/requests?filter[]=finish_reason=length&filter[]=raw_finish_reason=max_tokens',
    );
    assert.equal((page.json() as { subcount: number }).subcount, 2, page.text);
    const explained = await gateway.cli('explain', rows[0]?.id ?? '');
    assert.match(explained.stdout, /Finish reason: length \(the provider: max_tokens\)/);
  });

  it('is unknown for an answer that failed', async () => {
    upstream.always(json(400, '{"error":{"message":"no"}}'));
    const reply = await gateway.ask(chat.path, chat.request({ model: 'openai/gpt-5.4' }));
    const row = await gateway.entry(reply.header('x-request-id'));
    assert.deepEqual([row.finish_reason, row.raw_finish_reason], [null, null]);
  });
});
