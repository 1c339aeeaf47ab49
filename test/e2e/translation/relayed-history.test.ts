import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { embedEncryptedReasoning, embedWithThought } from '../../../src/codecs/encrypted-reasoning/embed.ts';
import type { EncryptedReasoning } from '../../../src/codecs/model/conversation.ts';
import { chat, messages, responses } from '../../support/formats/formats.ts';
import { type RunningGateway, startGateway } from '../../support/gateway/gateway.ts';
import { json } from '../../support/upstream/steps.ts';
import { startUpstream, type Upstream } from '../../support/upstream/upstream.ts';

let upstream: Upstream;
let gateway: RunningGateway;

const providers = {
  strict: 'mistral',
  renaming: 'groq',
  thinking: 'deepseek',
  details: 'openrouter',
  open: 'openai-compatible',
  resp: 'openai',
  anth: 'anthropic-compatible',
  signing: 'anthropic',
  google: 'gemini',
} as const;

before(async () => {
  upstream = await startUpstream();
  const baseUrl = upstream.url;
  const connections = Object.entries(providers).map(([name, provider]) => ({ name, provider, baseUrl }));
  gateway = await startGateway({ connections, oneWorker: true });
});

after(async () => {
  await gateway.stop();
  await upstream.close();
});

const sent = () => upstream.requests.map(({ body }) => body.toString());
const sentBody = () => JSON.parse(sent().at(-1) ?? '');

/** An exact text: no parser may touch it. */
const ARGUMENTS = String.raw`{\"guild\": 1234567890123456789, \"x\": 1e400}`;
const call = `{"id": "call_1", "type": "function", "function": {"name": "list", "arguments": "${ARGUMENTS}"}}`;
const history = (model: string, own: string) =>
  `{"model": "${model}", "messages": [{"role": "user", "content": "List the files."}, {"role": "assistant", ${own} "content": null, "tool_calls": [${call}]}, {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}], "n_unknown": 12345678901234567890}`;

async function relayed(model: string, own: string) {
  upstream.script([json(200, chat.answer())]);
  const reply = await gateway.ask(chat.path, history(model, own));
  assert.equal(reply.status, 200, reply.text);
  return { reply, body: sent()[0] ?? '', message: sentBody().messages[1] };
}

describe('reasoning of earlier turns in a chat request that is passed on', () => {
  it('is omitted and reported if the server refuses it, and nothing else changes', async () => {
    const { body, message, reply } = await relayed('strict/m-1', '"reasoning_content": "Hm.",');
    assert.deepEqual(Object.keys(message), ['role', 'content', 'tool_calls']);
    assert.equal(reply.header('x-gateway-dropped'), 'messages.reasoning_content');
    assert.equal(reply.header('x-gateway-attempts'), '1');
    for (const exact of [call, '"n_unknown": 12345678901234567890']) assert.ok(body.includes(exact), body);
  });

  it('gets the field name that the server expects', async () => {
    const groq = await relayed('renaming/m-1', '"reasoning_content": "Hm.",');
    assert.equal(groq.message.reasoning, 'Hm.');
    assert.equal('reasoning_content' in groq.message, false);
    assert.equal(groq.reply.header('x-gateway-dropped'), undefined);
    assert.equal((await relayed('thinking/m-1', '"reasoning": "Hm.",')).message.reasoning_content, 'Hm.');
  });

  it('stays unchanged if the server accepts it, or if that is unknown', async () => {
    for (const model of ['thinking/m-1', 'open/m-1', 'details/m-1']) {
      const own = '"reasoning_content" : "Hm.",';
      assert.equal((await relayed(model, own)).body, history('m-1', own));
    }
    const plain = await relayed('strict/m-1', '');
    assert.equal(plain.body, history('m-1', ''));
    const inText = '"name": "the \\"reasoning_content\\" of it",';
    assert.equal((await relayed('strict/m-1', inText)).body, history('m-1', inText));
  });

  it('is removed when it is refused, in advance the next time', async () => {
    const said = "messages.1.assistant.reasoning_content: property 'reasoning_content' is unsupported";
    upstream.script(
      [json(400, chat.error(said, 'invalid_request_error'))],
      [json(200, chat.answer())],
      [json(200, chat.answer())],
    );
    const own = '"reasoning_content": "Hm.",';
    for (const attempts of ['2', '1']) {
      const reply = await gateway.ask(chat.path, history('open/refusing', own));
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.header('x-gateway-attempts'), attempts);
      assert.equal(reply.header('x-gateway-dropped'), 'messages.reasoning_content');
    }
    assert.equal('reasoning_content' in sentBody().messages[1], false);
  });

  it('is sent empty if the server requires it before each call', async () => {
    const said = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
    upstream.script([json(400, chat.error(said, 'invalid_request_error'))], [json(200, chat.answer())]);
    const reply = await gateway.ask(chat.path, history('thinking/m-1', ''));
    assert.equal(reply.status, 200, reply.text);
    assert.equal(sentBody().messages[1].reasoning_content, '');
    assert.ok(sent()[1]?.includes(call));
  });

  it('is sent without Google’s call signatures to strict servers', async () => {
    upstream.script([json(200, chat.answer())]);
    const signed = call.replace(
      '"type"',
      '"extra_content": {"google": {"thought_signature": "c2ln"}}, "type"',
    );
    const reply = await gateway.ask(chat.path, history('strict/m-1', '').replace(call, signed));
    assert.equal(reply.header('x-gateway-dropped'), 'messages.extra_content');
    assert.equal(sent()[0], history('m-1', ''));
  });
});

describe('reasoning that another format encrypted, in a request of the upstream’s own format', () => {
  const encrypted: EncryptedReasoning = {
    format: 'openai-responses',
    kind: 'encrypted',
    value: 'gAAAA',
    id: 'rs_1',
  };

  it('is removed from Anthropic’s before it is sent', async () => {
    const use = { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} };
    for (const [name, signature] of [
      ['anth', embedEncryptedReasoning(encrypted)],
      ['signing', embedEncryptedReasoning(encrypted)],
      ['signing', ''],
    ]) {
      const content = [{ type: 'thinking', thinking: 'Hm.', signature }, use];
      upstream.script([json(200, messages.answer())]);
      const request = messages.request({
        model: `${name}/m-1`,
        thinking: { type: 'enabled', budget_tokens: 2_000 },
        messages: [
          { role: 'user', content: 'List the files.' },
          { role: 'assistant', content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }] },
        ],
      });
      const reply = await gateway.ask(messages.path, request);
      assert.equal(reply.header('x-gateway-attempts'), '1');
      assert.equal(reply.header('x-gateway-dropped'), 'reasoning');
      assert.deepEqual(sentBody().messages[1].content, [use]);
      assert.deepEqual(sentBody().thinking, { type: 'disabled' });
    }
  });

  it('stays if it is unsigned, for servers that sign nothing and need their reasoning back', async () => {
    const thought = '{"type": "thinking", "thinking": "Hm.", "signature": ""}';
    const use = '{"type": "tool_use", "id": "toolu_1", "name": "list", "input": {}}';
    const result = '{"type": "tool_result", "tool_use_id": "toolu_1", "content": "a.txt"}';
    const request = (model: string) =>
      `{"model": "${model}", "max_tokens": 9000, "thinking": {"type": "enabled", "budget_tokens": 2000}, "messages": [{"role": "user", "content": "List the files."}, {"role": "assistant", "content": [${thought}, ${use}]}, {"role": "user", "content": [${result}]}]}`;
    for (const name of ['anth', 'thinking']) {
      upstream.script([json(200, messages.answer())]);
      const reply = await gateway.ask(messages.path, request(`${name}/m-1`));
      assert.equal(reply.status, 200, reply.text);
      assert.equal(reply.header('x-gateway-dropped'), undefined);
      assert.equal(sent()[0], request('m-1'));
    }
  });

  it('keeps thinking enabled if the model can think without its earlier thoughts', async () => {
    const block = { type: 'thinking', thinking: 'Hm.', signature: embedEncryptedReasoning(encrypted) };
    const use = { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} };
    upstream.script([json(200, messages.answer())]);
    const request = messages.request({
      model: 'anth/claude-sonnet-4-6',
      thinking: { type: 'enabled', budget_tokens: 2_000, display: 'omitted' },
      messages: [
        { role: 'user', content: 'List the files.' },
        { role: 'assistant', content: [block, use] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt' }] },
      ],
    });
    assert.equal((await gateway.ask(messages.path, request)).status, 200);
    assert.deepEqual(sentBody().thinking, { type: 'adaptive', display: 'omitted' });
  });

  it('is removed from OpenAI’s, Google’s and chat’s before it is sent', async () => {
    const anthropic: EncryptedReasoning = { format: 'anthropic-messages', kind: 'signature', value: 'c2ln' };
    upstream.script([json(200, responses.answer())]);
    const own = { type: 'reasoning', id: 'rs_68', summary: [], encrypted_content: 'gAAAA' };
    const carried = { type: 'reasoning', summary: [], encrypted_content: embedEncryptedReasoning(anthropic) };
    const input = [{ role: 'user', content: 'hi' }, own, carried];
    assert.equal((await gateway.ask(responses.path, responses.request({ input }))).status, 200);
    assert.deepEqual(sentBody().input, [{ role: 'user', content: 'hi' }, own]);

    const details = [
      { type: 'reasoning.text', text: '', signature: embedWithThought(anthropic, 'Hm.'), index: 0 },
      { type: 'reasoning.text', text: 'Aha.', signature: 'own', index: 1 },
      { type: 'reasoning.text', text: 'So.', index: 2 },
    ];
    const { message } = await relayed('details/m-1', `"reasoning_details": ${JSON.stringify(details)},`);
    assert.deepEqual(message.reasoning_details, details.slice(1));

    const thoughtSignature = embedWithThought(anthropic, 'Hm.');
    upstream.script([
      json(200, {
        candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
      }),
    ]);
    const parts = [
      { text: 'Yes', thoughtSignature },
      { functionCall: { name: 'list', args: {} }, thoughtSignature },
      { functionCall: { name: 'list', args: {} }, thoughtSignature: 'b3du' },
      { text: '', thoughtSignature },
    ];
    const contents = [
      { role: 'user', parts: [{ text: 'hi' }] },
      { role: 'model', parts },
    ];
    const reply = await gateway.ask('/v1beta/models/google%2Fm-1:generateContent', { contents });
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(sentBody().contents[1].parts, [
      { text: 'Yes' },
      { functionCall: { name: 'list', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
      { functionCall: { name: 'list', args: {} }, thoughtSignature: 'b3du' },
    ]);
  });
});
