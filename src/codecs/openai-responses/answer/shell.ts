import { type JsonObject, listOf, objectOf } from '../../json/values.ts';
import type { AnswerContext } from '../../model/stream-part.ts';
import type { ResponsesRequest, ResponsesTool } from '../wire.ts';

/** Every field that a response must have (Open Responses, `ResponseResource`), at its default. */
export const emptyResponse = {
  object: 'response',
  created_at: 0,
  completed_at: null,
  status: 'failed',
  background: false,
  incomplete_details: null,
  error: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  model: '',
  output: [],
  parallel_tool_calls: true,
  presence_penalty: 0,
  frequency_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  reasoning: null,
  safety_identifier: null,
  service_tier: 'default',
  store: false,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: 1,
  truncation: 'disabled',
  usage: null,
} as const;

/** Fields of a request that its response repeats. */
const echoed = [
  'instructions',
  'max_output_tokens',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'previous_response_id',
  'prompt_cache_key',
  'safety_identifier',
  'service_tier',
  'store',
  'temperature',
  'tool_choice',
  'top_logprobs',
  'top_p',
  'truncation',
] as const;

/** A function with all its fields, those that were not given as null (Open Responses, `FunctionTool`). */
function completeTool(tool: unknown): unknown {
  const { description = null, parameters = null, strict = null, type } = objectOf<ResponsesTool>(tool);
  return type === 'function' ? { ...objectOf(tool), description, parameters, strict } : tool;
}

/** A response without output: what the format requires, and what it repeats of the request. */
export function responseShell({ model, request, startedAt }: AnswerContext): JsonObject {
  const { reasoning, text, tools }: ResponsesRequest = request;
  const repeated = echoed.filter((name) => request[name] !== undefined && request[name] !== null);
  return {
    ...emptyResponse,
    ...Object.fromEntries(repeated.map((name) => [name, request[name]])),
    created_at: Math.floor(startedAt / 1000),
    model,
    tools: listOf(tools).map(completeTool),
    reasoning: { effort: null, summary: null, ...objectOf(reasoning) },
    text: { ...emptyResponse.text, ...objectOf(text) },
  };
}
