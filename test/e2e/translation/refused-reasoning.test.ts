import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { embedEncryptedReasoning } from '../../../src/codecs/encrypted-reasoning/embed.ts';
import { messages, responses } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json, stream } from '../../support/upstream/steps.ts';

const at = setting();
const refused = (message: string) =>
  json(400, { type: 'error', error: { type: 'invalid_request_error', message } });
const badSignature = 'messages.1.content.0: Invalid `signature` in `thinking` block';
const sentBodies = () => at.upstream.requests.map(({ body }) => JSON.parse(body.toString()));

const thought = messages.request({
  thinking: { type: 'enabled', budget_tokens: 2_000 },
  messages: [
    { role: 'user', content: 'List the files.' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'of-another-account' },
        { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }] },
  ],
});

describe('encrypted reasoning that its vendor refuses', () => {
  it('is omitted once at the same target, and the answer says so', async () => {
    at.upstream.script([refused(badSignature)], [json(200, messages.answer())]);
    const reply = await at.gateway.ask(messages.path, thought);
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-dropped'), 'reasoning');
    assert.equal(reply.header('x-gateway-attempts'), '2');
    const [first, second] = sentBodies();
    assert.deepEqual(first, { ...thought, model: 'm-1' });
    assert.equal(second.model, 'm-1');
    assert.deepEqual(second.thinking, { type: 'disabled' });
    assert.deepEqual(second.messages[1].content, [
      { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} },
    ]);
  });

  it('is omitted from a streamed request too', async () => {
    at.upstream.script([refused(badSignature)], [stream(messages.stream().text)]);
    const reply = await at.gateway.ask(messages.path, { ...thought, stream: true });
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /message_stop/);
  });

  it('is not removed after another error, twice, or when there is none', async () => {
    at.upstream.script([refused('max_tokens: too large')]);
    assert.equal((await at.gateway.ask(messages.path, thought)).status, 400);
    at.upstream.script([refused(badSignature)], [refused(badSignature)]);
    const twice = await at.gateway.ask(messages.path, thought);
    assert.equal(twice.status, 400);
    assert.match(twice.text, /Invalid `signature`/);
    at.upstream.script([refused(badSignature)]);
    assert.equal((await at.gateway.ask(messages.path, messages.request())).status, 400);
    assert.equal(at.upstream.requests.length, 1);
  });

  it('of the responses format is removed with the ids of the items after it', async () => {
    const error = {
      message: 'The encrypted content could not be verified.',
      code: 'invalid_encrypted_content',
    };
    at.upstream.script([json(400, { error })], [json(200, responses.answer())]);
    const input = [
      { role: 'user', content: 'hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' },
      { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'list', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
    ];
    const reply = await at.gateway.ask(responses.path, responses.request({ input, store: false }));
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(sentBodies()[1].input, [
      { role: 'user', content: 'hi' },
      { type: 'function_call', call_id: 'call_1', name: 'list', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' },
    ]);
  });

  it('that was embedded in another format is omitted from the translated request', async () => {
    at.upstream.script([refused(badSignature)], [json(200, messages.answer())]);
    const encrypted = embedEncryptedReasoning({
      format: 'anthropic-messages',
      kind: 'signature',
      value: 'c2ln',
    });
    const input = [
      { role: 'user', content: 'hi' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [{ type: 'summary_text', text: 'Hm.' }],
        encrypted_content: encrypted,
      },
      { role: 'assistant', content: 'Yes?' },
      { role: 'user', content: 'Go on' },
    ];
    const reply = await at.gateway.ask(responses.path, { model: 'anth/m-1', input, store: false });
    assert.equal(reply.status, 200, reply.text);
    const [first, second] = sentBodies();
    assert.equal(first.messages[1].content[0].signature, 'c2ln');
    assert.deepEqual(second.messages[1].content, [{ type: 'text', text: 'Yes?' }]);
  });
});
