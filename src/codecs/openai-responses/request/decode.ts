import { GatewayError } from '../../../lib/error.ts';
import { readOnce, type SharedSettings } from '../../adapt/shared-tools.ts';
import { objectOf, textOf } from '../../json/values.ts';
import { extraFields, flagAt, listAt, numberAt, objectAt, textAt } from '../../json/wire-check.ts';
import {
  type Conversation,
  emptyConversation,
  type OutputShape,
  type Reasoning,
  type Tool,
} from '../../model/conversation.ts';
import type { ReasoningOption, ResponsesRequest, TextFormat, TextOption } from '../wire.ts';
import { readInput } from './input-decode.ts';
import { namespacesIn, readChoice, readTools } from './tools-decode.ts';

/** Fields that are read here; all others are extras. */
const knownFields: ReadonlySet<string> = new Set<keyof ResponsesRequest>([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'top_logprobs',
  'reasoning',
  'text',
  'user',
  'safety_identifier',
  'prompt_cache_key',
  'service_tier',
  'metadata',
  'store',
  'stream',
  'stream_options',
  'previous_response_id',
  'conversation',
  'background',
  'prompt',
]);

/** A responses request (OpenAI API reference, "Create a model response") as a conversation. */
export function decodeRequest(body: ResponsesRequest, shared: SharedSettings | null = null): Conversation {
  refuseState(body);
  const input = readInput(body.input);
  const settings = readOnce(shared, () => readSettings(body));
  return {
    ...settings,
    system: [...settings.system, ...input.system],
    messages: input.messages,
    tools: withItemTools(settings.tools, input.tools),
    namespaces: { ...input.namespaces, ...settings.namespaces },
  };
}

function readSettings(body: ResponsesRequest): Conversation {
  const instructions = textAt(body, 'instructions');
  const text = objectOf<TextOption>(objectAt(body, 'text'));
  const withDefaults = { ...body, ...withoutDefaults(body) };
  const fields = extraFields(withDefaults, knownFields);
  return {
    ...emptyConversation(textOf(body.model)),
    system: instructions === null ? [] : [{ type: 'text', text: instructions }],
    tools: readTools(listAt(body, 'tools'), 'tools'),
    namespaces: namespacesIn(listAt(body, 'tools')),
    toolChoice: readChoice(body.tool_choice),
    parallelToolCalls: flagAt(body, 'parallel_tool_calls'),
    maxOutputTokens: numberAt(body, 'max_output_tokens'),
    temperature: numberAt(body, 'temperature'),
    topP: numberAt(body, 'top_p'),
    logprobs: numberAt(body, 'top_logprobs') || null,
    reasoning: readReasoning(objectAt(body, 'reasoning')),
    output: readOutput(objectAt(text, 'format', 'text.format')),
    verbosity: textAt(text, 'verbosity', 'text.verbosity'),
    userId: textAt(body, 'safety_identifier') ?? textAt(body, 'user'),
    cacheKey: textAt(body, 'prompt_cache_key'),
    serviceTier: textAt(body, 'service_tier'),
    metadata: objectAt(body, 'metadata'),
    store: flagAt(body, 'store'),
    stream: flagAt(body, 'stream') ?? false,
    includeUsage: true,
    extras: fields === null ? null : { format: 'openai-responses', fields },
  };
}

/** What answers hold anyway: reasoning to be given back, and the sources of a search. */
const included: ReadonlySet<unknown> = new Set([
  'reasoning.encrypted_content',
  'web_search_call.action.sources',
]);

/** The request without fields that ask for what every format does by default. */
function withoutDefaults(body: ResponsesRequest): ResponsesRequest {
  const include = listAt(body, 'include').filter((name) => !included.has(name));
  return {
    ...(body.truncation === 'disabled' ? { truncation: null } : {}),
    include: include.length === 0 ? null : include,
  };
}

/** The tools of items, each once: a search finds the same tools again. */
function withItemTools(tools: Tool[], itemTools: readonly Tool[]): Tool[] {
  if (itemTools.length === 0) return tools;
  const keyOf = (tool: Tool) =>
    tool.kind === 'function' || tool.kind === 'custom' ? `${tool.namespace ?? ''}\u0000${tool.name}` : tool;
  const toolKeys = new Set(tools.map(keyOf));
  const fresh = itemTools.filter((tool) => {
    const key = keyOf(tool);
    return !toolKeys.has(key) && toolKeys.add(key);
  });
  return [...tools, ...fresh];
}

/** What needs memory of earlier answers, which a translated request does not have. */
function refuseState(body: ResponsesRequest): void {
  for (const name of ['previous_response_id', 'conversation', 'prompt'] as const) {
    const value = body[name];
    if (value === undefined || value === null) continue;
    throw new GatewayError(
      'not_translatable',
      `"${name}" refers to something that the model's provider does not keep: send the whole input instead`,
      { param: name },
    );
  }
  if (body.background === true)
    throw new GatewayError('not_translatable', '"background" is only served by a provider of this format', {
      param: 'background',
    });
}

function readReasoning(reasoning: ReasoningOption | null): Reasoning | null {
  if (reasoning === null) return null;
  const effort = textAt(reasoning, 'effort', 'reasoning.effort');
  const display = textAt(reasoning, 'summary', 'reasoning.summary');
  if (effort === null && display === null) return null;
  if (effort === 'none') return { mode: 'off', effort: null, budgetTokens: null, display };
  return { mode: 'on', effort, budgetTokens: null, display };
}

function readOutput(format: TextFormat | null): OutputShape {
  switch (format?.type) {
    case 'json_object':
      return { kind: 'json' };
    case 'json_schema':
      return {
        kind: 'schema',
        name: textAt(format, 'name', 'text.format.name'),
        description: textAt(format, 'description', 'text.format.description'),
        schema: objectAt(format, 'schema', 'text.format.schema') ?? {},
        strict: flagAt(format, 'strict'),
      };
    default:
      return { kind: 'text' };
  }
}
