import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { bearer, waitFor } from '../../support/gateway/gateway.ts';
import { setting } from '../../support/gateway/setting.ts';
import {
  chatAnswer,
  chatStream,
  messagesAnswer,
  messagesStream,
  responsesAnswer,
  responsesStream,
} from '../../support/upstream/answers.ts';
import { json, stream } from '../../support/upstream/steps.ts';

/** What the gateway remembers of responses, over providers that remember nothing. */
const running = setting();
const gateway = () => running.gateway;
const upstream = () => running.upstream;
const client = (key = gateway().key) =>
  new OpenAI({ baseURL: `${gateway().url}/v1`, apiKey: key, maxRetries: 0 });
const sent = async (index: number) => JSON.parse((await (await upstream().request(index)).whole).toString());
const call = { id: 'call_1', name: 'weather', arguments: '{"city":"Köln"}' };
const weather = {
  type: 'function' as const,
  name: 'weather',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

/** Providers without any state of their own. */
const providers = {
  chat: { model: 'up/m-1', stream: chatStream, answer: chatAnswer },
  messages: { model: 'anth/m-1', stream: messagesStream, answer: messagesAnswer },
} as const;

/** Every text in what an upstream was sent, in order. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value !== 'object' || value === null) return [];
  const { content, text } = value as { content?: unknown; text?: unknown };
  return [...textsIn(content), ...textsIn(text)];
}

for (const [name, provider] of Object.entries(providers)) {
  const { model } = provider;

  describe(`previous_response_id with a ${name} provider`, () => {
    it('shows earlier input, earlier output and new input, turn after turn', async () => {
      upstream().script(
        [json(200, provider.answer({ text: ['Two.'] }))],
        [stream(provider.stream({ text: ['Four.'] }).text)],
        [json(200, provider.answer({ text: ['Six.'] }))],
      );
      const one = await client().responses.create({ model, input: 'One?', instructions: 'Be brief.' });
      assert.deepEqual([one.output_text, one.previous_response_id], ['Two.', null]);
      assert.ok('store' in one && one.store === true);
      const two = await client()
        .responses.stream({ model, input: 'Three?', previous_response_id: one.id })
        .finalResponse();
      assert.deepEqual([two.output_text, two.previous_response_id], ['Four.', one.id]);
      const three = await client().responses.create({ model, input: 'Five?', previous_response_id: two.id });
      assert.equal(three.output_text, 'Six.');
      assert.deepEqual(textsIn((await sent(1)).messages), ['One?', 'Two.', 'Three?'], 'no instructions');
      assert.deepEqual(textsIn((await sent(2)).messages), ['One?', 'Two.', 'Three?', 'Four.', 'Five?']);
    });

    it('goes through a tool loop that sends nothing but the result', async () => {
      upstream().script(
        [stream(provider.stream({ text: [], tools: [call] }).text)],
        [json(200, provider.answer({ text: ['21 °C'] }))],
      );
      const first = await client()
        .responses.stream({ model, input: 'Weather?', tools: [weather] })
        .finalResponse();
      const asked = first.output.find((item) => item.type === 'function_call');
      const last = await client().responses.create({
        model,
        tools: [weather],
        previous_response_id: first.id,
        input: [{ type: 'function_call_output', call_id: asked?.call_id ?? '', output: 'warm' }],
      });
      assert.equal(last.output_text, '21 °C');
      const { messages } = await sent(1);
      assert.equal(messages.length, 3);
      assert.match(JSON.stringify(messages), /Köln.*warm/);
    });

    it('finds the items that a reference names', async () => {
      upstream().script(
        [json(200, provider.answer({ text: ['Two.'] }))],
        [json(200, provider.answer({ text: ['Done.'] }))],
      );
      const one = await client().responses.create({ model, input: 'One?' });
      await client().responses.create({
        model,
        input: [
          { role: 'user', content: 'Zero.' },
          { type: 'item_reference', id: one.output[0]?.id ?? '' },
          { role: 'user', content: 'Three?' },
        ],
      });
      assert.deepEqual(textsIn((await sent(1)).messages), ['Zero.', 'Two.', 'Three?']);
      const unknown = client().responses.create({
        model,
        input: [{ type: 'item_reference', id: 'msg_none_0' }],
      });
      await assert.rejects(unknown, (error) => error instanceof OpenAI.BadRequestError);
    });
  });

  describe(`a stored response of a ${name} provider`, () => {
    it('is retrieved, listed and deleted', async () => {
      upstream().always(json(200, provider.answer({ text: ['Two.'] })));
      const one = await client().responses.create({ model, input: 'One?', metadata: { a: 'b' } });
      const { output_text: _, ...whole } = one;
      const { output_text: __, ...kept } = await client().responses.retrieve(one.id);
      assert.deepEqual(kept, whole);
      const two = await client().responses.create({ model, input: 'Three?', previous_response_id: one.id });
      const listed: string[] = [];
      for await (const item of client().responses.inputItems.list(two.id, { order: 'asc', limit: 1 }))
        listed.push(...textsIn(item));
      assert.deepEqual(listed, ['One?', 'Two.', 'Three?']);
      const newest = await client().responses.inputItems.list(two.id, { limit: 2 });
      assert.deepEqual(newest.data.flatMap(textsIn), ['Three?', 'Two.']);
      const gone = await gateway().send({
        method: 'DELETE',
        path: `/v1/responses/${one.id}`,
        headers: bearer(gateway().key),
      });
      assert.deepEqual(gone.json(), { id: one.id, object: 'response', deleted: true });
      await assert.rejects(client().responses.retrieve(one.id), OpenAI.NotFoundError);
      await assert.rejects(client().responses.delete(one.id), OpenAI.NotFoundError);
      assert.deepEqual(
        (await client().responses.inputItems.list(two.id, { order: 'asc' })).data.flatMap(textsIn),
        ['Three?'],
      );
    });
  });
}

describe('tokens counted ahead', () => {
  it('are those of everything that a request refers to', async () => {
    const { model } = providers.chat;
    upstream().always(json(200, chatAnswer()));
    const { id } = await client().responses.create({ model, input: 'x'.repeat(4000) });
    const count = async (more: object) =>
      (await client().responses.inputTokens.count({ model, input: 'Hi', ...more })).input_tokens;
    const alone = await count({});
    assert.ok((await count({ previous_response_id: id })) > alone + 400);
    await assert.rejects(count({ previous_response_id: 'resp_none' }), OpenAI.BadRequestError);
  });
});

describe('a response that is not stored', () => {
  const { model } = providers.chat;

  it('is a 400 with OpenAI’s code when it is continued, and a 404 when it is asked for', async () => {
    upstream().always(json(200, chatAnswer()));
    const { id } = await client().responses.create({ model, input: 'One?', store: false });
    for (const unknown of [id, 'resp_68aa']) {
      await assert.rejects(
        client().responses.create({ model, input: 'Two?', previous_response_id: unknown }),
        (error) =>
          error instanceof OpenAI.BadRequestError &&
          error.code === 'previous_response_not_found' &&
          error.param === 'previous_response_id',
      );
      await assert.rejects(client().responses.retrieve(unknown), OpenAI.NotFoundError);
      await assert.rejects(client().responses.delete(unknown), OpenAI.NotFoundError);
      await assert.rejects(client().responses.inputItems.list(unknown), OpenAI.NotFoundError);
    }
    assert.equal(upstream().requests.length, 1);
  });

  it('exists for no other key', async () => {
    upstream().always(json(200, chatAnswer()));
    const { id } = await client().responses.create({ model, input: 'One?' });
    const other = String((await gateway().cliJson('keys', 'add', 'other'))['key']);
    const theirs = () => client(other).responses;
    await waitFor('the key', () =>
      client(other)
        .models.list()
        .then(
          () => true,
          () => false,
        ),
    );
    await assert.rejects(theirs().retrieve(id), OpenAI.NotFoundError);
    await assert.rejects(theirs().delete(id), OpenAI.NotFoundError);
    await assert.rejects(
      theirs().create({ model, input: 'Two?', previous_response_id: id }),
      OpenAI.BadRequestError,
    );
    assert.equal((await client().responses.retrieve(id)).id, id);
  });

  it('cannot be cancelled or made in the background', async () => {
    upstream().always(json(200, chatAnswer()));
    const { id } = await client().responses.create({ model, input: 'One?' });
    await assert.rejects(client().responses.cancel(id), OpenAI.BadRequestError);
    await assert.rejects(
      client().responses.create({ model, input: 'x', background: true }),
      (error) => error instanceof OpenAI.BadRequestError && error.param === 'background',
    );
  });

  it('survives a restart of the gateway', async () => {
    upstream().always(json(200, chatAnswer({ text: ['Two.'] })));
    const { id } = await client().responses.create({ model, input: 'One?' });
    await waitFor('the response on the disk', async () => {
      const files = ['modelgate.db', 'modelgate.db-wal'].map((name) =>
        readFile(join(gateway().dataDir, name)),
      );
      return Buffer.concat(await Promise.all(files)).includes(id);
    });
    await gateway().kill();
    await gateway().restart();
    upstream().always(json(200, chatAnswer()));
    await client().responses.create({ model, input: 'Three?', previous_response_id: id });
    assert.deepEqual(textsIn((await sent(0)).messages), ['One?', 'Two.', 'Three?']);
  });
});

describe('a provider of the same format', () => {
  it('receives the whole conversation if only the gateway stored it', async () => {
    const reasoning = ['Hm.'];
    upstream().script(
      [stream(messagesStream({ text: ['Two.'], reasoning }).text)],
      [json(200, responsesAnswer({ text: ['Four.'] }))],
    );
    const one = await client()
      .responses.stream({ model: 'anth/m-1', input: 'One?', reasoning: { effort: 'low' } })
      .finalResponse();
    await client().responses.create({ model: 'resp/m-1', input: 'Three?', previous_response_id: one.id });
    const { input, model, previous_response_id } = await sent(1);
    assert.deepEqual(
      [model, previous_response_id, textsIn(input)],
      ['m-1', undefined, ['One?', 'Two.', 'Three?']],
    );
    assert.ok(input.every((item: object) => !('id' in item) && !('encrypted_content' in item)));
  });

  it('receives references to its own responses byte for byte', async () => {
    upstream().always(json(200, responsesAnswer()));
    const body = '{"model":"resp/m-1", "previous_response_id":"resp_its_own","input":"Three?"}';
    assert.equal((await gateway().ask('/v1/responses', body)).status, 200);
    assert.equal((await (await upstream().request()).whole).toString(), body.replace('resp/m-1', 'm-1'));
  });
});

describe('a provider of the same format that keeps nothing', () => {
  const model = 'local/m-1';
  before(async () => {
    const { url } = upstream();
    await gateway().connect({ provider: 'vllm', name: 'local', baseUrl: url, apiKey: null });
  });

  it('receives the whole conversation, turn after turn, with its own bytes untouched', async () => {
    const streamed = responsesStream({ model, text: ['Two.'] }).text;
    upstream().script(
      [stream(streamed, 'byte')],
      [json(200, { ...responsesAnswer({ text: ['Four.'] }), id: 'resp_2' })],
      [json(200, responsesAnswer())],
    );
    const first = await gateway().ask('/v1/responses', { model, input: 'One?', stream: true });
    assert.equal(first.text, streamed);
    const two = await client().responses.create({ model, input: 'Three?', previous_response_id: 'resp_1' });
    assert.equal((await client().responses.retrieve(two.id)).output_text, 'Four.');
    await client().responses.create({ model, input: 'Five?', previous_response_id: two.id });
    const { input, previous_response_id } = await sent(2);
    assert.deepEqual(textsIn(input), ['One?', 'Two.', 'Three?', 'Four.', 'Five?']);
    assert.equal(previous_response_id, undefined);
  });

  it('stores nothing if the client opted out, or by default', async () => {
    const answer = (id: string, more = {}) => json(200, { ...responsesAnswer(), id, ...more });
    upstream().script([answer('resp_a')], [answer('resp_b')], [answer('resp_c', { output: [] })]);
    await gateway().ask('/v1/responses', '{"model":"local/m-1","input":"x","store":false}');
    await gateway().ask('/v1/responses', '{"model":"local/m-1","store" : false,"input":"x"}');
    await gateway().ask('/v1/responses', { model, input: 'x' });
    for (const id of ['resp_a', 'resp_b', 'resp_c'])
      await assert.rejects(client().responses.retrieve(id), OpenAI.NotFoundError);
  });

  it('includes the demo', async () => {
    const one = await client().responses.create({ model: 'demo/echo', input: 'One?' });
    const two = await client()
      .responses.stream({ model: 'demo/echo', input: 'Two?', previous_response_id: one.id })
      .finalResponse();
    const items = await client().responses.inputItems.list(two.id, { order: 'asc' });
    assert.deepEqual(items.data.flatMap(textsIn), ['One?', one.output_text, 'Two?']);
    assert.ok('store' in one && one.store === true);
    await assert.rejects(
      client().responses.create({ model: 'demo/echo', input: 'x', previous_response_id: 'resp_none' }),
      (error: unknown) =>
        error instanceof OpenAI.BadRequestError && error.code === 'previous_response_not_found',
    );
  });
});
