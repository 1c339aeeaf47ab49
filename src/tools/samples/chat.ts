import type { Json, JsonObject } from '../files/value.ts';
import { argumentsOf, draft7, draft2020, instructions, question, type Sample } from './sample.ts';

/** What a tool that speaks OpenAI's chat completions has of its own. */
interface ChatHabits {
  seenIn: string | null;
  bytes: number;
  headers: Readonly<Record<string, string>>;
  /** Beside model, messages, tools and the stream. */
  members: JsonObject;
  /** Whether the user's message is a list of parts. */
  parts: boolean;
  tools: Readonly<Record<string, JsonObject>>;
}

const openAiSdk = { 'x-stainless-lang': 'js', 'x-stainless-retry-count': '0', 'x-stainless-runtime': 'node' };
const closed = { additionalProperties: false };
const text = { type: 'string' };

/** By the tool's id. Names and schemas of the tools are of the kind that each sends. */
const habits: Readonly<Record<string, ChatHabits>> = {
  opencode: {
    seenIn: 'opencode-ai@1.18.33',
    bytes: 30_766,
    headers: {
      'user-agent': 'opencode/1.18.33',
      'x-session-affinity': 'ses_doctor',
      'x-session-id': 'ses_doctor',
    },
    members: { max_tokens: 32_000, tool_choice: 'auto' },
    parts: false,
    tools: {
      read: argumentsOf(
        { offset: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 } },
        { $schema: draft2020 },
      ),
      bash: argumentsOf({ timeout: { type: 'integer', exclusiveMinimum: 0 } }, { $schema: draft2020 }),
      webfetch: argumentsOf(
        { format: { type: 'string', enum: ['text', 'html'], default: 'text' } },
        { $schema: draft2020 },
      ),
    },
  },
  kilo: {
    seenIn: '@kilocode/cli@7.7.7',
    bytes: 50_607,
    headers: {
      'user-agent': 'Kilo-Code/7.7.7',
      'http-referer': 'https://kilocode.ai',
      'x-title': 'Kilo Code',
      'x-session-affinity': 'ses_doctor',
      'x-session-id': 'ses_doctor',
    },
    members: { max_tokens: 32_000, tool_choice: 'auto' },
    parts: true,
    tools: {
      read: argumentsOf(
        { offset: { type: 'integer', minimum: 0, maximum: 9_007_199_254_740_991 } },
        { $schema: draft2020 },
      ),
      bash: argumentsOf({ timeout: { type: 'integer', exclusiveMinimum: 0 } }, { $schema: draft2020 }),
      board_read: argumentsOf({ topic: { anyOf: [text, { type: 'null' }] } }, { $schema: draft2020 }),
    },
  },
  qwen: {
    seenIn: '@qwen-code/qwen-code@0.24.4',
    bytes: 75_931,
    headers: { ...openAiSdk, 'user-agent': 'QwenCode/0.24.4 (linux; x64)' },
    members: { max_tokens: 32_000 },
    parts: true,
    tools: {
      read_file: argumentsOf({ limit: { type: ['number', 'null'] } }),
      grep_search: argumentsOf({ limit: { type: 'integer', minimum: 1, maximum: 100 } }),
      agent: argumentsOf({
        name: { type: 'string', minLength: 1, maxLength: 64, pattern: '^[a-z-]+$' },
        work: { oneOf: [text, { type: 'array', items: text }] },
      }),
      tool_call: argumentsOf({ arguments: { type: 'object' } }, closed),
    },
  },
  copilot: {
    seenIn: '@github/copilot@1.0.102',
    bytes: 47_941,
    headers: {
      ...openAiSdk,
      'user-agent': 'OpenAI/JS 5.20.1',
      'x-initiator': 'user',
      'x-interaction-type': 'conversation-user',
    },
    members: { temperature: 0, top_p: 0.95, frequency_penalty: 0, presence_penalty: 0 },
    parts: false,
    tools: {
      view: argumentsOf({ view_range: { type: 'array', items: { type: 'number' } } }),
      grep: argumentsOf({
        paths: { anyOf: [text, { type: 'array', items: text }] },
        output: { type: 'string', enum: ['content', 'count'] },
      }),
    },
  },
  cline: {
    seenIn: 'cline@3.0.65',
    bytes: 21_792,
    headers: { 'user-agent': 'ai-sdk/openai-compatible/3.0.37' },
    members: { tool_choice: 'auto' },
    parts: false,
    tools: {
      read_files: argumentsOf(
        {
          line: { anyOf: [{ type: 'integer', exclusiveMinimum: 0, maximum: 1_000_000 }, { type: 'null' }] },
        },
        closed,
      ),
      editor: argumentsOf({ line: { type: 'integer', minimum: 1 } }, closed),
      ask_question: argumentsOf(
        {
          question: { type: 'string', minLength: 1 },
          options: { type: 'array', items: text, minItems: 2, maxItems: 5 },
        },
        { $schema: draft2020, ...closed },
      ),
    },
  },
  continue: {
    seenIn: '@continuedev/cli@1.5.47',
    bytes: 7_496,
    headers: { ...openAiSdk, 'user-agent': 'ls/JS 5.23.2' },
    members: {},
    parts: false,
    tools: { Read: argumentsOf(), AskQuestion: argumentsOf({ options: { type: 'array', items: text } }) },
  },
  droid: {
    seenIn: 'droid@0.215.0',
    bytes: 34_250,
    headers: { ...openAiSdk, 'user-agent': 'factory-cli/0.215.0' },
    members: { max_tokens: 32_000, temperature: 1 },
    parts: true,
    tools: {
      Read: argumentsOf(
        { mode: { type: 'string', enum: ['text', 'image'] } },
        { ...closed, $schema: draft7 },
      ),
      Execute: argumentsOf({ command: { type: 'string', pattern: '\\S' } }, { ...closed, $schema: draft7 }),
    },
  },
  pi: {
    seenIn: '@earendil-works/pi-coding-agent@0.87.1',
    bytes: 5_767,
    headers: { ...openAiSdk, 'user-agent': 'pi (linux; x64)' },
    members: { store: false, max_completion_tokens: 16_384 },
    parts: true,
    tools: {
      read: argumentsOf(),
      edit: argumentsOf({ edits: { type: 'array', items: { type: 'object' } } }),
    },
  },
  openclaw: {
    seenIn: 'openclaw@2026.9.6',
    bytes: 36_336,
    headers: {
      ...openAiSdk,
      'user-agent': 'OpenAI/JS 7.15.0',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    },
    members: { tool_choice: 'auto', max_completion_tokens: 8_192 },
    parts: false,
    tools: {
      read: argumentsOf({ offset: { type: 'number', minimum: 1 }, kind: { const: 'file' } }),
      exec: argumentsOf({
        command: { type: 'string', maxLength: 10_000 },
        env: { type: 'object', patternProperties: { '^.*$': text } },
      }),
      tool_search: argumentsOf({
        query: { type: 'string', minLength: 1 },
        names: { type: 'array', items: text, maxItems: 10 },
      }),
    },
  },
  omp: {
    seenIn: '@oh-my-pi/pi-coding-agent@18.2.3',
    bytes: 66_696,
    headers: { 'user-agent': 'omp/18.2.3' },
    members: { store: false, max_completion_tokens: 16_384 },
    parts: true,
    tools: {
      read: argumentsOf({ skip: { type: ['number', 'null'] } }, closed),
      hub: argumentsOf(
        {
          to: { type: 'string', minLength: 1, maxLength: 64 },
          wait: { type: 'number', exclusiveMinimum: 0 },
          limit: { type: 'integer', minimum: 1 },
        },
        closed,
      ),
      todo: argumentsOf({ items: { type: 'array', items: text, minItems: 1 } }, closed),
      task: argumentsOf({ schema: { type: 'object', additionalProperties: text } }, closed),
    },
  },
  'grok-build': {
    seenIn: '@xai-official/grok@1.0.41',
    bytes: 56_020,
    headers: {
      'user-agent': 'grok-shell/1.0.41 (linux; x86_64)',
      'x-grok-client-identifier': 'grok-shell',
      'x-grok-client-mode': 'headless',
      'x-grok-session-id': '00000000-0000-4000-8000-000000000000',
      'x-grok-turn-idx': '1',
    },
    members: {},
    parts: false,
    tools: {
      read_file: argumentsOf({ offset: { type: ['integer', 'null'], default: null } }, { $schema: draft7 }),
      monitor: argumentsOf(
        { seconds: { type: 'integer', format: 'uint64', minimum: 1, maximum: 600 } },
        { $schema: draft7 },
      ),
      use_tool: argumentsOf(
        { file: { type: 'string', minLength: 1 } },
        {
          oneOf: [
            { type: 'object', required: ['path'], not: { anyOf: [{ required: ['file'] }] } },
            { type: 'object', required: ['file'], not: { anyOf: [{ required: ['path'] }] } },
          ],
        },
      ),
    },
  },
  letta: {
    seenIn: '@letta-ai/letta-code@0.32.18',
    bytes: 102_417,
    headers: { ...openAiSdk, 'user-agent': 'pi (linux; x64)' },
    members: { store: false, max_completion_tokens: 32_000 },
    parts: true,
    tools: {
      Read: argumentsOf({}, { ...closed, $schema: draft2020 }),
      Monitor: argumentsOf(
        { seconds: { type: 'number', minimum: 1, default: 5 }, match: { type: 'string', pattern: '\\S' } },
        { ...closed, $schema: draft2020 },
      ),
      SendAgentMessage: argumentsOf({ message: { type: 'string', minLength: 1 } }, closed),
      TaskUpdate: argumentsOf(
        { metadata: { type: 'object', propertyNames: text, additionalProperties: {} } },
        { ...closed, $schema: draft2020 },
      ),
    },
  },
};

/** For tools whose requests were not recorded yet. */
const plain: ChatHabits = {
  seenIn: null,
  bytes: 30_000,
  headers: {},
  members: { tool_choice: 'auto' },
  parts: false,
  tools: { read_file: argumentsOf() },
};

/** @param id of the tool */
export function chatSample(id: string): Sample {
  const { bytes, headers, members, parts, seenIn, tools } = habits[id] ?? plain;
  const [calls = ''] = Object.keys(tools);
  const questionText = question(calls);
  const content: Json = parts ? [{ type: 'text', text: questionText }] : questionText;
  const body: JsonObject = {
    model: '<model>',
    messages: [
      { role: 'system', content: instructions },
      { role: 'user', content },
    ],
    ...members,
    tools: Object.entries(tools).map(([name, parameters]) => ({
      type: 'function',
      function: { name, description: `The tool ${name}`, parameters },
    })),
    stream: true,
    stream_options: { include_usage: true },
  };
  return { path: '/chat/completions', headers, body, bytes, calls, seenIn };
}
