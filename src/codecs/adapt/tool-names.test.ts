import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { embedEncryptedReasoning, extractEncryptedReasoning } from '../encrypted-reasoning/embed.ts';
import { emptyConversation, type Tool } from '../model/conversation.ts';
import type { StreamPart } from '../model/stream-part.ts';
import { restoreTools } from './restore.ts';
import { bridgeTools, nameTools, safeId } from './tool-names.ts';

const rule = { name: /^[a-zA-Z0-9_-]+$/, maxName: 64 };
const functionTool = (name: string, namespace?: string): Tool => ({
  kind: 'function',
  name,
  description: null,
  schema: null,
  strict: null,
  ...(namespace === undefined ? {} : { namespace }),
});

describe('names of tools', () => {
  it('are valid and unique, and can be converted back to the client’s own', () => {
    const tools = fc.uniqueArray(
      fc.record(
        {
          name: fc.string({ minLength: 1, maxLength: 90 }),
          namespace: fc.string({ minLength: 1, maxLength: 60 }),
        },
        { requiredKeys: ['name'], noNullPrototype: true },
      ),
      { selector: ({ name, namespace }) => `${namespace}/${name}`, maxLength: 12 },
    );
    fc.assert(
      fc.property(tools, (list) => {
        const names = nameTools(
          list.map(({ name, namespace }) => functionTool(name, namespace)),
          rule,
          false,
        );
        const wires = list.map((tool) => names.wireName(tool));
        assert.equal(new Set(wires).size, list.length);
        for (const [index, wire] of wires.entries()) {
          assert.match(wire, /^[a-zA-Z0-9_-]{1,64}$/);
          assert.deepEqual(names.clientTool(wire), { kind: 'function', ...list[index] });
        }
      }),
    );
  });

  it('are unchanged if they are valid, and include their namespace', () => {
    const names = nameTools([functionTool('read'), functionTool('search', 'docs')], rule, false);
    assert.equal(names.wireName({ name: 'read' }), 'read');
    assert.equal(names.wireName({ name: 'search', namespace: 'docs' }), 'docs__search');
  });
});

describe('ids of calls', () => {
  it('are valid for every format, always the same, and unchanged if they were valid', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 120 }), (id) => {
        assert.match(safeId(id), /^[a-zA-Z0-9_-]{1,64}$/);
        assert.equal(safeId(id), safeId(id));
        assert.equal(safeId(safeId(id)), safeId(id));
      }),
    );
    assert.equal(safeId('toolu_01AbC-x'), 'toolu_01AbC-x');
    assert.notEqual(safeId('functions.read:0'), safeId('functions.read:1'));
  });
});

describe('a custom tool with text input', () => {
  const tools: Tool[] = [
    {
      kind: 'custom',
      name: 'apply_patch',
      description: 'Edits',
      grammar: { syntax: 'lark', definition: 'start: "x"' },
    },
  ];
  const names = nameTools(tools, rule, false);

  it('becomes a function with one text argument and its grammar in the description, as do its calls and results', () => {
    const conversation = bridgeTools(
      {
        ...emptyConversation('m'),
        tools,
        messages: [
          {
            role: 'assistant',
            parts: [{ type: 'tool-call', id: 'c1', name: 'apply_patch', input: '*** "x"', kind: 'custom' }],
          },
          {
            role: 'user',
            parts: [{ type: 'tool-result', callId: 'c1', parts: [], isError: false, kind: 'custom' }],
          },
        ],
      },
      { names, custom: false, namespaces: false },
    );
    const [tool] = conversation.tools;
    assert.ok(tool?.kind === 'function');
    assert.match(tool.description ?? '', /^Edits\n\n.*lark grammar:\nstart: "x"$/s);
    assert.deepEqual(conversation.messages[0]?.parts[0], {
      type: 'tool-call',
      id: 'c1',
      name: 'apply_patch',
      kind: 'function',
      input: '{"input":"*** \\"x\\""}',
    });
    assert.deepEqual(conversation.messages[1]?.parts[0], {
      type: 'tool-result',
      callId: 'c1',
      parts: [],
      isError: false,
      kind: 'function',
    });
  });

  it('is called by its client’s name and with its text, however the arguments were split', () => {
    const parts = (pieces: string[]): StreamPart[] => [
      {
        type: 'tool-call-start',
        block: 0,
        id: 'functions.apply_patch:0',
        name: 'apply_patch',
        kind: 'function',
      },
      ...pieces.map((text): StreamPart => ({ type: 'tool-call-delta', block: 0, text })),
      { type: 'tool-call-end', block: 0, complete: true },
    ];
    const restored = (list: StreamPart[]) => {
      const reader = restoreTools({ push: () => list, end: () => [] }, names);
      return reader.push({ event: '', data: '' });
    };
    for (const pieces of [['{"input":"a\\nb"}'], ['{"inp', 'ut":"a', '\\nb"}'], ['a\nb']]) {
      const [start, delta, end] = restored(parts(pieces));
      assert.deepEqual(start, {
        type: 'tool-call-start',
        block: 0,
        id: safeId('functions.apply_patch:0'),
        name: 'apply_patch',
        kind: 'custom',
      });
      assert.deepEqual(delta, { type: 'tool-call-delta', block: 0, text: 'a\nb' });
      assert.equal(end?.type, 'tool-call-end');
    }
  });
});

describe('encrypted reasoning that is embedded for another format', () => {
  it('is recovered unchanged, and not read from any other text', () => {
    const reasoning = fc.record(
      {
        format: fc.constantFrom('anthropic-messages' as const, 'openai-responses' as const),
        kind: fc.constantFrom('signature' as const, 'encrypted' as const, 'redacted' as const),
        value: fc.string(),
        id: fc.string({ minLength: 1 }),
      },
      { requiredKeys: ['format', 'kind', 'value'], noNullPrototype: true },
    );
    fc.assert(
      fc.property(reasoning, (one) =>
        assert.deepEqual(extractEncryptedReasoning(embedEncryptedReasoning(one)), one),
      ),
    );
    fc.assert(fc.property(fc.string(), (text) => assert.equal(extractEncryptedReasoning(text), null)));
  });
});
