import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { chat, messages } from '../../support/formats/formats.ts';
import { setting } from '../../support/gateway/setting.ts';
import { json } from '../../support/upstream/steps.ts';

const at = setting({ oneWorker: true });
const answered = json(200, chat.answer());
const refused = (message: string, status = 400) =>
  json(status, { error: { message, type: 'invalid_request_error' } });
const sentBodies = () => at.upstream.requests.map(({ body }) => JSON.parse(body.toString()));
const mark = { cache_control: { type: 'ephemeral' } };
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more });

/** What an agent of Anthropic's format sends, with its marks and the name of its session. */
const marked = (model: string) =>
  messages.request({
    model,
    system: [text('One.'), text('Two.', { cache_control: { type: 'ephemeral', ttl: '1h' } })],
    messages: [
      { role: 'user', content: 'Read a' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'A', ...mark }] },
      { role: 'assistant', content: [text('It is A.')] },
      { role: 'user', content: [text('Now'), text('go on', mark)] },
    ],
    metadata: { user_id: 'session-1' },
  });
const keyed = (model: string) => ({ model, input: 'hi', store: false, prompt_cache_key: 'thread-1' });

describe('prompt cache fields for chat servers', () => {
  before(async () => {
    await at.gateway.connect({ provider: 'groq', name: 'groq', baseUrl: at.upstream.url });
    await at.gateway.connect({ provider: 'openrouter', name: 'router', baseUrl: at.upstream.url });
  });

  it('are sent: the marks of the client in place, and a key', async () => {
    at.upstream.always(answered);
    const reply = await at.gateway.ask(messages.path, marked('up/open'));
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.header('x-gateway-dropped'), undefined);
    const [sent] = sentBodies();
    assert.equal(sent.prompt_cache_key, 'session-1');
    assert.deepEqual(
      sent.messages.map(({ content }: { content: unknown }) => content),
      [
        [text('One.'), text('Two.', { cache_control: { type: 'ephemeral', ttl: '1h' } })],
        'Read a',
        null,
        'A',
        'It is A.',
        [text('Now'), text('go on', mark)],
      ],
    );
    assert.deepEqual(sent.messages[3], { role: 'tool', tool_call_id: 'a', content: 'A', ...mark });
    await at.gateway.ask('/v1/responses', keyed('up/open'));
    assert.equal(sentBodies()[1].prompt_cache_key, 'thread-1');
  });

  for (const [how, message, status] of [
    ['by its name', 'messages.0.content.1.cache_control: Extra inputs are not permitted', 422],
    ['because it takes no lists', "Invalid type for 'messages[0].content': expected a string", 400],
    [
      'because it takes no lists, in other words',
      'body.messages.0.content: Input should be a valid string',
      422,
    ],
  ] as const)
    it(`are omitted and reported if a server refuses a mark ${how}, and omitted in advance the next time`, async () => {
      const model = `up/${how.replace(/\W/g, '-')}`;
      at.upstream.script([refused(message, status)], [answered], [answered]);
      const replies = [
        await at.gateway.ask(messages.path, marked(model)),
        await at.gateway.ask(messages.path, marked(model)),
      ];
      for (const [index, reply] of replies.entries()) {
        assert.equal(reply.status, 200, reply.text);
        assert.equal(reply.header('x-gateway-dropped'), 'cache_control');
        assert.equal(reply.header('x-gateway-attempts'), index === 0 ? '2' : '1');
      }
      for (const sent of sentBodies().slice(1)) {
        assert.equal(JSON.stringify(sent).includes('cache_control'), false);
        assert.equal(sent.messages[0].content, 'One.\n\nTwo.');
        assert.equal(sent.prompt_cache_key, 'session-1');
      }
    });

  it('are omitted, and reported if the client set them, when a server refuses the key', async () => {
    const message = "property 'prompt_cache_key' is unsupported";
    at.upstream.script([refused(message)], [answered], [answered]);
    const first = await at.gateway.ask('/v1/responses', keyed('up/strict'));
    assert.equal(first.status, 200, first.text);
    assert.equal(first.header('x-gateway-dropped'), 'prompt_cache_key');
    const second = await at.gateway.ask(messages.path, marked('up/strict'));
    assert.equal(second.header('x-gateway-attempts'), '1');
    assert.equal(second.header('x-gateway-dropped'), undefined);
    assert.deepEqual(
      sentBodies().map((sent) => sent.prompt_cache_key),
      ['thread-1', undefined, undefined],
    );
  });

  it('are reported if a mark is on something that cannot carry one', async () => {
    at.upstream.always(answered);
    const tools = [{ name: 'read', input_schema: { type: 'object' }, ...mark }];
    const reply = await at.gateway.ask(messages.path, { ...marked('router/any'), tools });
    assert.equal(reply.header('x-gateway-dropped'), undefined);
    const chatReply = await at.gateway.ask(messages.path, { ...marked('up/any'), tools });
    assert.equal(chatReply.header('x-gateway-dropped'), 'cache_control');
  });

  it('are set for Anthropic’s models if the client cannot set them, unless a server refuses them', async () => {
    const gemini = (model: string) =>
      at.gateway.ask(`/v1beta/models/${model}:generateContent`, {
        systemInstruction: { parts: [{ text: 'A long instruction. '.repeat(500) }] },
        contents: [{ role: 'user', parts: [{ text: 'Read a' }] }],
        tools: [{ functionDeclarations: [{ name: 'read' }] }],
      });
    const marks = () => sentBodies().map((sent) => JSON.stringify(sent).split('"cache_control"').length - 1);
    const claude = 'router/anthropic/claude-sonnet-5';
    const message = 'tools.3.cache_control: Extra inputs are not permitted';
    at.upstream.script([answered], [answered], [refused(message)], [answered], [answered]);
    const replies = [await gemini('router/openai/gpt-5'), await gemini(claude), await gemini(claude)];
    replies.push(await gemini(claude));
    for (const reply of replies)
      assert.deepEqual([reply.status, reply.header('x-gateway-dropped')], [200, undefined], reply.text);
    assert.deepEqual(marks(), [0, 2, 2, 0, 0]);
  });

  it('are reported and not sent if a provider is known to refuse them', async () => {
    at.upstream.always(answered);
    const reply = await at.gateway.ask(messages.path, marked('groq/any'));
    assert.equal(reply.header('x-gateway-dropped'), 'cache_control');
    const [sent] = sentBodies();
    assert.equal(sent.prompt_cache_key, undefined);
    assert.equal(JSON.stringify(sent).includes('cache_control'), false);
  });
});
