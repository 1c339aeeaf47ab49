import type { JsonObject } from '../../../src/codecs/json/values.ts';

/** One request of a session, as its tool sends it. */
export interface SessionRequest {
  path: string;
  body: JsonObject;
}

/** How a tool asks for one step after the other of the same work. */
export interface AgentSession {
  tool: string;
  /** The steps, each with all that was said before. `key` is the gateway's, for paths that hold it. */
  steps(model: string, key: string, rounds?: readonly Round[]): SessionRequest[];
  /** What the tool asks besides, in a conversation of its own: a title, what to remember. */
  asides(model: string, key: string): SessionRequest[];
}

export interface Call {
  id: string;
  name: string;
  input: JsonObject;
  result: string;
}

/** What a model said, and what came back; `next` is what the user said where it called nothing. */
export interface Round {
  said: string;
  calls: Call[];
  next: string;
}

const words = 'the session file keeps each parsed row under a stable key so that readers find it again'.split(
  ' ',
);

/** So many characters that look like prose, the same ones for the same seed. */
function prose(length: number, seed: number): string {
  let text = '';
  for (let index = seed; text.length < length; index += 1)
    text += `${words[(index * 7 + seed) % words.length]}${index % 11 === 0 ? `,\n${index} ` : ' '}`;
  return text.slice(0, length);
}

const toolNames = [
  'read_file',
  'write_file',
  'edit',
  'glob',
  'grep',
  'run_command',
  'list_directory',
  'web_fetch',
  'todo_write',
  'task',
  'ask_user',
  'diagnostics',
];
const schema = {
  type: 'object',
  properties: {
    path: { type: 'string', description: prose(120, 3) },
    pattern: { type: 'string', description: prose(90, 4) },
    limit: { type: 'integer', description: prose(60, 5) },
  },
  required: ['path'],
};
const tools = toolNames.map((name, index) => ({ name, description: prose(700, index + 20), schema }));
const system = prose(14_000, 1);
const task = 'Find out why the session file grows without bound, and mend it.';

export function call(round: number, index: number, length: number): Call {
  const name = toolNames[(round + index) % toolNames.length] ?? 'read_file';
  const input = { path: `src/part-${round}/file-${index}.ts`, limit: 200 };
  return { id: `call_${round}_${index}`, name, input, result: prose(length, round * 31 + index) };
}

/** Twenty rounds: mostly one or two calls, once a dozen at the same time, twice a question to the user. */
const usualRounds: readonly Round[] = Array.from({ length: 20 }, (_, round) => {
  const count = round === 6 ? 14 : round === 9 || round === 15 ? 0 : 1 + (round % 2);
  return {
    said: round % 3 === 0 ? prose(300, round + 50) : '',
    calls: Array.from({ length: count }, (_, index) => call(round, index, 400 + ((round * 977) % 4_000))),
    next: count === 0 ? prose(160, round + 80) : '',
  };
}).map((round) =>
  round.calls.length === 0 && round.said === '' ? { ...round, said: prose(200, 9) } : round,
);

/** All requests of a session whose conversation grows by what `of` makes of each round. */
function growing<Entry>(
  rounds: readonly Round[],
  first: readonly Entry[],
  of: (round: Round) => Entry[],
): Entry[][] {
  const all = [...first];
  const states = [[...all]];
  for (const round of rounds) {
    all.push(...of(round));
    states.push([...all]);
  }
  return states;
}

const functions = tools.map(({ description, name, schema: parameters }) => ({
  type: 'function',
  function: { name, description, parameters },
}));
const chatCall = ({ id, input, name }: Call) => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(input) },
});

/** Two requests at once: the title is asked for without tools. */
const openCode: AgentSession = {
  tool: 'OpenCode',
  steps: (model, _, rounds = usualRounds) =>
    growing<JsonObject>(
      rounds,
      [
        { role: 'system', content: system },
        { role: 'user', content: task },
      ],
      ({ calls, next, said }) => [
        {
          role: 'assistant',
          content: said,
          ...(calls.length === 0 ? {} : { tool_calls: calls.map(chatCall) }),
        },
        ...calls.map(({ id, result }) => ({ role: 'tool', tool_call_id: id, content: result })),
        ...(next === '' ? [] : [{ role: 'user', content: next }]),
      ],
    ).map((messages) => chatRequest({ model, messages, tools: functions, tool_choice: 'auto' })),
  asides: (model) => [
    chatRequest({
      model,
      messages: [
        { role: 'system', content: prose(3_000, 2) },
        { role: 'user', content: `Generate a title for this conversation:\n${task}` },
      ],
    }),
  ],
};

/** Results are lists of parts, an answer without words is an empty text, and reasoning comes back as it went out. */
const qwenCode: AgentSession = {
  tool: 'Qwen Code',
  steps: (model, _, rounds = usualRounds) =>
    growing<JsonObject>(
      rounds,
      [
        { role: 'system', content: system },
        {
          role: 'user',
          content: [
            { type: 'text', text: prose(1_500, 6) },
            { type: 'text', text: task },
          ],
        },
      ],
      ({ calls, next, said }) => [
        {
          role: 'assistant',
          content: said,
          reasoning_content: prose(200, 12),
          ...(calls.length === 0 ? {} : { tool_calls: calls.map(chatCall) }),
        },
        ...calls.map(({ id, result }) => ({
          role: 'tool',
          tool_call_id: id,
          content: [{ type: 'text', text: result }],
        })),
        ...(next === '' ? [] : [{ role: 'user', content: [{ type: 'text', text: next }] }]),
      ],
    ).map((messages) => chatRequest({ model, messages, tools: functions })),
  asides: (model) => [
    chatRequest({
      model,
      messages: [
        { role: 'system', content: `Managed memory has TWO directories. ${prose(6_000, 7)}` },
        { role: 'user', content: prose(1_000, 8) },
      ],
      tools: functions.slice(0, 6),
    }),
  ],
};

function chatRequest(body: JsonObject): SessionRequest {
  return {
    path: '/v1/chat/completions',
    body: { ...body, stream: true, stream_options: { include_usage: true } },
  };
}

/** Instructions as a message of the developer, reasoning that only OpenAI can read, a key for the cache. */
const codex: AgentSession = {
  tool: 'Codex',
  steps: (model, _, rounds = usualRounds) =>
    growing<JsonObject>(
      rounds,
      [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: system }] },
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_text', text: '<environment_context>linux</environment_context>' }],
        },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: task }] },
      ],
      ({ calls, next, said }) => [
        { type: 'reasoning', summary: [], content: null, encrypted_content: 'gAAAAABsealed' },
        ...(said === ''
          ? []
          : [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said }] }]),
        ...calls.map(({ id, input, name }) => ({
          type: 'function_call',
          call_id: id,
          name,
          arguments: JSON.stringify(input),
        })),
        ...calls.map(({ id, result }) => ({ type: 'function_call_output', call_id: id, output: result })),
        ...(next === ''
          ? []
          : [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: next }] }]),
      ],
    ).map((input) => ({
      path: '/v1/responses',
      body: {
        model,
        input,
        tool_choice: 'auto',
        parallel_tool_calls: true,
        store: false,
        stream: true,
        tools: tools.map(({ schema: parameters, ...tool }) => ({
          type: 'function',
          strict: false,
          parameters,
          ...tool,
        })),
        reasoning: { effort: 'medium', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        prompt_cache_key: 'thread-1',
      },
    })),
  asides: () => [],
};

/** Calls without ids; a classifier decides on the model before the first step. */
const geminiCli: AgentSession = {
  tool: 'Gemini CLI',
  steps: (model, _, rounds = usualRounds) =>
    growing<JsonObject>(
      rounds,
      [{ role: 'user', parts: [{ text: prose(2_000, 10) }, { text: task }] }],
      ({ calls, next, said }) => [
        {
          role: 'model',
          parts: [
            ...(said === '' ? [] : [{ text: said }]),
            ...calls.map(({ input: args, name }) => ({ functionCall: { name, args } })),
          ],
        },
        {
          role: 'user',
          parts: [
            ...calls.map(({ name, result }) => ({
              functionResponse: { name, response: { output: result } },
            })),
            ...(next === '' ? [] : [{ text: next }]),
          ],
        },
      ],
    ).map((contents) => ({
      path: `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
      body: {
        contents,
        systemInstruction: { role: 'user', parts: [{ text: system }] },
        tools: [
          {
            functionDeclarations: tools.map(({ schema: parametersJsonSchema, ...tool }) => ({
              parametersJsonSchema,
              ...tool,
            })),
          },
        ],
        generationConfig: {
          temperature: 1,
          topP: 0.95,
          thinkingConfig: { includeThoughts: true, thinkingBudget: 8192 },
        },
      },
    })),
  asides: (model) => [
    {
      path: `/v1beta/models/${model}:generateContent`,
      body: {
        contents: [{ role: 'user', parts: [{ text: task }] }],
        systemInstruction: { role: 'user', parts: [{ text: prose(4_000, 11) }] },
        generationConfig: {
          responseMimeType: 'application/json',
          responseJsonSchema: { type: 'object', properties: { complexity_score: { type: 'integer' } } },
        },
      },
    },
  ],
};

/** Arguments as objects, results by name, and a message of the user with the surroundings behind the results. */
const openClaw: AgentSession = {
  tool: 'OpenClaw',
  steps: (model, key, rounds = usualRounds) =>
    growing<JsonObject>(
      rounds,
      [
        { role: 'system', content: system },
        { role: 'user', content: task },
      ],
      ({ calls, next, said }) => [
        {
          role: 'assistant',
          content: said,
          ...(calls.length === 0
            ? {}
            : { tool_calls: calls.map(({ input, name }) => ({ function: { name, arguments: input } })) }),
        },
        ...calls.map(({ name, result }) => ({ role: 'tool', tool_name: name, content: result })),
        { role: 'user', content: next === '' ? 'Context: the working tree is clean.' : next },
      ],
    ).map((messages) => ({
      path: `/api/v1/editor/${key}/api/chat`,
      body: { model, messages, tools: functions, stream: true, think: true, options: { num_ctx: 65_536 } },
    })),
  asides: () => [],
};

export const agentSessions: readonly AgentSession[] = [openCode, qwenCode, codex, geminiCli, openClaw];
