import type { JsonObject } from '../../../src/codecs/json/values.ts';
import { listOf, objectOf, textOf } from '../../../src/codecs/json/values.ts';
import { type Hints, type MemberCase, MemberCases, type Needed } from './declared-cases.ts';
import { DeclaredTypes } from './declared-types.ts';
import type { Conversing } from './formats-matrix.ts';

/** Where the SDK of a format's vendor declares its request, and what a request needs to be a whole one. */
interface Source {
  files: readonly string[];
  /** Types by the path at which they stand in the request; '' for the request itself. */
  roots: Readonly<Record<string, string>>;
  hints: Hints;
  needed: Needed;
  /** Makes a whole conversation of a request of one message. */
  whole(request: JsonObject, tools: boolean): JsonObject;
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const schema = { type: 'object', properties: { zq: { type: 'string' } } };

const chatCall = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } });

const sources: Readonly<Record<Conversing, Source>> = {
  'openai-chat': {
    files: ['openai/resources/chat/completions/completions.d.ts', 'openai/resources/shared.d.ts'],
    roots: { '': 'ChatCompletionCreateParamsBase' },
    hints: {
      tool_call_id: 'call_1',
      url: `data:image/png;base64,${PNG}`,
      file_data: 'data:application/pdf;base64,JVBERi0=',
      parameters: schema,
      schema,
      metadata: { zq: 'label' },
    },
    needed: {
      File: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
      'ChatCompletionNamedToolChoice.Function': { name: 'look' },
      ChatCompletionNamedToolChoice: { type: 'function' },
      ChatCompletionToolMessageParam: { tool_call_id: 'call_1' },
      'File.File': { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
    },
    whole: (request, tools) => ({
      ...request,
      messages: [
        { role: 'user', content: 'hi' },
        ...(tools ? [{ role: 'assistant', content: null, tool_calls: [chatCall('call_1')] }] : []),
        ...listOf(request['messages']),
        { role: 'user', content: 'next' },
      ],
      ...withTools(request, tools, { type: 'function', function: { name: 'look', parameters: schema } }),
    }),
  },
  'openai-completions': {
    files: ['openai/resources/completions.d.ts', 'openai/resources/shared.d.ts'],
    roots: { '': 'CompletionCreateParamsBase' },
    hints: { prompt: 'hi', max_tokens: 900 },
    needed: {},
    whole: (request) => request,
  },
  'openai-responses': {
    files: ['openai/resources/responses/responses.d.ts', 'openai/resources/shared.d.ts'],
    roots: { '': 'ResponseCreateParamsBase' },
    hints: {
      call_id: 'call_1',
      image_url: `data:image/png;base64,${PNG}`,
      file_data: 'data:application/pdf;base64,JVBERi0=',
      parameters: schema,
      schema,
      metadata: { zq: 'label' },
    },
    needed: {
      ResponseInputFile: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
      ResponseInputFileContent: { file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
      ResponseInputImage: { image_url: `data:image/png;base64,${PNG}` },
      ResponseInputImageContent: { image_url: `data:image/png;base64,${PNG}` },
      'ResponseInputItem.ToolSearchCall': { call_id: 'call_1', execution: 'client' },
      ResponseToolSearchOutputItemParam: { call_id: 'call_1', execution: 'client' },
      ToolSearchTool: { execution: 'client' },
    },
    whole: (request, tools) => ({
      ...request,
      input: [
        { role: 'user', content: 'hi' },
        ...(tools ? [{ type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }] : []),
        ...(typeof request['input'] === 'string'
          ? [{ role: 'user', content: request['input'] }]
          : listOf(request['input'])),
        { role: 'user', content: 'next' },
      ],
      ...withTools(request, tools, { type: 'function', name: 'look', parameters: schema, strict: false }),
    }),
  },
  'anthropic-messages': {
    files: ['@anthropic-ai/sdk/resources/messages/messages.d.ts'],
    roots: { '': 'MessageCreateParamsBase' },
    hints: {
      tool_use_id: 'call_1',
      max_tokens: 9_000,
      budget_tokens: 2_000,
      media_type: 'image/png',
      data: PNG,
      input: { query: 'zqquery' },
      input_schema: schema,
      schema,
    },
    needed: { ToolChoiceTool: { name: 'look' } },
    whole: (request, tools) => ({
      ...request,
      messages: [
        { role: 'user', content: 'hi' },
        ...(tools
          ? [{ role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }] }]
          : []),
        ...listOf(request['messages']).map(withRole),
        { role: 'user', content: 'next' },
      ],
      ...withTools(request, tools, { name: 'look', input_schema: schema }),
    }),
  },
  gemini: {
    files: ['@google/genai/dist/genai.d.ts'],
    roots: {
      contents: 'Content',
      systemInstruction: 'Content',
      generationConfig: 'GenerationConfig',
      tools: 'Tool',
      toolConfig: 'ToolConfig',
      safetySettings: 'SafetySetting',
    },
    hints: {
      mimeType: 'image/png',
      data: PNG,
      fileUri: 'https://a.test/a.png',
      parameters: schema,
      parametersJsonSchema: schema,
      responseSchema: schema,
      responseJsonSchema: schema,
      role: 'user',
      mode: 'ANY',
      thinkingLevel: 'HIGH',
      maxItems: '3',
      maxLength: '3',
      maxProperties: '3',
      minItems: '1',
      minLength: '1',
      minProperties: '1',
      maximum: 3,
      minimum: 1,
    },
    needed: {
      Schema: { type: 'OBJECT', properties: { zq: { type: 'STRING' } } },
      FunctionResponsePart: { inlineData: { mimeType: 'image/png', data: PNG } },
      FunctionCall: { name: 'look' },
      FunctionResponse: { name: 'look', response: { output: 'zqanswer' } },
      FunctionDeclaration: { name: 'zqfunction' },
      Blob_2: { mimeType: 'image/png', data: PNG },
      FunctionResponseBlob: { mimeType: 'image/png', data: PNG },
      FileData: { mimeType: 'image/png', fileUri: 'https://a.test/a.png' },
      FunctionResponseFileData: { mimeType: 'image/png', fileUri: 'https://a.test/a.png' },
    },
    whole: (request, tools) => ({
      ...request,
      contents: [
        { role: 'user', parts: [{ text: 'hi' }] },
        ...(tools
          ? [{ role: 'model', parts: [{ functionCall: { id: 'call_1', name: 'look', args: {} } }] }]
          : []),
        ...(request['contents'] === undefined ? [] : listOf(request['contents']).map(withRole)),
        { role: 'user', parts: [{ text: 'next' }] },
      ],
      ...withTools(request, tools, { functionDeclarations: [{ name: 'look', parameters: schema }] }),
    }),
  },
  ollama: {
    files: ['ollama/dist/browser.d.ts'],
    roots: { '': 'ChatRequest' },
    hints: {
      role: 'user',
      num_predict: 900,
      images: [PNG],
      parameters: schema,
      stop: ['zqstop'],
      think: 'high',
      format: schema,
    },
    needed: { Tool: { type: 'function' }, ToolCall: { function: { name: 'look', arguments: {} } } },
    whole: (request, tools) => ({
      ...request,
      messages: [
        { role: 'user', content: 'hi' },
        ...(tools
          ? [{ role: 'assistant', content: '', tool_calls: [{ function: { name: 'look', arguments: {} } }] }]
          : []),
        ...listOf(request['messages']),
        { role: 'user', content: 'next' },
      ],
      ...withTools(request, tools, { type: 'function', function: { name: 'look', parameters: schema } }),
    }),
  },
};

/** Of a message that holds what only one side writes, that this side wrote it. */
function withRole(message: unknown): unknown {
  const said = objectOf(message);
  const parts = [...listOf(said['content']), ...listOf(said['parts'])].map(objectOf);
  const has = (names: ReadonlySet<string>) =>
    parts.some((part) => [textOf(part['type']), ...Object.keys(part)].some((name) => names.has(name)));
  if (has(ofModels)) return { ...said, role: said['parts'] === undefined ? 'assistant' : 'model' };
  return has(ofUsers) ? { ...said, role: 'user' } : message;
}

const ofModels: ReadonlySet<string> = new Set([
  'tool_use',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'web_search_tool_result',
  'functionCall',
  'thought',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]);
const ofUsers: ReadonlySet<string> = new Set(['tool_result', 'document', 'image', 'functionResponse']);

function withTools(request: JsonObject, tools: boolean, tool: JsonObject): JsonObject {
  return tools ? { tools: [...listOf(request['tools']), tool] } : {};
}

/** Every member that the vendor's SDK declares for a request of the format, each in two requests that differ in it alone. */
export function declaredCases(format: Conversing, tools: boolean): MemberCase[] {
  const { files, hints, needed, roots, whole } = sources[format];
  const types = new DeclaredTypes(files);
  const cases = new MemberCases({ types, hints, needed });
  return Object.entries(roots).flatMap(([at, name]) =>
    cases.of({ kind: 'name', name, scope: '' }).map((one) => ({
      path: at === '' ? one.path : [at, ...one.path],
      kinds: one.kinds,
      with: whole(placed(at, one.with), tools),
      without: whole(placed(at, one.without), tools),
    })),
  );
}

const lists: ReadonlySet<string> = new Set(['contents', 'tools', 'safetySettings']);

function placed(at: string, value: unknown): JsonObject {
  if (at === '') return value as JsonObject;
  return { [at]: lists.has(at) ? [value] : value };
}
