import { isObject, type JsonObject, objectsIn } from './json.ts';
import type { Context } from './question.ts';
import type { Reply } from './reply.ts';
import { slicesOf, tokensOfText, wordsOf } from './tokens.ts';

/** Members that a response repeats from its request, with the value that stands for "not given". */
const repeated: Readonly<Record<string, unknown>> = {
  background: false,
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
  safety_identifier: null,
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  user: null,
};

/** The finished response with every field that Open Responses requires. */
export function responseOf(reply: Reply, request: JsonObject, context: Context): JsonObject {
  const incomplete = reply.end === 'length';
  const item = itemOf(reply, context, incomplete ? 'incomplete' : 'completed');
  const output = reply.kind === 'text' ? reply.text : reply.tool.name + reply.input;
  return {
    ...begunResponse(request, context),
    status: incomplete ? 'incomplete' : 'completed',
    completed_at: incomplete ? null : context.created,
    incomplete_details: incomplete ? { reason: 'max_output_tokens' } : null,
    output: [item],
    usage: usageOf(context.inputTokens, tokensOfText(output)),
  };
}

function begunResponse(request: JsonObject, context: Context): JsonObject {
  const echo = Object.entries(repeated).map(([name, fallback]) => [name, request[name] ?? fallback]);
  const text = isObject(request['text']) ? request['text'] : {};
  const reasoning = isObject(request['reasoning']) ? request['reasoning'] : {};
  return {
    id: context.id('resp_', 48),
    object: 'response',
    created_at: context.created,
    completed_at: null,
    status: 'in_progress',
    error: null,
    incomplete_details: null,
    model: context.model,
    output: [],
    usage: null,
    ...Object.fromEntries(echo),
    reasoning: { effort: null, summary: null, ...reasoning },
    service_tier: 'default',
    // The gateway keeps it, as for every provider that keeps none.
    store: request['store'] !== false,
    text: { format: { type: 'text' }, ...text },
    tools: objectsIn(request['tools']).map(completeTool),
  };
}

function completeTool(tool: JsonObject): JsonObject {
  if (tool['type'] !== 'function') return tool;
  return { description: null, parameters: null, strict: null, ...tool };
}

function usageOf(input: number, output: number): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + output,
  };
}

type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

/** The one item of the output; in progress it has no content yet. */
function itemOf(reply: Reply, context: Context, status: ItemStatus): JsonObject {
  const begun = status === 'in_progress';
  if (reply.kind === 'text') {
    const content = begun ? [] : [partOf(reply.text)];
    return { id: context.id('msg_', 48), type: 'message', status, role: 'assistant', content };
  }
  const { name, namespace, kind } = reply.tool;
  const input = begun ? '' : reply.input;
  const call = {
    status,
    call_id: context.id('call_', 24),
    name,
    ...(namespace === null ? {} : { namespace }),
  };
  if (kind === 'custom') return { id: context.id('ctc_', 48), type: 'custom_tool_call', ...call, input };
  return { id: context.id('fc_', 48), type: 'function_call', ...call, arguments: input };
}

function partOf(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

/** The events of a stream in order, numbered without gaps, and `[DONE]` (Open Responses, "Streaming"). */
export function responseFrames(reply: Reply, request: JsonObject, context: Context): string[] {
  const begun = begunResponse(request, context);
  const response = responseOf(reply, request, context);
  const status = reply.end === 'length' ? 'incomplete' : 'completed';
  const item = itemOf(reply, context, status);
  const events: [string, JsonObject][] = [
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ['response.output_item.added', { output_index: 0, item: itemOf(reply, context, 'in_progress') }],
    ...contentEvents(reply, { item_id: item['id'], output_index: 0 }),
    ['response.output_item.done', { output_index: 0, item }],
    [`response.${status}`, { response }],
  ];
  const frames = events.map(([type, data], sequence) => {
    const event = { type, sequence_number: sequence, ...data };
    return `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`;
  });
  frames.push('data: [DONE]\n\n');
  return frames;
}

function contentEvents(reply: Reply, place: JsonObject): [string, JsonObject][] {
  if (reply.kind === 'call') {
    const custom = reply.tool.kind === 'custom';
    const name = custom ? 'response.custom_tool_call_input' : 'response.function_call_arguments';
    const done = custom ? { input: reply.input } : { name: reply.tool.name, arguments: reply.input };
    return [
      ...slicesOf(reply.input).map((delta): [string, JsonObject] => [`${name}.delta`, { ...place, delta }]),
      [`${name}.done`, { ...place, ...done }],
    ];
  }
  const where = { ...place, content_index: 0 };
  return [
    ['response.content_part.added', { ...where, part: partOf('') }],
    ...wordsOf(reply.text).map((delta): [string, JsonObject] => [
      'response.output_text.delta',
      { ...where, delta, logprobs: [] },
    ]),
    ['response.output_text.done', { ...where, text: reply.text, logprobs: [] }],
    ['response.content_part.done', { ...where, part: partOf(reply.text) }],
  ];
}
