import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/machine/properties.ts';
import { adapt } from '../adapt/adapt.ts';
import { restoreTools } from '../adapt/restore.ts';
import { nameTools } from '../adapt/tool-names.ts';
import { anthropicMessages } from '../anthropic-messages/codec.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../json/values.ts';
import { emptyConversation, type FunctionTool } from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { PartReader, StreamPart } from '../model/stream-part.ts';
import { openaiChat } from '../openai-chat/codec.ts';
import { fitOutput, fitTools } from './conversation.ts';
import { fitSchema } from './fit.ts';
import { restoreArguments } from './restore.ts';
import { schemaRules } from './targets.ts';

const tool = (schema: JsonObject | null, strict: boolean | null = null, name = 'work'): FunctionTool => ({
  kind: 'function',
  name,
  description: null,
  schema,
  strict,
});
const openai = { format: 'openai-chat', name: 'openai' } as const;
const geminiChat = { format: 'openai-chat', name: 'gemini-chat' } as const;

describe('the tools of a conversation', () => {
  const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };

  it('report lost constraints as tools.NAME.keyword', () => {
    const dropped: string[] = [];
    const schema = { type: 'object', properties: { a: { type: 'array', uniqueItems: true } }, not: {} };
    const { tools } = fitTools([tool(schema)], geminiChat, dropped);
    assert.deepEqual(dropped, ['tools.work.not', 'tools.work.uniqueItems']);
    assert.deepEqual(
      tools.map((one) => 'schema' in one && one.schema),
      [
        {
          type: 'object',
          properties: { a: { type: 'array', items: { type: 'string' }, description: '{uniqueItems: true}' } },
          description: '{not: {}}',
        },
      ],
    );
  });

  it('keep strict if their schema can be enforced, else get an explicit false; false and null stay', () => {
    const strict = (requested: FunctionTool, target: Parameters<typeof fitTools>[1]) => {
      const dropped: string[] = [];
      const [one] = fitTools([requested], target, dropped).tools;
      return [one !== undefined && 'strict' in one ? one.strict : undefined, ...dropped];
    };
    assert.deepEqual(strict(tool(closed, true), openai), [true]);
    assert.deepEqual(strict(tool({ type: 'object' }, true), openai), [false, 'tools.work.strict']);
    assert.deepEqual(strict(tool(null, true), openai), [false, 'tools.work.strict']);
    assert.deepEqual(strict(tool({ type: 'object' }, false), openai), [false]);
    assert.deepEqual(strict(tool({ type: 'object' }), openai), [null]);
    assert.deepEqual(strict(tool({ type: 'object' }, true), { ...openai, name: 'full' }), [true]);
  });

  it('are unchanged for a target that accepts any schema', () => {
    const tools = [tool({ anyOf: [{ $ref: '#/x' }], pattern: 1 }), tool(null, true)];
    assert.deepEqual(fitTools(tools, { ...openai, name: 'full' }, []), { tools, plans: new Map() });
  });
});

describe('the schema of an answer', () => {
  const shape = (schema: JsonObject, strict: boolean | null = null) =>
    ({ kind: 'schema', name: 'a', description: null, schema, strict }) as const;

  it('keeps its root and its numbers, because an answer is not converted back', () => {
    const schema = { type: 'array', items: { type: 'integer', enum: [1, 2] } };
    assert.deepEqual(fitOutput(shape(schema), geminiChat, 'response_format', []), shape(schema));
  });

  it('reports lost constraints under the client’s field', () => {
    const dropped: string[] = [];
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: 'a' } } };
    fitOutput(shape(schema), { format: 'gemini', name: 'full' }, 'response_format', dropped);
    assert.deepEqual(dropped, ['response_format.pattern']);
  });

  it('is sent without strict if the target would refuse it', () => {
    const dropped: string[] = [];
    const output = fitOutput(shape({ type: 'object', properties: {} }, true), openai, 'text.format', dropped);
    assert.deepEqual(
      [output, dropped],
      [shape({ type: 'object', properties: {} }, false), ['text.format.strict']],
    );
  });
});

describe('the arguments of a call', () => {
  const schema = {
    type: 'object',
    properties: {
      level: { type: 'integer', enum: [1, 2, 30] },
      list: { type: 'array', items: { enum: [1.5, 'x', true] } },
      deep: { type: 'object', properties: { one: { const: 7 } } },
      either: {
        anyOf: [
          { type: 'integer', enum: [4] },
          { type: 'object', properties: { v: { const: 5 } } },
        ],
      },
      text: { type: 'string' },
    },
  };
  const { plan } = fitSchema(schema, schemaRules['gemini-openapi'], 'tools.t');
  assert.ok(plan !== null);
  const restored = (text: string) => restoreArguments(text, plan);

  it('get values back that were sent as texts', () => {
    assert.equal(
      restored('{"level":"30","list":["1.5","x","true"],"deep":{"one":"7"},"either":"4","text":"1"}'),
      '{"level":30,"list":[1.5,"x",true],"deep":{"one":7},"either":4,"text":"1"}',
    );
    assert.equal(restored('{"either":{"v":"5","w":"5"}}'), '{"either":{"v":5,"w":"5"}}');
  });

  it('stay byte for byte if there is nothing to convert, or if they are invalid', () => {
    for (const text of [
      '{ "level": 1 }',
      '{"level":"9"}',
      '{"list":"1.5"}',
      '{',
      '[]',
      '"1"',
      '',
      '{"deep":null}',
    ])
      assert.equal(restored(text), text);
  });

  it('match the client’s schema after conversion if they match the fitted one', () => {
    const value = fc.constantFrom<unknown>('a', '1', 1, 2, 2.5, -3, true, false, null);
    const values = fc.uniqueArray(value, { minLength: 1, selector: (one) => JSON.stringify(one) });
    const holds = (schemaOf: unknown, one: unknown): boolean => {
      const { anyOf, enum: list, nullable } = objectOf(schemaOf);
      if (one === null && nullable === true) return true;
      if (Array.isArray(anyOf)) return anyOf.some((branch) => holds(branch, one));
      return listOf(list).some((value) => value === one);
    };
    const listed = (schemaOf: unknown): unknown[] => {
      const { anyOf, enum: list, nullable } = objectOf(schemaOf);
      const own = Array.isArray(anyOf) ? anyOf.flatMap(listed) : listOf(list);
      return nullable === true ? [...own, null] : own;
    };
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 3 }), (kinds) => {
        const properties = Object.fromEntries(kinds.map((list, index) => [`p${index}`, { enum: list }]));
        const fitted = fitSchema({ type: 'object', properties }, schemaRules['gemini-openapi'], 'tools.t');
        for (const [name, inner] of Object.entries(objectOf(fitted.schema['properties']))) {
          for (const one of listed(inner)) {
            const text = JSON.stringify({ [name]: one });
            const back: unknown = JSON.parse(
              fitted.plan === null ? text : restoreArguments(text, fitted.plan),
            );
            assert.ok(
              isObject(back) && holds(properties[name], back[name]),
              `${text} in ${JSON.stringify(properties)}`,
            );
          }
        }
      }),
    );
  });

  it('are converted in streams when the call is complete', () => {
    const { plans, tools } = fitTools([tool(schema), tool(schema, null, 'other')], geminiChat, []);
    const names = nameTools(tools, { name: /^\w+$/, maxName: 64 }, false, plans);
    const start = { type: 'tool-call-start', block: 1, id: 'c', name: 'work', kind: 'function' } as const;
    const parts: StreamPart[] = [
      start,
      { type: 'tool-call-delta', block: 1, text: '{"level"' },
      { type: 'tool-call-delta', block: 1, text: ':"2"}' },
      { type: 'tool-call-end', block: 1, complete: true },
    ];
    const reader: PartReader = { push: () => parts, end: () => [] };
    assert.deepEqual(restoreTools(reader, names).push({ event: '', data: '' }), [
      start,
      { type: 'tool-call-delta', block: 1, text: '{"level":2}' },
      parts[3],
    ]);
  });
});

describe('a request that is translated to another format', () => {
  const [messages, chat] = [anthropicMessages, openaiChat].map(({ conversation, ...codec }) => {
    assert.ok(conversation !== null);
    return { ...codec, conversation };
  });
  assert.ok(messages && chat);
  const adapted = (schema: JsonObject, strict: boolean | null) =>
    adapt(
      {
        ...emptyConversation('m'),
        tools: [{ ...tool(schema, strict, 'do.it'), namespace: 'n' }],
        output: { kind: 'schema', name: null, description: null, schema, strict: null },
      },
      {
        from: messages,
        to: chat,
        dialect: { ...plainDialect, schema: 'gemini-chat' },
        owner: null,
        model: 'm',
      },
    );

  it('has schemas that the target accepts, reports lost constraints, and can convert arguments back', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'integer', enum: [1] } },
      not: { required: ['a'] },
    };
    const { conversation, dropped, tools } = adapted(schema, null);
    assert.deepEqual(dropped, ['output_config.format.not', 'tools.do.it.not']);
    const [tool] = chat.conversation.encodeRequest(conversation, plainDialect)['tools'] as JsonObject[];
    const { name, parameters } = objectOf(tool?.['function']);
    assert.deepEqual(parameters, {
      type: 'object',
      properties: { a: { type: 'string', enum: ['1'] } },
      description: '{not: {"required":["a"]}}',
    });
    const plan = tools.plan(String(name));
    assert.ok(plan !== null && tools.plan('other') === null);
    assert.equal(restoreArguments('{"a":"1"}', plan), '{"a":1}');
  });
});
