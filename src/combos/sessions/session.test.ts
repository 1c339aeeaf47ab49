import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, it } from 'node:test';
import type { WireFormat } from '../../codecs/wire-format.ts';
import { sessionOf } from './session.ts';

const session = (body: unknown, format: WireFormat = 'openai-chat', headers: IncomingHttpHeaders = {}) =>
  sessionOf(headers, format, [Buffer.from(JSON.stringify(body))]);

describe('the session of a request', () => {
  it('is what a header names, whoever sends it', () => {
    for (const name of [
      'x-session-id',
      'x-claude-code-session-id',
      'session-id',
      'session_id',
      'x-session-affinity',
    ])
      assert.deepEqual(session({}, 'openai-chat', { [name]: 'abc' }), { key: 'header:abc', continues: true });
    assert.equal(session({}, 'openai-chat', { 'x-session-id': 'x'.repeat(1000) }), null);
  });

  it('is otherwise the key of its prompt cache, or the user id that Claude Code sends', () => {
    assert.equal(session({ input: 'hi', prompt_cache_key: 'k-1' })?.key, 'cache:k-1');
    const user = { metadata: { user_id: JSON.stringify({ session_id: 'abc' }) } };
    assert.match(session(user, 'anthropic-messages')?.key ?? '', /^user:.*abc/);
    assert.equal(session({ metadata: { user_id: 'somebody' } }, 'anthropic-messages'), null);
    assert.equal(session({ content: '"prompt_cache_key":"x"' }), null, 'a text about it is none');
    const called = { messages: [{ input: { user_id: 'session of a call' } }], ...user };
    assert.match(session(called, 'anthropic-messages')?.key ?? '', /^user:.*abc/, 'nor is a call about it');
    const spaced = [Buffer.from('{"a":"'), Buffer.from('", "prompt_cache_key" :\n "k-2", "user_id": 1}')];
    assert.equal(sessionOf({}, 'openai-chat', spaced)?.key, 'cache:k-2');
  });

  const conversations: [WireFormat, string, unknown[], unknown][] = [
    [
      'openai-chat',
      'messages',
      [
        { role: 'system', content: 'be' },
        { role: 'user', content: 'hi' },
      ],
      { role: 'assistant' },
    ],
    ['anthropic-messages', 'messages', [{ role: 'user', content: 'hi' }], { role: 'assistant', content: [] }],
    ['ollama', 'messages', [{ role: 'user', content: 'hi' }], { role: 'assistant', content: '' }],
    [
      'openai-responses',
      'input',
      [{ role: 'developer' }, { role: 'user' }, { role: 'user', content: 'hi' }],
      { type: 'function_call' },
    ],
    ['gemini', 'contents', [{ role: 'user', parts: [{ text: 'hi' }] }], { role: 'model', parts: [] }],
  ];
  for (const [format, member, first, answer] of conversations) {
    it(`is otherwise recognized by the beginning of a conversation in ${format}`, () => {
      const of = (turns: unknown[]) => session({ model: 'm', [member]: turns, stream: true }, format);
      const begun = of(first);
      assert.equal(begun?.continues, false);
      for (const more of [[answer], [answer, ...first, answer]])
        assert.deepEqual(of([...first, ...more]), { key: begun?.key, continues: true });
      const other = of([{ role: 'user', content: 'another' }, answer]);
      assert.equal(other?.continues, true);
      assert.notEqual(other?.key, begun?.key);
    });
  }

  it('compares long turns by their length and both ends, without reading them whole', () => {
    const long = (text: string) => session({ messages: [{ role: 'user', content: text }] })?.key;
    const text = 'a'.repeat(5_000);
    assert.equal(long(text), long(text));
    assert.notEqual(long(`b${text}`), long(`${text}b`));
    assert.notEqual(long(text), long(`${text}b`));
  });

  it('is not guessed where there are no turns', () => {
    assert.equal(session({ input: ['a', 'b'] }, 'openai-embeddings'), null);
    assert.equal(session({ input: 'a text' }, 'openai-responses'), null);
    assert.equal(session({ messages: [] }), null);
    assert.equal(sessionOf({}, 'openai-chat', []), null);
    assert.equal(
      sessionOf({}, 'openai-chat', [Buffer.from('{"messages":[{"role":"user"')])?.continues,
      false,
    );
  });
});
