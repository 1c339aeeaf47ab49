import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { openaiCompatible } from '../../providers/openai-compatible.ts';
import { carryLongTexts, hasMark } from './long-texts.ts';
import { translateRequest } from './request.ts';

/** Texts around the length from which they are carried, of all that is written in more than one way in JSON. */
const piece = fc.oneof(
  fc.constantFrom(
    'a',
    '"',
    '\\',
    '\n',
    '\\u0001',
    '\u0001',
    '"text":"',
    '\\"text\\":\\"',
    '\ud800',
    'é',
    '東',
    '😀',
    '/',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const text = fc
  .tuple(fc.array(piece, { minLength: 1, maxLength: 8 }), fc.nat(120))
  .map(([pieces, times]) => pieces.join('').repeat(1 + times));

/** JSON of a value in which some texts are spelled with more escapes than they need. */
function spelled(value: unknown, odd: boolean): string {
  const json = JSON.stringify(value);
  return odd ? json.replaceAll('a', '\\u0061').replaceAll('/', '\\/') : json;
}

describe('long texts that are carried around a translation', () => {
  const inner = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), tie('list'), tie('object'), tie('object')),
    list: fc.array(tie('value'), { maxLength: 3 }),
    object: fc.dictionary(fc.constantFrom('text', 'content', 'a"text', 'other', '__proto__'), tie('value'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  })).object;

  it('are put back unchanged, wherever they are, and in JSON within JSON', () => {
    fc.assert(
      fc.property(inner, fc.boolean(), fc.nat(3), (value, odd, depth) => {
        const body = spelled(value, odd);
        const carried = carryLongTexts(body);
        if (carried === null) return;
        assert.ok(carried.body.length < body.length);
        let [lean, full] = [JSON.parse(carried.body), JSON.parse(body)];
        assert.ok(hasMark(lean) && !hasMark(full));
        for (let level = 0; level < depth; level += 1) {
          lean = { text: `\\${JSON.stringify(lean)}`, '\\': '\\' };
          full = { text: `\\${JSON.stringify(full)}`, '\\': '\\' };
        }
        const whole = carried.putBack(JSON.stringify(lean)) ?? '';
        assert.deepEqual(JSON.parse(whole), full);
        if (!odd) assert.equal(whole, JSON.stringify(full));
      }),
      { numRuns: 1_000 },
    );
  });

  const long = 'x'.repeat(300);
  it('are not taken out if none is long, or if one does not end', () => {
    for (const body of [
      '{}',
      '{"text":"short"}',
      `{"name":"${long}"}`,
      `{"text":"${long}`,
      `{"text":"${long}\\"`,
    ])
      assert.equal(carryLongTexts(body), null, body.slice(0, 20));
  });

  it('are not put back if a mark was cut, or if a text is invalid inside JSON within JSON', () => {
    const carried = carryLongTexts(`{"text":"${long}\\x"}`);
    assert.ok(carried !== null);
    assert.equal(carried.putBack(carried.body.replace('\\u0001', '')), null);
    assert.equal(carried.putBack(carried.body.replace('0."', '7."')), null);
    assert.equal(carried.putBack(JSON.stringify(carried.body)), null);
    assert.equal(carried.putBack(carried.body), `{"text":"${long}\\x"}`);
  });
});

describe('a messages request to a chat target', () => {
  const target: Target = {
    connection: { id: 'c', name: 'c' } as Target['connection'],
    provider: openaiCompatible,
    model: 'm',
    format: 'openai-chat',
  };
  const block = fc.oneof(
    text.map((words) => ({ type: 'text', text: words })),
    text.map((words) => ({
      type: 'tool_use',
      id: 'call_1',
      name: 'write',
      input: { path: 'a', content: words },
    })),
    text.map((words) => ({
      type: 'tool_result',
      tool_use_id: 'call_1',
      content: words,
      is_error: words.length % 2 === 0,
    })),
    text.map((words) => ({
      type: 'tool_result',
      tool_use_id: 'call_1',
      content: [{ type: 'text', text: words }],
    })),
    text.map((words) => ({ type: 'document', source: { type: 'text', data: words }, context: words })),
    text.map((words) => ({ type: 'document', source: { type: 'content', content: words } })),
    text.map((words) => ({
      type: 'web_search_tool_result',
      tool_use_id: 's',
      content: [{ type: 'x', text: words }],
    })),
    text.map((words) => ({ type: 'thinking', thinking: words, signature: words, text: words })),
    text.map((words) => ({ type: 'compaction', content: words })),
  );
  const message = fc.record({
    role: fc.constantFrom('user', 'assistant', 'user', 'assistant', 'system'),
    content: fc.oneof(text, fc.array(block, { maxLength: 4 })),
  });
  const tool = text.map((words) => ({
    name: 'write',
    description: words,
    input_schema: {
      type: 'object',
      properties: { content: { type: 'string' } },
      examples: [{ content: words }],
    },
  }));
  const request = fc.record(
    {
      model: fc.constant('c/m'),
      messages: fc.array(message, { minLength: 1, maxLength: 5 }),
      system: fc.oneof(
        text,
        fc.array(
          text.map((words) => ({ type: 'text', text: words })),
          { maxLength: 3 },
        ),
      ),
      tools: fc.array(tool, { maxLength: 1 }),
      metadata: fc.constant({ user_id: 'u', content: 'y'.repeat(300) }),
    },
    { requiredKeys: ['model', 'messages'] },
  );

  it('is translated alike whether its long texts are carried or read', () => {
    const sent = (body: string) => {
      const { body: bytes, dropped } = translateRequest(
        { body: [Buffer.from(body)], named: null, target },
        'anthropic-messages',
      );
      return { text: Buffer.concat(bytes).toString(), dropped };
    };
    fc.assert(
      fc.property(request, (body) => {
        // In JSON with white space no text is carried.
        assert.equal(carryLongTexts(JSON.stringify(body, null, 1)), null);
        assert.deepEqual(sent(JSON.stringify(body)), sent(JSON.stringify(body, null, 1)));
      }),
      { numRuns: 500 },
    );
  });

  it('gets cache marks by its full length, although its texts would be carried', () => {
    const chatRequest = {
      messages: [
        { role: 'user', content: 'x'.repeat(9_000) },
        { role: 'assistant', content: 'y' },
        { role: 'user', content: 'z' },
      ],
    };
    const marking = { ...openaiCompatible, dialect: { cacheFields: true } };
    const { body } = translateRequest(
      {
        body: [Buffer.from(JSON.stringify(chatRequest))],
        named: null,
        target: { ...target, model: 'anthropic/claude-sonnet-5', provider: marking },
      },
      'anthropic-messages',
    );
    assert.match(Buffer.concat(body).toString(), /"cache_control":\{"type":"ephemeral"\}/);
  });
});
