import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripEncryptedReasoning } from '../../../test/support/formats/strip-reasoning.ts';
import { GatewayError } from '../../lib/error.ts';
import { adapt } from '../adapt/adapt.ts';
import { anthropicMessages } from '../anthropic-messages/codec.ts';
import type { ConversationCodec } from '../codec.ts';
import { embedEncryptedReasoning } from '../encrypted-reasoning/embed.ts';
import { type JsonObject, listOf, objectOf } from '../json/values.ts';
import {
  type Conversation,
  emptyConversation,
  type Message,
  type Part,
  type Reasoning,
  type Tool,
} from '../model/conversation.ts';
import { plainDialect } from '../model/dialect.ts';
import type { Codec } from '../wire-codec.ts';
import { gemini } from './codec.ts';
import { decodeRequest } from './request/decode.ts';
import { encodeRequest } from './request/encode.ts';
import { encryptedReasoningOf, NO_SIGNATURE, signatureOf } from './signature.ts';

const G2 = 'gemini-2.5-flash';
const G3 = 'gemini-3.8-flash';
const user: Message = { role: 'user', parts: [{ type: 'text', text: 'Hi' }] };
const encoded = (values: Partial<Conversation>, model = G3) =>
  encodeRequest({ ...emptyConversation(model), messages: [user], ...values });
const turnsOf = (messages: Message[], model = G3) =>
  listOf(encoded({ messages }, model)['contents'])
    .map(objectOf)
    .map(({ parts, role }) => [role, ...listOf(parts)]);
const decoded = (body: JsonObject) => decodeRequest({ model: 'a', contents: [], ...body });
const partsIn = (...contents: JsonObject[]) => decoded({ contents }).messages.map(({ parts }) => parts);
const call = (id: string, input = '{}', name = 'read'): Part => ({
  type: 'tool-call',
  id,
  name,
  input,
  kind: 'function',
});
const result = (callId: string, text: string, isError = false): Part => ({
  type: 'tool-result',
  callId,
  isError,
  kind: 'function',
  parts: [{ type: 'text', text }],
});
const signed = (value: string, text = ''): Part => ({
  type: 'reasoning',
  text,
  summary: true,
  encrypted: { format: 'gemini', kind: 'signature', value },
});
const read: Tool = { kind: 'function', name: 'read', description: null, schema: null, strict: null };
const search = (format: 'gemini' | 'anthropic-messages'): Tool => ({
  kind: 'web-search',
  maxUses: null,
  allowedDomains: null,
  blockedDomains: null,
  location: null,
  native: { format, value: { googleSearch: { timeRangeFilter: {} } } },
});
const refused = (body: JsonObject, param: string) =>
  assert.throws(
    () => decoded(body),
    (error) => error instanceof GatewayError && error.status === 400 && error.param === param,
    param,
  );

/** What of a messages request a model of Google is not told. */
function droppedOf(body: JsonObject, model: string): string[] {
  const translated = (codec: Codec) => codec as Codec & { conversation: ConversationCodec };
  const [from, to] = [translated(anthropicMessages), translated(gemini)];
  const conversation = from.conversation.decodeRequest(body);
  return adapt(conversation, { from, to, dialect: plainDialect, owner: null, model }).dropped;
}

describe('a generateContent request for a client of another format', () => {
  it('has instructions between turns as text of the user', () => {
    const reminder: Message = { role: 'system', parts: [{ type: 'text', text: 'Be brief.' }] };
    const { contents, systemInstruction } = encoded({
      system: [{ type: 'text', text: 'You code.' }],
      messages: [user, reminder],
    });
    assert.deepEqual(systemInstruction, { parts: [{ text: 'You code.' }] });
    assert.deepEqual(contents, [
      {
        role: 'user',
        parts: [{ text: 'Hi' }, { text: '<system-reminder>\nBe brief.\n</system-reminder>' }],
      },
    ]);
  });

  it('begins with a user turn, and joins adjacent turns of one role', () => {
    const model: Message = { role: 'assistant', parts: [{ type: 'text', text: 'A' }] };
    assert.deepEqual(turnsOf([model, model, user, user]), [
      ['user', { text: 'Go on.' }],
      ['model', { text: 'A' }, { text: 'A' }],
      ['user', { text: 'Hi' }, { text: 'Hi' }],
    ]);
    assert.deepEqual(turnsOf([]), [['user', { text: 'Go on.' }]]);
  });

  it('has inline data for media of every kind, and the media type that an image shows', () => {
    const parts: Part[] = [
      { type: 'image', source: { kind: 'data', mediaType: 'image/jpeg', base64: 'iVBORw0KGgo=' } },
      { type: 'image', source: { kind: 'url', url: 'https://example.test/a.webp?b=1' } },
      { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', base64: 'JVBERi0=' } },
      { type: 'file', source: { kind: 'text', text: 'words' }, name: 'a.txt' },
      { type: 'audio', format: 'wav', base64: 'UklGRg==' },
    ];
    assert.deepEqual(turnsOf([{ role: 'user', parts }])[0]?.slice(1), [
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
      { fileData: { mimeType: 'image/webp', fileUri: 'https://example.test/a.webp?b=1' } },
      { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
      { text: 'a.txt:\n\nwords' },
      { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
    ]);
  });

  it('shows arguments that are not an object to the model', () => {
    const [, turn] = turnsOf(
      [user, { role: 'assistant', parts: [call('a', '{"path":'), call('b', '')] }],
      G2,
    );
    assert.deepEqual(turn?.slice(1), [
      { functionCall: { id: 'a', name: 'read', args: { raw_arguments: '{"path":' } } },
      { functionCall: { id: 'b', name: 'read', args: {} } },
    ]);
  });

  it('has the results of all calls in the next turn, in the order of the calls, and other results as text', () => {
    const turns = turnsOf(
      [
        user,
        { role: 'assistant', parts: [call('a'), call('b'), call('c')] },
        {
          role: 'user',
          parts: [{ type: 'text', text: 'Go' }, result('b', 'no file', true), result('x', 'X')],
        },
        { role: 'user', parts: [result('a', 'A')] },
      ],
      G2,
    );
    const answered = (id: string, response: JsonObject) => ({
      functionResponse: { id, name: 'read', response },
    });
    assert.deepEqual(turns[2], [
      'user',
      answered('a', { output: 'A' }),
      answered('b', { error: 'no file' }),
      answered('c', { error: 'No result was given.' }),
      { text: 'Go' },
      { text: 'X' },
    ]);
    assert.equal(turns.length, 3);
  });

  it('has images in their result for models that accept them there, else after the last result', () => {
    const image = {
      type: 'image',
      source: { kind: 'data', mediaType: 'image/gif', base64: 'AA==' },
    } as const;
    const messages: Message[] = [
      user,
      { role: 'assistant', parts: [call('a'), call('b')] },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', callId: 'a', isError: false, kind: 'function', parts: [image] },
          result('b', 'B'),
        ],
      },
    ];
    const shown = { inlineData: { mimeType: 'image/gif', data: 'AA==' } };
    const answered = (id: string, text: string) => ({ id, name: 'read', response: { output: text } });
    assert.deepEqual(turnsOf(messages, G3)[2]?.slice(1), [
      { functionResponse: { ...answered('a', ''), parts: [shown] } },
      { functionResponse: answered('b', 'B') },
    ]);
    assert.deepEqual(turnsOf(messages, G2)[2]?.slice(1), [
      { functionResponse: answered('a', '') },
      { functionResponse: answered('b', 'B') },
      { text: 'Attachment of the result of read:' },
      shown,
    ]);
  });

  it('has a signature on the text or call after the thought, or on an empty text if there is neither', () => {
    const parts = [
      signed('s1', 'Hm.'),
      call('a'),
      signed('s2'),
      { type: 'text', text: 'B' } as const,
      signed('s3'),
    ];
    assert.deepEqual(turnsOf([user, { role: 'assistant', parts }], G2)[1]?.slice(1), [
      { text: 'Hm.', thought: true },
      { functionCall: { id: 'a', name: 'read', args: {} }, thoughtSignature: 's1' },
      { text: 'B', thoughtSignature: 's2' },
      { text: '', thoughtSignature: 's3' },
    ]);
  });

  it('has no thought that the vendor did not sign', () => {
    const thought: Part = { type: 'reasoning', text: 'Hm.', summary: false, encrypted: null };
    const answer: Message = { role: 'assistant', parts: [thought, { type: 'text', text: 'B' }] };
    assert.deepEqual(turnsOf([user, answer, { role: 'assistant', parts: [thought] }])[1], [
      'model',
      { text: 'B' },
    ]);
  });

  it('has a placeholder signature only on the first call of each answer, and for newer models', () => {
    const loop: Message[] = [
      user,
      { role: 'assistant', parts: [call('old')] },
      { role: 'user', parts: [result('old', 'A')] },
      { role: 'assistant', parts: [{ type: 'text', text: 'Done.' }] },
      user,
      { role: 'assistant', parts: [call('a'), call('b')] },
      { role: 'user', parts: [result('a', 'A'), result('b', 'B'), { type: 'text', text: 'Note.' }] },
      { role: 'assistant', parts: [signed('own'), call('c')] },
      { role: 'user', parts: [result('c', 'C')] },
    ];
    const signatures = (model: string) =>
      turnsOf(loop, model)
        .flat()
        .map(objectOf)
        .filter((part) => 'functionCall' in part)
        .map(({ thoughtSignature }) => thoughtSignature);
    const own = [undefined, undefined, undefined, 'own'];
    assert.deepEqual(signatures(G3), [NO_SIGNATURE, NO_SIGNATURE, undefined, 'own']);
    assert.deepEqual(signatures('gemini-flash-latest'), [NO_SIGNATURE, NO_SIGNATURE, undefined, 'own']);
    assert.deepEqual(signatures(G2), own);
    assert.deepEqual(signatures('gemini-2.5-pro-preview-03-25'), own);
  });

  it('has a thinking level or a thinking budget, depending on the model', () => {
    const thinkingConfig = (reasoning: Partial<Reasoning>, model: string) => {
      const whole = {
        mode: 'on',
        effort: null,
        budgetTokens: null,
        display: 'omitted',
        ...reasoning,
      } as const;
      const config = objectOf(encoded({ reasoning: whole }, model)['generationConfig']);
      return config['thinkingConfig'];
    };
    const level = (thinkingLevel: string) => ({ thinkingLevel });
    const budget = (thinkingBudget: number) => ({ thinkingBudget });
    assert.deepEqual(thinkingConfig({ effort: 'minimal' }, 'gemini-3-flash-preview'), level('MINIMAL'));
    assert.deepEqual(thinkingConfig({ effort: 'minimal' }, 'google/gemini-3.8-flash'), level('LOW'));
    assert.deepEqual(thinkingConfig({ effort: 'medium' }, 'gemini-3-pro-preview'), level('HIGH'));
    assert.deepEqual(thinkingConfig({ effort: 'medium' }, 'gemini-3.1-pro-preview'), level('MEDIUM'));
    assert.deepEqual(thinkingConfig({ effort: 'max' }, 'gemini-4-argon'), level('HIGH'));
    assert.deepEqual(thinkingConfig({ budgetTokens: 2_000 }, G3), level('LOW'));
    assert.deepEqual(thinkingConfig({ mode: 'off' }, G3), level('LOW'));
    assert.deepEqual(thinkingConfig({ mode: 'off' }, G2), budget(0));
    assert.deepEqual(thinkingConfig({ mode: 'off' }, 'gemini-2.5-pro'), budget(128));
    assert.deepEqual(thinkingConfig({ effort: 'xhigh' }, 'gemini-2.5-pro'), budget(32_768));
    assert.deepEqual(thinkingConfig({ effort: 'high' }, 'gemini-2.5-flash-lite'), budget(24_576));
    assert.deepEqual(thinkingConfig({ budgetTokens: 100 }, 'gemini-2.5-flash-lite'), budget(512));
    assert.deepEqual(thinkingConfig({ mode: 'adaptive', display: null }, G2), {
      thinkingBudget: -1,
      includeThoughts: true,
    });
    assert.equal(thinkingConfig({ mode: 'adaptive' }, G3), undefined);
    assert.equal(thinkingConfig({ effort: 'high', display: null }, 'gemini-2.0-flash-001'), undefined);
  });

  it('has all functions in one tool, and allows only functions that exist', () => {
    const schema = { type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false };
    const tools = [
      { ...read, schema, description: 'Reads' },
      { ...read, name: 'list' },
    ] as Tool[];
    const choose = (toolChoice: Conversation['toolChoice']) =>
      objectOf(encoded({ tools, toolChoice })['toolConfig'])['functionCallingConfig'];
    assert.deepEqual(encoded({ tools })['tools'], [
      {
        functionDeclarations: [
          { name: 'read', description: 'Reads', parametersJsonSchema: schema },
          { name: 'list' },
        ],
      },
    ]);
    assert.deepEqual(choose({ kind: 'required' }), { mode: 'ANY' });
    assert.deepEqual(choose({ kind: 'tool', name: 'list' }), { mode: 'ANY', allowedFunctionNames: ['list'] });
    assert.deepEqual(choose({ kind: 'allowed', names: ['read', 'gone'], required: false }), {
      mode: 'VALIDATED',
      allowedFunctionNames: ['read'],
    });
    assert.deepEqual(choose({ kind: 'allowed', names: ['gone'], required: false }), { mode: 'AUTO' });
    assert.equal(encoded({ toolChoice: { kind: 'required' } })['toolConfig'], undefined);
  });

  it('has the search only if it is the only tool, because it is refused beside functions', () => {
    assert.deepEqual(encoded({ tools: [search('anthropic-messages')] })['tools'], [{ googleSearch: {} }]);
    assert.deepEqual(encoded({ tools: [read, search('anthropic-messages')] })['tools'], [
      { functionDeclarations: [{ name: 'read' }] },
    ]);
    assert.deepEqual(encoded({ tools: [search('gemini')] })['tools'], [
      { googleSearch: { timeRangeFilter: {} } },
    ]);
  });

  it('leaves out what the format lacks, and names it by the client’s field', () => {
    const search = { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['example.test'] };
    const request = {
      messages: [{ role: 'user', content: 'Hi' }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'enabled', budget_tokens: 2_000 },
    };
    assert.deepEqual(droppedOf({ ...request, tools: [search] }, G3), ['tools.web_search.allowed_domains']);
    assert.deepEqual(droppedOf({ ...request, tools: [search, { name: 'read', input_schema: {} }] }, G3), [
      'tools.web_search',
      'tools.web_search.allowed_domains',
    ]);
    assert.deepEqual(droppedOf(request, 'gemini-2.0-flash'), ['thinking']);
  });

  it('can be sent again without the signatures that were refused', () => {
    const parts = [signed('s1'), call('a'), { type: 'text', text: 'B' } as const, signed('s2')];
    const body = encoded({ messages: [user, { role: 'assistant', parts }] });
    const contents = listOf(
      stripEncryptedReasoning('gemini', body, 'Thought signature is not valid')?.request['contents'],
    );
    assert.deepEqual(objectOf(contents[1])['parts'], [
      { functionCall: { id: 'a', name: 'read', args: {} }, thoughtSignature: NO_SIGNATURE },
      { text: 'B' },
    ]);
  });

  it('has the output format, the limits and the service tier', () => {
    const schema = { type: 'object', properties: {} };
    const output = { kind: 'schema', name: 'a', description: null, schema, strict: true } as const;
    const body = encoded({ output, maxOutputTokens: 0, logprobs: 0, candidates: 1, serviceTier: 'default' });
    assert.deepEqual(body['generationConfig'], {
      candidateCount: 1,
      maxOutputTokens: 1,
      responseLogprobs: true,
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    });
    assert.equal(body['serviceTier'], 'standard');
    assert.equal(encoded({ serviceTier: 'auto' })['serviceTier'], undefined);
    assert.equal('model' in body || 'stream' in body, false);
  });
});

describe('a generateContent request of a client', () => {
  it('may use snake case, and a single value for a list', () => {
    const camel = {
      systemInstruction: { parts: [{ text: 'You code.' }] },
      contents: [
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'a_b', args: { c_d: 1 } }, thoughtSignature: 's' }],
        },
        { parts: [{ functionResponse: { name: 'a_b', response: { e_f: 1, g_h: 2 } } }] },
      ],
      tools: [
        { functionDeclarations: [{ name: 'a_b', parametersJsonSchema: { properties: { c_d: {} } } }] },
        { googleSearch: {} },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a_b'] } },
      generationConfig: { maxOutputTokens: 5, thinkingConfig: { includeThoughts: true, thinkingBudget: 9 } },
      safetySettings: [{ category: 'HARM', threshold: 'OFF' }],
    };
    const snake = {
      system_instruction: { parts: { text: 'You code.' } },
      contents: [
        { role: 'user', parts: { inline_data: { mime_type: 'image/png', data: 'AA==' } } },
        {
          role: 'model',
          parts: [{ function_call: { name: 'a_b', args: { c_d: 1 } }, thought_signature: 's' }],
        },
        { role: 'function', parts: [{ function_response: { name: 'a_b', response: { e_f: 1, g_h: 2 } } }] },
      ],
      tools: [
        { function_declarations: [{ name: 'a_b', parameters_json_schema: { properties: { c_d: {} } } }] },
        { google_search: {} },
      ],
      tool_config: { function_calling_config: { mode: 'any', allowed_function_names: ['a_b'] } },
      generation_config: {
        max_output_tokens: 5,
        thinking_config: { include_thoughts: true, thinking_budget: 9 },
      },
      safety_settings: [{ category: 'HARM', threshold: 'OFF' }],
    };
    const read = decodeRequest({ ...camel, model: 'm', stream: true });
    assert.deepEqual(decodeRequest({ ...snake, model: 'm', stream: true }), read);
    assert.deepEqual(read.messages[1]?.parts[1], call('call_a_b_0', '{"c_d":1}', 'a_b'));
    assert.deepEqual(read.messages[2]?.parts, [result('call_a_b_0', '{"e_f":1,"g_h":2}')]);
    assert.deepEqual(read.extras, { format: 'gemini', fields: { safetySettings: camel.safetySettings } });
    assert.deepEqual([read.model, read.stream, read.includeUsage], ['m', true, true]);
  });

  it('pairs results with calls by id, else by name and order, and generates the same ids every time', () => {
    const named = (name: string, id?: string) => ({
      functionCall: { name, ...(id === undefined ? {} : { id }) },
    });
    const answer = (name: string, output: string, id?: string) => ({
      functionResponse: { name, response: { output }, ...(id === undefined ? {} : { id }) },
    });
    const ids = partsIn(
      { role: 'model', parts: [named('read'), named('read'), named('list', 'given')] },
      {
        role: 'user',
        parts: [answer('list', 'L', 'given'), answer('read', '1', 'read_17_0'), answer('read', '2')],
      },
      { role: 'model', parts: [named('read')] },
      { role: 'user', parts: [answer('gone', 'G')] },
      { role: 'model', parts: [named('read')] },
      { role: 'user', parts: [answer('read', '4')] },
    ).map((parts) => parts.map((part) => ('callId' in part ? part.callId : 'id' in part ? part.id : '')));
    assert.deepEqual(ids, [
      ['call_read_0', 'call_read_1', 'given'],
      ['given', 'call_read_0', 'call_read_1'],
      ['call_read_2'],
      ['call_gone_0_result'],
      ['call_read_3'],
      ['call_read_3'],
    ]);
  });

  it('has results without the object around them, and errors as errors', () => {
    const outcome = (response: unknown) => {
      const [[part] = []] = partsIn({ parts: [{ functionResponse: { name: 'a', response } }] });
      return part?.type === 'tool-result' ? [part.isError, part.parts] : null;
    };
    const text = (value: string) => [{ type: 'text', text: value }];
    assert.deepEqual(outcome({ output: 'A' }), [false, text('A')]);
    assert.deepEqual(outcome({ result: [1] }), [false, text('[1]')]);
    assert.deepEqual(outcome({ error: 'no file' }), [true, text('no file')]);
    assert.deepEqual(outcome({ output: 'A', code: 0 }), [false, text('{"output":"A","code":0}')]);
    assert.deepEqual(outcome({}), [false, []]);
  });

  it('has the images of its results in them', () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }];
    const [[part] = []] = partsIn({
      parts: [{ functionResponse: { name: 'a', response: { output: 'A' }, parts } }],
    });
    assert.deepEqual(part?.type === 'tool-result' ? part.parts : [], [
      { type: 'text', text: 'A' },
      { type: 'image', source: { kind: 'data', mediaType: 'image/png', base64: 'AA==' } },
    ]);
  });

  it('is refused by other providers for what only Google can show, and has tool outcomes as text', () => {
    const [parts = []] = partsIn({
      parts: [
        {
          fileData: {
            fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/a',
            mimeType: 'image/png',
          },
        },
        { fileData: { fileUri: 'https://example.test/a.pdf' } },
        { inlineData: { mimeType: 'video/mp4', data: 'AA==' }, videoMetadata: { fps: 1 } },
        { executableCode: { language: 'PYTHON', code: '1+1' } },
        { inlineData: { mimeType: 'audio/mpeg', data: 'AA==' } },
        {},
      ],
    });
    assert.deepEqual(
      parts.map((part) => ('source' in part ? part.source.kind : 'text' in part ? part.text : part.type)),
      ['file', 'url', null, '[executableCode] {"language":"PYTHON","code":"1+1"}', 'audio'],
    );
    assert.equal(parts[4]?.type === 'audio' ? parts[4].format : '', 'mp3');
  });

  it('has encrypted reasoning of other formats with its thoughts, and no placeholder', () => {
    const foreign = { format: 'anthropic-messages', kind: 'signature', value: 'EqQB' } as const;
    const thoughtSignature = signatureOf(foreign);
    assert.match(thoughtSignature, /^[A-Za-z0-9+/]+=*$/);
    assert.deepEqual(encryptedReasoningOf(thoughtSignature), foreign);
    assert.deepEqual(
      encryptedReasoningOf(embedEncryptedReasoning(foreign))?.format,
      'gemini',
      'only as bytes',
    );
    const thought = { text: 'Hm.', thought: true };
    const reasoning = { type: 'reasoning', text: 'Hm.', summary: false, encrypted: foreign };
    const functionCall = { name: 'read', id: 'a', args: {} };
    const carried = signatureOf(foreign, 'Hm.');
    const [onThought, onCall, placed, own, alone] = partsIn(
      { role: 'model', parts: [{ ...thought, thoughtSignature }, { functionCall }] },
      { role: 'model', parts: [thought, { functionCall, thoughtSignature }] },
      { role: 'model', parts: [{ functionCall, thoughtSignature: NO_SIGNATURE }] },
      { role: 'model', parts: [{ text: '', thoughtSignature: 's' }] },
      { role: 'model', parts: [{ functionCall, thoughtSignature: carried }] },
    );
    assert.deepEqual(alone, [reasoning, call('a')], 'the thought goes along, for clients leave it out');
    assert.deepEqual(onThought, [reasoning, call('a')]);
    assert.deepEqual(onCall, [reasoning, call('a')]);
    assert.deepEqual(placed, [call('a')]);
    assert.deepEqual(own, [signed('s')]);
  });

  it("has schemas of Google's own language as JSON Schema", () => {
    const parameters = {
      type: 'OBJECT',
      properties: {
        type: { type: 'STRING', nullable: true, enum: ['a'], format: 'enum' },
        max_items: { type: 'ARRAY', items: { type: 'INTEGER' }, maxItems: '3' },
        either: { any_of: [{ type: 'NUMBER' }, { type: 'BOOLEAN' }], nullable: true },
      },
      required: ['type'],
      propertyOrdering: ['type'],
    };
    const { tools } = decoded({ tools: [{ functionDeclarations: [{ name: 'a', parameters }] }] });
    assert.deepEqual(tools[0]?.kind === 'function' ? tools[0].schema : null, {
      type: 'object',
      properties: {
        type: { type: ['string', 'null'], enum: ['a', null] },
        max_items: { type: 'array', items: { type: 'integer' }, maxItems: 3 },
        either: { anyOf: [{ type: 'number' }, { type: 'boolean' }, { type: 'null' }] },
      },
      required: ['type'],
    });
  });

  it('has function calling modes, searches and tools of the vendor', () => {
    const choice = (config: JsonObject) =>
      decoded({ toolConfig: { functionCallingConfig: config } }).toolChoice;
    assert.deepEqual(choice({ mode: 'VALIDATED' }), { kind: 'auto' });
    assert.deepEqual(choice({ mode: 'NONE' }), { kind: 'none' });
    assert.deepEqual(choice({ mode: 'ANY' }), { kind: 'required' });
    assert.deepEqual(choice({ mode: 'ANY', allowedFunctionNames: ['a'] }), { kind: 'tool', name: 'a' });
    assert.equal(choice({}), null);
    refused(
      { toolConfig: { functionCallingConfig: { mode: 'X' } } },
      'toolConfig.functionCallingConfig.mode',
    );
    const { tools } = decoded({ tools: [{ googleSearch: {}, urlContext: {} }, { codeExecution: {} }] });
    assert.deepEqual(
      tools.map((tool) => (tool.kind === 'native' ? tool.name : tool.kind)),
      ['web-search', 'urlContext', 'codeExecution'],
    );
  });

  it('has the output format in both schema languages', () => {
    const output = (generationConfig: JsonObject) => decoded({ generationConfig }).output;
    const json = { responseMimeType: 'application/json' };
    const schema = {
      kind: 'schema',
      name: null,
      description: null,
      schema: { type: 'string' },
      strict: null,
    };
    assert.deepEqual(output(json), { kind: 'json' });
    assert.deepEqual(output({ ...json, responseSchema: { type: 'STRING' } }), schema);
    assert.deepEqual(output({ ...json, responseJsonSchema: { type: 'string' } }), schema);
    assert.deepEqual(output({ ...json, _responseJsonSchema: { type: 'string' } }), schema);
    assert.deepEqual(output({ responseMimeType: 'text/plain' }), { kind: 'text' });
  });

  it('may have types in capitals in JSON Schema, as Gemini CLI writes them', () => {
    const inner = { complexity_score: { type: 'INTEGER', minimum: 1 } };
    const responseJsonSchema = { type: 'OBJECT', properties: inner, required: ['complexity_score'] };
    const { output } = decoded({ generationConfig: { responseJsonSchema } });
    assert.deepEqual(output.kind === 'schema' && output.schema, {
      type: 'object',
      properties: { complexity_score: { type: 'integer', minimum: 1 } },
      required: ['complexity_score'],
    });
  });

  it('is refused if another provider would answer something else', () => {
    refused({ cachedContent: 'cachedContents/a' }, 'cachedContent');
    refused(
      { generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
      'generationConfig.responseModalities',
    );
    refused({ generationConfig: { responseMimeType: 'text/x.enum' } }, 'generationConfig.responseMimeType');
    assert.doesNotThrow(() => decoded({ generationConfig: { responseModalities: ['TEXT'] } }));
  });

  it('keeps fields that only this format has, in their place', () => {
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      tools: [{ functionDeclarations: [{ name: 'a', behavior: 'BLOCKING' }, { name: 'b' }] }],
      toolConfig: { retrievalConfig: { languageCode: 'en' } },
      generationConfig: { mediaResolution: 'MEDIA_RESOLUTION_LOW' },
      labels: { team: 'a' },
    };
    const conversation = decodeRequest({ ...body, model: G3, stream: false });
    assert.deepEqual(Object.keys(conversation.extras?.fields ?? {}).sort(), [
      'generationConfig.mediaResolution',
      'labels',
      'toolConfig.retrievalConfig',
      'tools.functionDeclarations.behavior',
    ]);
    assert.deepEqual(encodeRequest(conversation), body);
  });

  it('is refused with the path of the invalid field', () => {
    refused({ contents: 'Hi' }, 'contents');
    refused({ contents: [{ role: 'system', parts: [] }] }, 'contents[0].role');
    refused({ contents: [{ parts: [{ text: 1 }] }] }, 'contents[0].parts[0].text');
    refused({ contents: [{ parts: [{ functionCall: {} }] }] }, 'contents[0].parts[0].functionCall.name');
    refused({ generationConfig: { temperature: 'hot' } }, 'generationConfig.temperature');
    refused({ tools: [{ functionDeclarations: [{}] }] }, 'tools[0].functionDeclarations[0].name');
    let deep: JsonObject = { type: 'STRING' };
    for (let depth = 0; depth < 5_000; depth += 1) deep = { type: 'ARRAY', items: deep };
    refused({ generationConfig: { responseSchema: deep } }, 'generationConfig.responseSchema');
  });
});
