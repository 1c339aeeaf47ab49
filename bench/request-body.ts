import { type AgentTurn, agentTurn, question, type Tool } from './agent-turn.ts';
import { type Format, type Plan, planName, requestSizes } from './plan.ts';

/** The request of a plan, `requestSizes` bytes long when `model` is the plan's own name. */
export function requestBody(plan: Plan, model: string): Buffer {
  const bytes = requestSizes[plan.request];
  const write = (turn: AgentTurn, name: string) =>
    JSON.stringify(withModel(plan, name, writers[plan.client](turn, plan.kind === 'sse')));
  const length = (exchanges: number) => Buffer.byteLength(write(agentTurn(bytes, exchanges), planName(plan)));
  const bare = length(0);
  const each = (length(8) - bare) / 8;
  let exchanges = Math.max(0, Math.floor((bytes - bare - 64) / each));
  while (exchanges > 0 && length(exchanges) + 64 > bytes) exchanges -= 1;
  const turn = agentTurn(bytes, exchanges);
  return Buffer.from(write({ ...turn, question: question(bytes - length(exchanges)) }, model));
}

function withModel({ client, modelAt }: Plan, model: string, members: object): object {
  if (client === 'gemini') return members;
  return modelAt === 'first' ? { model, ...members } : { ...members, model };
}

/** The members beside the model, in the order in which the format's tools send them. */
const writers: Readonly<Record<Format, (turn: AgentTurn, stream: boolean) => object>> = {
  chat: (turn, stream) => ({
    messages: [
      { role: 'system', content: turn.system },
      { role: 'user', content: turn.task },
      ...turn.exchanges.flatMap(({ id, input, result, tool }) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }],
        },
        { role: 'tool', tool_call_id: id, content: result },
      ]),
      { role: 'user', content: turn.question },
    ],
    ...toolsOf(turn, (tool) => ({ type: 'function', function: tool })),
    ...(stream ? { stream, stream_options: { include_usage: true } } : { temperature: 0.2 }),
  }),
  messages: (turn, stream) => ({
    max_tokens: 8_192,
    system: [{ type: 'text', text: turn.system, cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: [{ type: 'text', text: turn.task }] },
      ...turn.exchanges.flatMap(({ id, input, result, tool }) => [
        { role: 'assistant', content: [{ type: 'tool_use', id, name: tool, input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
      ]),
      { role: 'user', content: [{ type: 'text', text: turn.question }] },
    ],
    ...toolsOf(turn, ({ description, name, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    })),
    ...(stream ? { stream } : {}),
  }),
  responses: (turn, stream) => ({
    instructions: turn.system,
    input: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: turn.task }] },
      ...turn.exchanges.flatMap(({ id, input, result, tool }) => [
        { type: 'function_call', call_id: id, name: tool, arguments: JSON.stringify(input) },
        { type: 'function_call_output', call_id: id, output: result },
      ]),
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: turn.question }] },
    ],
    ...toolsOf(turn, (tool) => ({ type: 'function', ...tool, strict: false })),
    store: false,
    ...(stream ? { stream } : {}),
  }),
  gemini: (turn) => ({
    systemInstruction: { parts: [{ text: turn.system }] },
    contents: [
      { role: 'user', parts: [{ text: turn.task }] },
      ...turn.exchanges.flatMap(({ input, result, tool }) => [
        { role: 'model', parts: [{ functionCall: { name: tool, args: input } }] },
        { role: 'user', parts: [{ functionResponse: { name: tool, response: { output: result } } }] },
      ]),
      { role: 'user', parts: [{ text: turn.question }] },
    ],
    ...(turn.tools.length === 0
      ? {}
      : {
          tools: [
            {
              functionDeclarations: turn.tools.map(({ description, name, parameters }) => ({
                name,
                description,
                parametersJsonSchema: parameters,
              })),
            },
          ],
        }),
    generationConfig: { temperature: 0.2 },
  }),
};

function toolsOf(turn: AgentTurn, write: (tool: Tool) => object): object {
  return turn.tools.length === 0 ? {} : { tools: turn.tools.map(write) };
}
