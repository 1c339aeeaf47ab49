import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { messages } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { chatStream } from '../../support/upstream/answers.ts';
import { geminiStream, ollamaStream } from '../../support/upstream/answers-native.ts';
import { stream } from '../../support/upstream/steps.ts';

const at = setting();
const tools = [
  { id: 'call_1', name: 'list', arguments: '{"in":"a"}' },
  { id: 'call_2', name: 'list', arguments: '{"in":"b"}' },
];
const upstreams = [
  ['goog/m-1', geminiStream({ text: [], tools })],
  ['olla/m-1', ollamaStream({ text: [], tools })],
  // Whatever it promises, a model may not keep to it.
  ['up/m-1', chatStream({ text: [], tools }).text],
] as const;

describe('a client that disables parallel tool calls', () => {
  before(async () => {
    const baseUrl = at.upstream.url;
    await at.gateway.connect({ provider: 'gemini-compatible', name: 'goog', baseUrl });
    await at.gateway.connect({ provider: 'ollama-compatible', name: 'olla', baseUrl });
  });

  for (const [model, answer] of upstreams) {
    const ask = async (streamed: boolean, choice: object) => {
      at.upstream.always(stream(answer));
      const asked = {
        tools: [{ name: 'list', input_schema: { type: 'object' } }],
        ...choice,
        stream: streamed,
      };
      const reply = await at.gateway.ask(messages.path, messages.request({ model, ...asked }));
      assert.equal(reply.status, 200, reply.text);
      assert.match(reply.text, /"stop_reason":"tool_use"/);
      assert.equal(reply.header('x-gateway-dropped'), undefined);
      return reply.text.split('"type":"tool_use"').length - 1;
    };
    const one = { tool_choice: { type: 'auto', disable_parallel_tool_use: true } };

    it(`gets only the first call from ${model}, and all by default`, async () => {
      for (const streamed of [true, false]) {
        assert.equal(await ask(streamed, one), 1);
        assert.equal(await ask(streamed, {}), 2);
      }
    });
  }
});
