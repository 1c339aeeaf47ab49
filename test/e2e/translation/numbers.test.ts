import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { messages } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { messagesStream, responsesAnswer } from '../../support/upstream/answers.ts';
import { json, stream } from '../../support/upstream/steps.ts';

/** Numbers keep their digits also where the gateway writes a body anew in the format in which it came. */
const at = setting();
const input = '{"id":1234567890123456789,"share":1.0}';
const tool = `{"name":"find","input_schema":{"type":"object","properties":{"id":{"maximum":${input.slice(6, 25)}}}}}`;
const thinking = '{"type":"thinking","thinking":"Hm.","signature":"c2lnbmVk"}';
const history = `[{"role":"user","content":"hi"},{"role":"assistant","content":[${thinking},{"type":"tool_use","id":"call_1","name":"find","input":${input}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"1.0"}]}]`;
const request = (streamed: boolean) =>
  `{"model":"anth/m-1","max_tokens":100,"stream":${streamed},"tools":[${tool}],"messages":${history}}`;
const answer = `{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[{"type":"tool_use","id":"call_2","name":"find","input":${input}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":7}}`;
const sent = async (index: number) => (await (await at.upstream.request(index)).whole).toString();

describe('numbers in a rewritten body', () => {
  before(() =>
    at.gateway.connect({ provider: 'responses-compatible', name: 'open', baseUrl: at.upstream.url }),
  );

  it('keep their digits in a whole answer that becomes a stream', async () => {
    at.upstream.script([json(200, answer)]);
    const reply = await at.gateway.ask(messages.path, request(true));
    assert.ok(reply.text.includes(JSON.stringify(input)), reply.text);
  });

  it('keep their digits in a stream that becomes a whole answer', async () => {
    const { text } = messagesStream({ text: [], tools: [{ id: 'call_2', name: 'find', arguments: input }] });
    at.upstream.script([stream(text)]);
    const reply = await at.gateway.ask(messages.path, request(false));
    assert.ok(reply.text.includes(`"input":${input}`), reply.text);
  });

  it('keep their digits in a request that is retried without encrypted reasoning', async () => {
    const error = {
      type: 'invalid_request_error',
      message: 'messages.1.content.0: Invalid `signature` in `thinking` block',
    };
    at.upstream.script([json(400, { type: 'error', error })], [json(200, answer)]);
    const reply = await at.gateway.ask(messages.path, request(false));
    assert.equal(reply.status, 200, reply.text);
    const again = await sent(1);
    assert.ok(!again.includes('signature'), again);
    assert.ok(again.includes(`"input":${input}`) && again.includes(tool), again);
  });

  it('keep their digits in a stored conversation, and in the request that continues it', async () => {
    const parameters = tool.slice(tool.indexOf('{"type"'), -1);
    const tools = `[{"type":"function","name":"find","parameters":${parameters}}]`;
    const call = `{"type":"function_call","call_id":"call_1","name":"find","arguments":${JSON.stringify(input)},"extra":${input}}`;
    const output = `{"type":"function_call_output","call_id":"call_1","output":"1.0","extra":${input}}`;
    const first: { output?: unknown[] } = responsesAnswer({ text: ['Two.'] });
    const answered = JSON.stringify({ ...first, output: ['ITEM', ...(first.output ?? [])] });
    at.upstream.script(
      [json(200, answered.replace('"ITEM"', call))],
      [json(200, responsesAnswer({ text: ['Four.'] }))],
    );
    const ask = (more: string) =>
      at.gateway.ask('/v1/responses', `{"model":"open/m-1","tools":${tools},"input":[${output}]${more}}`);
    const one = JSON.parse((await ask('')).text);
    const two = await ask(`,"previous_response_id":"${one.id}"`);
    assert.equal(two.status, 200, two.text);
    const continued = await sent(1);
    assert.equal(continued.split(`"extra":${input}`).length - 1, 3, continued);
    assert.ok(continued.includes(parameters), continued);
  });
});
