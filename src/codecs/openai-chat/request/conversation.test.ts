import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { conversations } from '../../../../test/support/formats/arbitrary.ts';
import { assertRefusedByPath } from '../../../../test/support/formats/damaged-requests.ts';
import { fc } from '../../../../test/support/machine/properties.ts';
import { GatewayError } from '../../../lib/error.ts';
import { splitFrames } from '../../../lib/streams/sse.ts';
import { ERROR_MARK } from '../../adapt/result-mark.ts';
import { type JsonObject, listOf, objectOf, textOf } from '../../json/values.ts';
import type {
  Conversation,
  FilePart,
  ImagePart,
  Message,
  Part,
  Reasoning,
  TextPart,
  Tool,
  ToolResultPart,
} from '../../model/conversation.ts';
import { emptyConversation } from '../../model/conversation.ts';
import { type Dialect, plainDialect } from '../../model/dialect.ts';
import { effortOfBudget } from '../../model/effort.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { encodeFrames } from '../../stream/frames.ts';
import { assemble } from '../answer/assemble.ts';
import { writer } from '../answer/writer.ts';
import { decodeRequest } from './decode.ts';
import { encodeRequest } from './encode.ts';

/** The vendor itself, which knows all that the format has, with the reasoning of those who take it back. */
const full: Dialect = {
  ...plainDialect,
  vendorFields: true,
  customTools: true,
  reasoningField: 'reasoning_content',
};

const words = (parts: readonly Part[], type: 'text' | 'refusal' | 'reasoning'): string =>
  parts.flatMap((part) => (part.type === type && part.text !== '' ? [part.text] : [])).join('\n\n');
const asText = (text: string): TextPart[] => (text === '' ? [] : [{ type: 'text', text }]);

/** What of a conversation this format can say, in the way that its decoder says it. */
function expressible(whole: Conversation): Conversation {
  const tools = whole.tools.flatMap(sayableTool);
  return {
    ...whole,
    system: asText(words(whole.system, 'text')),
    messages: whole.messages.flatMap(sayableMessage),
    tools,
    toolChoice: tools.length === 0 ? null : whole.toolChoice,
    parallelToolCalls: tools.length === 0 ? null : whole.parallelToolCalls,
    topK: null,
    reasoning: sayableReasoning(whole.reasoning),
    output:
      whole.output.kind === 'schema'
        ? { ...whole.output, name: whole.output.name ?? 'answer' }
        : whole.output,
    store: whole.store || null,
    includeUsage: true,
  };
}

function sayableReasoning(reasoning: Reasoning | null): Reasoning | null {
  if (reasoning === null) return null;
  const unset = { budgetTokens: null, display: null };
  if (reasoning.mode === 'off') return { mode: 'off', effort: null, ...unset };
  const { budgetTokens } = reasoning;
  const effort = reasoning.effort ?? (budgetTokens === null ? null : effortOfBudget(budgetTokens));
  return effort === null ? null : { mode: 'on', effort, ...unset };
}

function sayableTool(tool: Tool): Tool[] {
  if (tool.kind !== 'function' && tool.kind !== 'custom') return [tool];
  const { namespace: _, ...plain } = tool;
  if (plain.kind === 'custom') return [plain];
  const { cache: __, ...uncached } = plain;
  return [{ ...uncached, schema: uncached.schema ?? { type: 'object', properties: {} } }];
}

function sayableMessage({ parts, role }: Message): Message[] {
  if (role === 'system') {
    const text = asText(words(parts, 'text'));
    return text.length === 0 ? [] : [{ role, parts: text }];
  }
  if (role === 'user') {
    const results = parts.filter((part) => part.type === 'tool-result').map(sayableResult);
    const sayableParts = parts.flatMap(sayablePart);
    const plain = sayableParts.every((part) => part.type === 'text');
    const userParts: Part[] = [...results, ...(plain ? asText(words(sayableParts, 'text')) : sayableParts)];
    return userParts.length === 0 ? [] : [{ role, parts: userParts }];
  }
  const [reasoning, text, refusal] = [
    words(parts, 'reasoning'),
    words(parts, 'text'),
    words(parts, 'refusal'),
  ];
  const answerParts: Part[] = [
    ...asText(text),
    ...(refusal === '' ? [] : [{ type: 'refusal' as const, text: refusal }]),
    ...parts.flatMap(sayableCall),
  ];
  if (answerParts.length === 0) return [];
  const thought: Part[] =
    reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning, summary: false, encrypted: null }];
  return [{ role, parts: [...thought, ...answerParts] }];
}

function sayableCall(part: Part): Part[] {
  if (part.type !== 'tool-call') return [];
  const { cache: _, namespace: __, ...call } = part;
  return [call];
}

function sayableResult({ cache: _, parts, ...result }: ToolResultPart): ToolResultPart {
  return { ...result, parts: asText(words(parts, 'text')) };
}

function sayablePart(part: Part): Part[] {
  switch (part.type) {
    case 'text':
      return [{ type: 'text', text: part.text }];
    case 'image': {
      const { cache: _, ...image } = part;
      return [image];
    }
    case 'file': {
      const { cache: _, citations: __, ...file } = part;
      if (file.source.kind !== 'text') return [{ ...file, name: file.name ?? 'document.pdf' }];
      return [
        { type: 'text', text: `${file.name === undefined ? '' : `${file.name}:\n\n`}${file.source.text}` },
      ];
    }
    case 'audio':
      return [part];
    default:
      return [];
  }
}

const anyConversation = conversations('openai-chat');
/** Results of text alone: what else they show moves to the user's words, and stays there. */
const plainResults = anyConversation.map((conversation) => ({
  ...conversation,
  messages: conversation.messages.map(({ parts, role }) => ({
    role,
    parts: parts.map((part) =>
      part.type === 'tool-result'
        ? { ...part, parts: part.parts.filter(({ type }) => type === 'text') }
        : part,
    ),
  })),
}));
const messagesOf = (body: JsonObject) => listOf(body['messages']).map(objectOf);
const encoded = (conversation: Partial<Conversation>, dialect: Partial<Dialect> = {}) =>
  encodeRequest({ ...emptyConversation('m'), ...conversation }, { ...plainDialect, ...dialect });
const decoded = (body: JsonObject) => decodeRequest({ model: 'm', ...body });

describe('any chat request', () => {
  it('is decoded to what was encoded', () => {
    fc.assert(
      fc.property(plainResults.map(expressible), (conversation) => {
        assert.deepEqual(decodeRequest(encodeRequest(conversation, full)), conversation);
      }),
    );
  });

  it('is encoded to the bytes that were decoded, also if parts of it cannot be expressed', () => {
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        for (const dialect of [full, plainDialect]) {
          const body = encodeRequest(conversation, dialect);
          const again = encodeRequest(decodeRequest(structuredClone(body)), dialect);
          assert.equal(JSON.stringify(again), JSON.stringify(body));
        }
      }),
    );
  });

  it('has the results of all calls after their answer, and no result without a call', () => {
    const shuffled = anyConversation.chain((conversation) =>
      fc.shuffledSubarray(conversation.messages).map((messages) => ({ ...conversation, messages })),
    );
    fc.assert(
      fc.property(shuffled, (conversation) => {
        let open: unknown[] = [];
        for (const message of messagesOf(encoded(conversation))) {
          if (message['role'] === 'tool') assert.equal(message['tool_call_id'], open.shift());
          else {
            assert.deepEqual(open, []);
            open = listOf(message['tool_calls']).map((call) => objectOf(call)['id']);
          }
          assert.ok(message['role'] === 'assistant' || message['content'] !== null);
        }
        assert.deepEqual(open, []);
      }),
    );
  });

  it('loses no image, file or audio, wherever it is', () => {
    const counts = (conversation: Conversation, types: readonly string[]) =>
      conversation.messages
        .flatMap(({ parts }) => parts)
        .flatMap((part) => (part.type === 'tool-result' ? part.parts : [part]))
        .filter((part) => types.includes(part.type) && !(part.type === 'file' && part.source.kind === 'text'))
        .length;
    fc.assert(
      fc.property(anyConversation, (conversation) => {
        const parts = messagesOf(encoded(conversation)).flatMap(({ content }) =>
          listOf(content).map(objectOf),
        );
        assert.equal(
          parts.filter(({ type }) => type !== 'text').length,
          counts(conversation, ['image', 'file', 'audio']),
        );
      }),
    );
  });

  it('is refused with the path of the invalid field, and never fails in another way', () => {
    assertRefusedByPath(anyConversation, {
      numRuns: 600,
      wire: (conversation) => encodeRequest(conversation, full),
      roundTrip: (body) => encodeRequest(decodeRequest(body), full),
    });
  });
});

const call = (id: string, name = 'read', args: unknown = '{"path":"a"}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});

describe('the decoder of chat requests', () => {
  it('reads instructions before the first turn as the system prompt, later ones as messages', () => {
    const { messages, system } = decoded({
      messages: [
        { role: 'system', content: 'One.' },
        { role: 'developer', content: [{ type: 'text', text: 'Two.' }] },
        { role: 'user', content: 'Hi' },
        { role: 'developer', content: 'Three.' },
      ],
    });
    assert.deepEqual(
      system.map(({ text }) => text),
      ['One.', 'Two.'],
    );
    assert.deepEqual(messages, [
      { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
      { role: 'system', parts: [{ type: 'text', text: 'Three.' }] },
    ]);
  });

  it('reads cache marks on parts and on messages, and those of a result as its own', () => {
    const mark = { cache_control: { type: 'ephemeral' } };
    const cache = { ttl: null };
    const text = (words: string, more: JsonObject = {}) => ({ type: 'text', text: words, ...more });
    const call = { id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } };
    const { messages, system } = decoded({
      messages: [
        { role: 'system', content: 'One.', ...mark },
        { role: 'user', content: [text('a', mark), text('b')] },
        { role: 'assistant', content: 'c', tool_calls: [call], ...mark },
        { role: 'tool', tool_call_id: 'a', content: [text('d'), text('e', mark)] },
        { role: 'tool', tool_call_id: 'a', content: 'f', ...mark },
        { role: 'user', content: [{ type: 'image_url', image_url: 'https://x.test/a.png', ...mark }] },
      ],
    });
    assert.deepEqual(system, [text('One.', { cache })]);
    const marked = messages.flatMap(({ parts }) => parts.filter((part) => 'cache' in part));
    assert.deepEqual(
      marked.map((part) => [part.type, 'text' in part ? part.text : null]),
      [
        ['text', 'a'],
        ['text', 'c'],
        ['tool-result', null],
        ['tool-result', null],
        ['image', null],
      ],
    );
    assert.equal(JSON.stringify(marked).split('"cache"').length - 1, 5);
  });

  it('reads every kind of content that clients send', () => {
    const image = (url: unknown, detail?: string): JsonObject => ({
      type: 'image_url',
      image_url: detail === undefined ? url : { url, detail },
    });
    const { messages } = decoded({
      messages: [
        { role: 'user', content: '' },
        { role: 'assistant', content: null },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
            { type: 'text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit' } },
            image('data:image/png;base64,AAAA', 'low'),
            image('https://x.test/a.png'),
            { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
            { type: 'file', file: { file_data: 'JVBE' } },
            { type: 'file', file: { file_id: 'file-1' } },
            { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
          ],
        },
      ],
    });
    assert.deepEqual(messages[2]?.parts, [
      { type: 'text', text: 'a', cache: { ttl: 3600 } },
      { type: 'text', text: 'b', cache: { ttl: null } },
      { type: 'image', source: { kind: 'data', mediaType: 'image/png', base64: 'AAAA' }, detail: 'low' },
      { type: 'image', source: { kind: 'url', url: 'https://x.test/a.png' } },
      { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', base64: 'JVBE' }, name: 'a.pdf' },
      { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', base64: 'JVBE' } },
      { type: 'file', source: { kind: 'file', id: 'file-1', format: 'openai-chat' } },
      { type: 'audio', format: 'wav', base64: 'UklG' },
    ]);
    assert.deepEqual([messages[0]?.parts, messages[1]?.parts], [[], []]);
  });

  it('groups the results of a turn with the text of the user after them, by kind of call', () => {
    const { messages } = decoded({
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            call('call_a'),
            { id: 'call_b', type: 'custom', custom: { name: 'patch', input: '***' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_a', content: '' },
        { role: 'tool', tool_call_id: 'call_b', content: [{ type: 'text', text: 'done' }] },
        { role: 'user', content: 'Go on' },
        { role: 'user', content: 'please' },
      ],
    });
    const result = (callId: string, kind: string, parts: TextPart[]) => ({
      type: 'tool-result',
      callId,
      parts,
      isError: false,
      kind,
    });
    assert.deepEqual(
      messages.slice(1).map(({ parts }) => parts),
      [
        [
          result('call_a', 'function', []),
          result('call_b', 'custom', [{ type: 'text', text: 'done' }]),
          { type: 'text', text: 'Go on' },
        ],
        [{ type: 'text', text: 'please' }],
      ],
    );
  });

  it('reads the reasoning of earlier answers under each of its names', () => {
    for (const field of [
      { reasoning_content: 'Hm.' },
      { reasoning: 'Hm.' },
      { reasoning_details: [{ type: 'reasoning.text', text: 'Hm.' }] },
    ]) {
      const { messages } = decoded({ messages: [{ role: 'assistant', content: 'x', ...field }] });
      assert.deepEqual(messages[0]?.parts[0], {
        type: 'reasoning',
        text: 'Hm.',
        summary: false,
        encrypted: null,
      });
    }
  });

  it('pairs deprecated function calls, which have no ids, with their results', () => {
    const callAndResult = (n: number) => [
      { role: 'assistant', content: null, function_call: { name: 'read', arguments: `{"n":${n}}` } },
      { role: 'function', name: 'read', content: `${n}` },
    ];
    const { messages, parallelToolCalls, toolChoice, tools } = decoded({
      messages: [...callAndResult(1), ...callAndResult(2)],
      functions: [{ name: 'read', parameters: { type: 'object' } }],
      function_call: { name: 'read' },
    });
    const ids = messages.flatMap(({ parts }) =>
      parts.map((part) =>
        part.type === 'tool-call' ? part.id : part.type === 'tool-result' ? part.callId : '',
      ),
    );
    assert.equal(ids[0], ids[1]);
    assert.equal(ids[2], ids[3]);
    assert.notEqual(ids[0], ids[2]);
    assert.deepEqual(
      [tools.length, toolChoice, parallelToolCalls],
      [1, { kind: 'tool', name: 'read' }, false],
    );
  });

  it('reads a result as an error only if this gateway marked it', () => {
    const results = ['Error: no such file', `${ERROR_MARK}no such file`, ERROR_MARK].map((content) => {
      const message = { role: 'tool', tool_call_id: 'c', content };
      const [part] = decoded({ messages: [message] }).messages[0]?.parts ?? [];
      return part?.type === 'tool-result' ? [part.isError, words(part.parts, 'text')] : [];
    });
    assert.deepEqual(results, [
      [false, 'Error: no such file'],
      [true, 'no such file'],
      [true, ''],
    ]);
  });

  it('reads limits, stops and choices in both of their forms', () => {
    assert.equal(decoded({ max_tokens: 5 }).maxOutputTokens, 5);
    assert.equal(decoded({ max_tokens: 5, max_completion_tokens: 6 }).maxOutputTokens, 6);
    assert.deepEqual(decoded({ stop: 'END' }).stop, ['END']);
    assert.deepEqual(decoded({ stop: ['A', 'B'] }).stop, ['A', 'B']);
    assert.deepEqual(decoded({ stop: null }).stop, []);
    const choice = (tool_choice: unknown) => decoded({ tool_choice }).toolChoice;
    assert.deepEqual(choice('required'), { kind: 'required' });
    assert.deepEqual(choice({ type: 'custom', custom: { name: 'patch' } }), { kind: 'tool', name: 'patch' });
    assert.deepEqual(
      choice({
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'read' } }] },
      }),
      { kind: 'allowed', names: ['read'], required: true },
    );
  });

  it('reads reasoning settings in the fields of several vendors', () => {
    const reasoning = (body: JsonObject) => {
      const decodedReasoning = decoded(body).reasoning;
      return decodedReasoning === null
        ? null
        : [decodedReasoning.mode, decodedReasoning.effort, decodedReasoning.budgetTokens];
    };
    assert.deepEqual(reasoning({ reasoning_effort: 'high' }), ['on', 'high', null]);
    assert.deepEqual(reasoning({ reasoning_effort: 'none' }), ['off', null, null]);
    assert.deepEqual(reasoning({ reasoning: { max_tokens: 2000 } }), ['on', null, 2000]);
    assert.deepEqual(reasoning({ reasoning: { enabled: false } }), ['off', null, null]);
    assert.deepEqual(reasoning({ thinking: { type: 'disabled' } }), ['off', null, null]);
    assert.deepEqual(reasoning({ thinking: { type: 'enabled', budget_tokens: 1024 } }), ['on', null, 1024]);
    assert.equal(reasoning({}), null);
  });

  it('reads whether the client asks for usage, which complete answers always have', () => {
    const wants = (body: JsonObject) => decoded(body).includeUsage;
    assert.equal(wants({}), true);
    assert.equal(wants({ stream: true }), false);
    assert.equal(wants({ stream: true, stream_options: { include_usage: true } }), true);
  });

  it('keeps unknown fields for its own format', () => {
    const { extras } = decoded({ logit_bias: { 5: 1 }, search_parameters: { mode: 'auto' }, audio: null });
    assert.deepEqual(extras, {
      format: 'openai-chat',
      fields: { logit_bias: { 5: 1 }, search_parameters: { mode: 'auto' } },
    });
  });

  const wrong: [string, JsonObject, string][] = [
    ['messages that are not a list', { messages: {} }, 'messages'],
    ['a message that is not an object', { messages: ['x'] }, 'messages[0]'],
    ['an unknown role', { messages: [{ role: 'robot' }] }, 'messages[0].role'],
    ['content of the wrong type', { messages: [{ role: 'user', content: 5 }] }, 'messages[0].content'],
    [
      'an unknown part',
      { messages: [{ role: 'user', content: [{ type: 'video_url' }] }] },
      'messages[0].content[0].type',
    ],
    [
      'a call without an id',
      { messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'a' } }] }] },
      'messages[0].tool_calls[0].id',
    ],
    [
      'a result without the id of a call',
      { messages: [{ role: 'tool', content: 'x' }] },
      'messages[0].tool_call_id',
    ],
    [
      'an image in instructions',
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: 'https://x.test' }] }] },
      'messages[0].content',
    ],
    ['an invalid stop', { stop: [5] }, 'stop'],
    ['a temperature that is not a number', { temperature: 'warm' }, 'temperature'],
    ['the output format', { response_format: { type: 'grammar' } }, 'response_format.type'],
    ['a tool without a name', { tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
    ['spoken answers', { modalities: ['text', 'audio'] }, 'modalities'],
    [
      'an earlier spoken answer',
      { messages: [{ role: 'assistant', audio: { id: 'a' } }] },
      'messages[0].audio',
    ],
  ];
  for (const [what, body, param] of wrong) {
    it(`refuses ${what} with its path`, () => {
      assert.throws(
        () => decoded(body),
        (error) => error instanceof GatewayError && error.status === 400 && error.param === param,
      );
    });
  }
});

describe('the encoder of chat requests', () => {
  const userMessage = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] });
  const called = (...ids: string[]): Message => ({
    role: 'assistant',
    parts: ids.map((id) => ({ type: 'tool-call', id, name: 'read', input: '{}', kind: 'function' })),
  });
  const result = (callId: string, ...parts: (TextPart | ImagePart | FilePart)[]): ToolResultPart => ({
    type: 'tool-result',
    callId,
    parts,
    isError: false,
    kind: 'function',
  });
  const text = (words: string): TextPart => ({ type: 'text', text: words });
  const picture: ImagePart = { type: 'image', source: { kind: 'url', url: 'https://x.test/a.png' } };
  const outline = (messages: Message[], dialect: Partial<Dialect> = {}) =>
    messagesOf(encoded({ messages }, dialect)).map(({ content, role, tool_call_id: id }) => [
      id === undefined ? role : `${role} ${id}`,
      content,
    ]);
  const tool: Tool = { kind: 'function', name: 'read', description: null, schema: null, strict: null };

  it('moves images of results to the text of the user after the last result', () => {
    const messages: Message[] = [
      called('a', 'b'),
      { role: 'user', parts: [result('a', text('one'), picture), result('b', picture), text('And?')] },
      userMessage('Well?'),
    ];
    const shown = { type: 'image_url', image_url: { url: 'https://x.test/a.png' } };
    assert.deepEqual(outline(messages).slice(1), [
      ['tool a', 'one'],
      ['tool b', '[see the attachment]'],
      [
        'user',
        [
          { type: 'text', text: 'Attachment of the result of a:' },
          shown,
          { type: 'text', text: 'Attachment of the result of b:' },
          shown,
          { type: 'text', text: 'And?' },
        ],
      ],
      ['user', 'Well?'],
    ]);
  });

  it('writes every result after its answer, wherever it was', () => {
    const messages: Message[] = [
      called('a'),
      called('b'),
      { role: 'system', parts: [text('Be brief.')] },
      { role: 'user', parts: [text('Wait.'), result('b', text('2')), result('a', text('1'))] },
    ];
    assert.deepEqual(outline(messages), [
      ['assistant', null],
      ['tool a', '1'],
      ['assistant', null],
      ['tool b', '2'],
      ['system', 'Be brief.'],
      ['user', 'Wait.'],
    ]);
  });

  it('adds a missing result, and writes one without a call as text', () => {
    const messages: Message[] = [called('a'), { role: 'user', parts: [result('x', text('lost'))] }];
    assert.deepEqual(outline(messages).slice(1), [
      ['tool a', `${ERROR_MARK}No result was given.`],
      ['user', 'lost'],
    ]);
  });

  it('writes in the text of a result that its call failed', () => {
    const messages: Message[] = [
      called('a'),
      { role: 'user', parts: [{ ...result('a', text('no such file')), isError: true }] },
    ];
    assert.deepEqual(outline(messages)[1], ['tool a', '[tool error] no such file']);
  });

  it('writes text-only content as one string, because many servers accept no list', () => {
    const messages: Message[] = [{ role: 'user', parts: [text('one'), text('two')] }];
    assert.deepEqual(outline(messages), [['user', 'one\n\ntwo']]);
    const [first] = messagesOf(encoded({ system: [text('A.'), text('B.')], messages }));
    assert.deepEqual(first, { role: 'system', content: 'A.\n\nB.' });
  });

  it('writes the dialect of the upstream', () => {
    const conversation: Partial<Conversation> = {
      system: [text('A.')],
      messages: [
        userMessage('x'),
        {
          role: 'assistant',
          parts: [{ type: 'reasoning', text: 'Hm.', summary: false, encrypted: null }, text('y')],
        },
        { role: 'system', parts: [text('B.')] },
      ],
      maxOutputTokens: 5,
      reasoning: { mode: 'on', effort: 'high', budgetTokens: null, display: null },
      userId: 'u',
      cacheKey: 'k',
      verbosity: 'low',
    };
    const plain = encoded(conversation);
    assert.deepEqual(
      messagesOf(plain).map(({ role }) => role),
      ['system', 'user', 'assistant', 'system'],
    );
    assert.deepEqual(Object.keys(messagesOf(plain)[2] ?? {}), ['role', 'content']);
    assert.deepEqual(
      [plain['max_tokens'], plain['reasoning_effort'], plain['user'], plain['prompt_cache_key']],
      [5, 'high', 'u', undefined],
    );
    const own = encoded(conversation, {
      maxTokensField: 'max_completion_tokens',
      systemRole: 'developer',
      vendorFields: true,
      reasoningField: 'reasoning',
      reasoningEffort: false,
    });
    assert.deepEqual(
      messagesOf(own).map(({ role }) => role),
      ['developer', 'user', 'assistant', 'developer'],
    );
    assert.equal(messagesOf(own)[2]?.['reasoning'], 'Hm.');
    assert.deepEqual(
      [own['max_completion_tokens'], own['max_tokens'], own['reasoning_effort'], own['safety_identifier']],
      [5, undefined, undefined, 'u'],
    );
    assert.deepEqual([own['prompt_cache_key'], own['verbosity']], ['k', 'low']);
  });

  it('writes neither a tool choice nor parallel_tool_calls without tools', () => {
    const body = encoded({ tools: [], toolChoice: { kind: 'required' }, parallelToolCalls: false });
    assert.deepEqual(Object.keys(body), ['model', 'messages']);
  });

  it('writes all tools and the nearest choice for a server that cannot restrict them', () => {
    const conversation: Partial<Conversation> = {
      tools: [tool, { ...tool, name: 'write' }],
      toolChoice: { kind: 'allowed', names: ['write', 'gone'], required: true },
    };
    const plain = encoded(conversation);
    assert.deepEqual(
      listOf(plain['tools']).map((one) => objectOf(objectOf(one)['function'])['name']),
      ['read', 'write'],
    );
    assert.deepEqual(plain['tool_choice'], { type: 'function', function: { name: 'write' } });
    const own = encoded(conversation, { vendorFields: true });
    assert.equal(listOf(own['tools']).length, 2);
    assert.deepEqual(own['tool_choice'], {
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'write' } }] },
    });
  });

  it('writes no choice of a tool that is not there', () => {
    const body = encoded({ tools: [tool], toolChoice: { kind: 'tool', name: 'gone' } });
    assert.equal('tool_choice' in body, false);
    const custom: Tool = { kind: 'custom', name: 'patch', description: null, grammar: null };
    const choice: Partial<Conversation> = {
      tools: [tool, custom],
      toolChoice: { kind: 'tool', name: 'patch' },
    };
    assert.equal('tool_choice' in encoded(choice), false);
    assert.deepEqual(encoded(choice, { customTools: true })['tool_choice'], {
      type: 'custom',
      custom: { name: 'patch' },
    });
  });

  it('gives a function without a schema an empty one, and keeps an explicit false', () => {
    const [first] = listOf(encoded({ tools: [{ ...tool, strict: false }] })['tools']);
    assert.deepEqual(first, {
      type: 'function',
      function: { name: 'read', parameters: { type: 'object', properties: {} }, strict: false },
    });
  });

  it('asks for usage whenever it asks for a stream', () => {
    assert.deepEqual(encoded({ stream: true, includeUsage: false })['stream_options'], {
      include_usage: true,
    });
    assert.equal('stream_options' in encoded({ stream: false }), false);
  });

  it('shortens ids and names of users to the vendor’s limits, always in the same way', () => {
    const long = `toolu_${'x'.repeat(58)}`;
    const other = `toolu_${'x'.repeat(57)}y`;
    const ids = [long, other].map((id) => {
      const [answer, toolMessage] = messagesOf(
        encoded({ messages: [called(id), { role: 'user', parts: [result(id, text('ok'))] }] }),
      );
      const sent = textOf(objectOf(listOf(answer?.['tool_calls'])[0])['id']);
      assert.equal(toolMessage?.['tool_call_id'], sent);
      assert.ok(sent.length <= 40);
      return sent;
    });
    assert.notEqual(ids[0], ids[1]);
    const user = textOf(encoded({ userId: 'u'.repeat(200) })['user']);
    assert.equal(user.length, 64);
    assert.equal(user, encoded({ userId: 'u'.repeat(200) })['user']);
  });

  it('writes fields that only this format has, and leaves out those of others', () => {
    const fields = { logit_bias: { 5: 1 } };
    assert.deepEqual(encoded({ extras: { format: 'openai-chat', fields } })['logit_bias'], { 5: 1 });
    assert.equal('logit_bias' in encoded({ extras: { format: 'openai-responses', fields } }), false);
    const search = decoded({ web_search_options: { search_context_size: 'low' } });
    assert.deepEqual(encodeRequest(search, plainDialect)['web_search_options'], {
      search_context_size: 'low',
    });
    const [foreign] = search.tools.map((one) => ({
      ...one,
      native: { format: 'anthropic-messages' as const, value: {} },
    }));
    assert.equal('web_search_options' in encoded({ tools: [foreign as Tool] }), false);
  });

  it('writes field and call names as the target requires', () => {
    const strict: Partial<Dialect> = {
      fieldNames: { seed: 'random_seed', user: null, stream_options: null },
      callIds: 'short',
    };
    const options = { seed: 7, userId: 'u', stream: true };
    const request = encoded(
      { ...options, messages: [called('call_1'), { role: 'user', parts: [result('call_1', text('ok'))] }] },
      strict,
    );
    assert.equal(request['random_seed'], 7);
    for (const name of ['seed', 'user', 'stream_options']) assert.equal(name in request, false, name);
    const [answer, toolMessage] = messagesOf(request);
    const id = textOf(objectOf(listOf(answer?.['tool_calls'])[0])['id']);
    assert.match(id, /^[a-zA-Z0-9]{9}$/);
    assert.equal(toolMessage?.['tool_call_id'], id);
    const messages = messagesOf(encoded({ messages: [called('abcDEF123')] }, strict));
    assert.equal(objectOf(listOf(messages[0]?.['tool_calls'])[0])['id'], 'abcDEF123');
  });

  it('keeps Google’s signature on its call, in both directions', () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const extra_content = { google: { thought_signature: 'c2ln' } };
    const { messages } = decoded({
      messages: [{ role: 'assistant', tool_calls: [{ ...call, extra_content }] }],
    });
    const encrypted = { format: 'gemini', kind: 'signature', value: 'c2ln' } as const;
    assert.deepEqual(messages[0]?.parts[0], { type: 'reasoning', text: '', summary: false, encrypted });
    const target = writer({ id: 'req_1', model: 'm', startedAt: 0, includeUsage: true, request: {} });
    const parts: StreamPart[] = [
      { type: 'message-start', id: 'r', model: 'm', usage: null },
      { type: 'reasoning-start', block: 0, summary: true },
      { type: 'reasoning-end', block: 0, encrypted },
      { type: 'tool-call-start', block: 1, id: 'call_1', name: 'look', kind: 'function' },
      { type: 'tool-call-end', block: 1, complete: true },
      { type: 'message-end', reason: 'tool-calls', rawFinishReason: null, stopSequence: null, usage: null },
    ];
    const { frames } = splitFrames(Buffer.from(encodeFrames(parts.flatMap((part) => target.push(part)))));
    const [choice] = listOf(assemble(frames)?.['choices']).map(objectOf);
    const [written] = listOf(objectOf(choice?.['message'])['tool_calls']).map(objectOf);
    assert.deepEqual(written?.['extra_content'], extra_content);
  });
});
