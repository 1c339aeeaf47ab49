import { GatewayError } from '../../lib/error.ts';
import {
  invalid,
  isObject,
  type JsonObject,
  objectsIn,
  optionalCount,
  optionalObjects,
  textOfContent,
  textOr,
} from './json.ts';
import type { Context, DemoTool, FormatAnswer, Question, ToolChoice } from './question.ts';
import { replyTo } from './reply.ts';
import { responseFrames, responseOf } from './responses-encode.ts';

/**
 * OpenAI responses (API reference, "Create a model response"; Open Responses). Keeps no state: the gateway has put in
 * what a response continues where it is stored, so that an id which arrives here is unknown.
 * @throws GatewayError `invalid_request`, `previous_response_not_found`
 */
export function answerResponses(body: JsonObject, context: Context): FormatAnswer {
  const previous = textOr(body['previous_response_id'], '');
  if (previous !== '')
    throw new GatewayError(
      'previous_response_not_found',
      `The response "${previous.slice(0, 200)}" was not found: send the whole conversation as "input" instead`,
      { param: 'previous_response_id' },
    );
  const reply = replyTo(readResponses(body), context.model);
  if (context.stream) return { kind: 'stream', frames: responseFrames(reply, body, context) };
  return { kind: 'json', body: responseOf(reply, body, context) };
}

function readResponses(body: JsonObject): Question {
  const items = readInput(body['input']);
  let userText = '';
  let results: string[] | null = null;
  for (const [index, item] of items.entries()) {
    const type = textOr(item['type'], 'message');
    if (type === 'message') {
      const text = textOfContent(item['content'], `input[${index}].content`);
      const role = item['role'];
      if (role === 'user' && text !== '') userText = text;
      if (role !== 'system' && role !== 'developer') results = null;
    } else if (type.endsWith('_output')) {
      results = [...(results ?? []), outputText(item['output'])];
    }
  }
  const allowed = readAllowed(body['tool_choice']);
  const tools = readTools(optionalObjects(body, 'tools'), null);
  return {
    userText,
    toolResult: results?.join('\n') ?? null,
    tools: allowed === null ? tools : tools.filter(({ name }) => allowed.includes(name)),
    choice: readChoice(body['tool_choice']),
    outputSchema: readOutputSchema(body['text']),
    maxTokens: optionalCount(body, 'max_output_tokens', 1),
    stops: [],
  };
}

function readInput(input: unknown): JsonObject[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (Array.isArray(input) && input.length > 0 && input.every(isObject)) return input;
  throw invalid('input must be a string or a non-empty array of items', 'input');
}

/** What a tool gave back: text, parts, or a structure of its own (shell output). */
function outputText(output: unknown): string {
  if (typeof output === 'string') return output;
  const text = Array.isArray(output) ? textOfContent(output, 'input.output') : '';
  return text === '' && output !== undefined && output !== null ? JSON.stringify(output) : text;
}

/** Functions and custom tools, also those in a namespace. Tools that the vendor runs or defines are left alone. */
function readTools(declared: readonly JsonObject[], namespace: string | null): DemoTool[] {
  const tools: DemoTool[] = [];
  for (const tool of declared) {
    const { type, name } = tool;
    if (tool['defer_loading'] === true) continue;
    if (type === 'namespace' && namespace === null) {
      tools.push(...readTools(objectsIn(tool['tools']), textOr(name, '')));
    } else if (type === 'function' || type === 'custom') {
      if (typeof name !== 'string') throw invalid(`tools: each ${type} tool needs a name`, 'tools');
      const schema = isObject(tool['parameters']) ? tool['parameters'] : {};
      tools.push({ name, namespace, kind: type, schema });
    }
  }
  return tools;
}

function readAllowed(choice: unknown): string[] | null {
  if (!isObject(choice) || choice['type'] !== 'allowed_tools') return null;
  return objectsIn(choice['tools']).map(({ name }) => textOr(name, ''));
}

function readChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return { kind: choice };
  if (!isObject(choice)) return { kind: 'auto' };
  const isNamed = choice['type'] === 'function' || choice['type'] === 'custom';
  return isNamed ? { kind: 'one', name: textOr(choice['name'], '') } : { kind: 'auto' };
}

function readOutputSchema(text: unknown): JsonObject | null {
  const format = isObject(text) ? text['format'] : null;
  if (!isObject(format)) return null;
  if (format['type'] === 'json_object') return { type: 'object', required: ['text'] };
  return isObject(format['schema']) ? format['schema'] : null;
}
