import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import OpenAI from 'openai';
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

/** Long conversations made short, by the provider where it can and by the gateway elsewhere. */
const running = setting();
const gateway = () => running.gateway;
const upstream = () => running.upstream;
const client = () => new OpenAI({ baseURL: `${gateway().url}/v1`, apiKey: gateway().key, maxRetries: 0 });
const sent = async (index: number) => JSON.parse((await (await upstream().request(index)).whole).toString());

const history = [
  { type: 'message', role: 'user', content: 'Fix the test.' },
  { type: 'function_call', call_id: 'call_1', name: 'shell', arguments: '{"cmd":"ls"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'a.ts' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Found it.' }] },
] as OpenAI.Responses.ResponseInput;
const tools: OpenAI.Responses.Tool[] = [
  { type: 'function', name: 'shell', strict: false, parameters: { type: 'object', properties: {} } },
];
const summary = ['The user wants the test fixed. ', 'It stands in a.ts ☀.'];

const providers = {
  chat: { model: 'up/m-1', stream: chatStream, answer: chatAnswer, none: 'none' },
  messages: { model: 'anth/m-1', stream: messagesStream, answer: messagesAnswer, none: { type: 'none' } },
} as const;

for (const [name, { answer, model, none, stream: streamOf }] of Object.entries(providers)) {
  describe(`compaction with a ${name} provider`, () => {
    it('is one item that any provider later receives as text', async () => {
      upstream().script(
        [json(200, answer({ text: summary }))],
        [json(200, chatAnswer())],
        [json(200, messagesAnswer())],
        [json(200, responsesAnswer())],
      );
      const compacted = await client().responses.compact({ model, input: history });
      assert.deepEqual([compacted.object, compacted.id.slice(0, 5)], ['response.compaction', 'resp_']);
      assert.ok(compacted.usage.input_tokens > 0 && compacted.usage.output_tokens > 0);
      assert.deepEqual(
        compacted.output.map(({ type }) => type),
        ['message', 'compaction'],
      );
      const asked = JSON.stringify((await sent(0)).messages.at(-1));
      assert.match(asked, /Write a handover of this conversation/);
      const input = compacted.output as OpenAI.Responses.ResponseInput;
      for (const [index, next] of ['up/m-1', 'anth/m-1', 'resp/m-1'].entries()) {
        await client().responses.create({
          model: next,
          input: [...input, { role: 'user', content: 'Go on.' }],
        });
        const told = JSON.stringify(await sent(index + 1));
        assert.match(told, /Fix the test\..*It stands in a\.ts ☀\..*Go on\./);
        assert.doesNotMatch(told, /mgc1|"compaction"/);
      }
    });

    it('is what Codex waits for: exactly one compaction item in a finished stream', async () => {
      upstream().always(stream(streamOf({ text: summary, reasoning: ['Hm.'] }).text, 'byte'));
      const events: OpenAI.Responses.ResponseStreamEvent[] = [];
      const trigger = { type: 'compaction_trigger' } as const;
      const { data, request_id } = await client()
        .responses.create({
          model,
          tools,
          store: false,
          stream: true,
          tool_choice: 'auto',
          input: [...history, trigger],
        })
        .withResponse();
      for await (const event of data) events.push(event);
      assert.deepEqual(
        events.map(({ type }) => type),
        [
          'response.created',
          'response.in_progress',
          'response.output_item.added',
          'response.output_item.done',
          'response.completed',
        ],
      );
      const last = events.at(-1);
      assert.ok(last?.type === 'response.completed');
      assert.deepEqual(
        last.response.output.map(({ type }) => type),
        ['compaction'],
      );
      const { messages, tool_choice } = await sent(0);
      assert.deepEqual(tool_choice, none);
      assert.doesNotMatch(JSON.stringify(messages), /compaction_trigger/);
      const row = await gateway().entry(request_id ?? undefined);
      assert.deepEqual([row.outcome, row.streamed], ['ok', true]);
      // The session goes on with any other vendor.
      for (const [next, answered] of [
        ['up/m-1', chatAnswer()],
        ['anth/m-1', messagesAnswer()],
        ['resp/m-1', responsesAnswer()],
      ] as const) {
        upstream().always(json(200, answered));
        const input = [...last.response.output, { role: 'user', content: 'Go on.' }];
        await client().responses.create({
          model: next,
          store: false,
          input: input as OpenAI.Responses.ResponseInput,
        });
        const body = JSON.stringify(await sent(upstream().requests.length - 1));
        assert.match(body, /It stands in a\.ts ☀\..*Go on\./);
        assert.doesNotMatch(body, /mgc1|"compaction"/);
      }
    });

    it('fails, and loses nothing, when the model does not finish its summary', async () => {
      upstream().always(json(200, answer({ text: [] })));
      await assert.rejects(
        client().responses.compact({ model, input: history }),
        (error) => error instanceof OpenAI.APIError && error.status === 502,
      );
    });

    it('takes in what previous_response_id stands for, and can be continued', async () => {
      upstream().script(
        [json(200, answer({ text: ['Two.'] }))],
        [json(200, answer({ text: summary }))],
        [json(200, answer({ text: summary }))],
        [json(200, answer({ text: ['Done.'] }))],
      );
      const one = await client().responses.create({ model, input: 'One?' });
      const whole = await client().responses.compact({ model, previous_response_id: one.id });
      assert.match(JSON.stringify((await sent(1)).messages), /One\?.*Two\..*handover/);
      assert.match(JSON.stringify(whole.output[0]), /One\?/);
      await assert.rejects(client().responses.retrieve(whole.id), OpenAI.NotFoundError);
      const two = await client().responses.create({
        model,
        previous_response_id: one.id,
        input: [{ type: 'compaction_trigger' }],
      });
      await client().responses.create({ model, previous_response_id: two.id, input: 'Three?' });
      const told = JSON.stringify((await sent(3)).messages);
      assert.match(told, /It stands in a\.ts ☀\..*Three\?/);
      assert.doesNotMatch(told, /One\?|Two\./);
    });
  });
}

describe('compaction with a provider that does it', () => {
  it('is passed to it, at its own path and byte for byte', async () => {
    const answer = {
      id: 'resp_1',
      object: 'response.compaction',
      created_at: 1,
      output: [{ id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA' }],
      usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
    };
    upstream().always(json(200, answer));
    const body = '{"model":"resp/m-1", "input":"Long."}';
    const reply = await gateway().ask('/v1/responses/compact', body);
    assert.deepEqual(reply.json(), answer);
    const request = await upstream().request();
    assert.deepEqual(
      [request.path, (await request.whole).toString()],
      ['/v1/responses/compact', body.replace('resp/m-1', 'm-1')],
    );
    const row = await gateway().entry(reply.header('x-request-id'));
    assert.deepEqual([row.usage?.['input'], row.usage?.['output']], [9, 3]);
  });

  it('cannot be read by another vendor, and the refusal says what to do', async () => {
    const input = [
      { role: 'user', content: 'Fix the test.' },
      { id: 'cmp_1', type: 'compaction', encrypted_content: 'gAAAA' },
      { role: 'user', content: 'Go on.' },
    ];
    for (const model of ['up/m-1', 'anth/m-1']) {
      const reply = await gateway().ask('/v1/responses', { model, input, store: false });
      assert.equal(reply.status, 400, reply.text);
      const { error } = reply.json() as { error: Record<string, string> };
      assert.deepEqual([error['code'], error['param']], ['not_translatable', 'input']);
      assert.match(
        error['message'] ?? '',
        /OpenAI compacted this conversation.*choose an OpenAI model again.*\/new/,
      );
    }
  });

  it('is passed to it as an item too', async () => {
    upstream().always(stream(responsesStream().text));
    const body = '{"model":"resp/m-1","input":[{"type":"compaction_trigger"}],"stream":true}';
    await gateway().ask('/v1/responses', body);
    assert.equal((await (await upstream().request()).whole).toString(), body.replace('resp/m-1', 'm-1'));
  });

  it('receives the gateway’s own summaries as text', async () => {
    upstream().script([json(200, chatAnswer({ text: summary }))], [json(200, responsesAnswer())]);
    const compacted = await client().responses.compact({ model: 'up/m-1', input: history });
    await client().responses.compact({
      model: 'resp/m-1',
      input: compacted.output as OpenAI.Responses.ResponseInput,
    });
    assert.equal((await upstream().request(1)).path, '/v1/responses/compact');
    assert.match(JSON.stringify(await sent(1)), /It stands in a\.ts ☀\./);
  });

  it('is done by the gateway for the demo, which does not support it', async () => {
    const compacted = await client().responses.compact({ model: 'demo/echo', input: 'Long.' });
    assert.equal(compacted.output.at(-1)?.type, 'compaction');
  });
});
