import { GatewayError } from '../../../lib/error.ts';
import { isObject, type JsonObject, textOf } from '../../json/values.ts';
import {
  extraFields,
  flagAt,
  listAt,
  numberAt,
  objectAt,
  textAt,
  textsAt,
  wrong,
} from '../../json/wire-check.ts';
import {
  type Conversation,
  emptyConversation,
  type FunctionTool,
  type OutputShape,
  type Reasoning,
} from '../../model/conversation.ts';
import type { OllamaRequest, OptionPaths, ToolDescription, ToolOffer } from '../wire.ts';
import { readMessages } from './messages-decode.ts';

/** Fields that are read here, those of `options` by their path; all others are extras. */
const knownFields: ReadonlySet<string> = new Set<keyof (OllamaRequest & OptionPaths)>([
  'model',
  'messages',
  'tools',
  'stream',
  'format',
  'think',
  'logprobs',
  'top_logprobs',
  'options',
  'options.num_predict',
  'options.temperature',
  'options.top_p',
  'options.top_k',
  'options.stop',
  'options.seed',
  'options.frequency_penalty',
  'options.presence_penalty',
]);

/** A chat request (API reference, "Generate a chat message") as a conversation. */
export function decodeRequest(request: OllamaRequest): Conversation {
  const body: OllamaRequest & OptionPaths = { ...request, ...pathsOf(objectAt(request, 'options') ?? {}) };
  const messages = listAt(body, 'messages');
  if (messages.length === 0) throw loadRequest();
  const fields = extraFields(body, knownFields);
  return {
    ...emptyConversation(textOf(body.model)),
    ...readMessages(messages),
    tools: listAt(body, 'tools').map((tool, index) => readTool(tool, `tools[${index}]`)),
    maxOutputTokens: positive(numberAt(body, 'options.num_predict')),
    temperature: numberAt(body, 'options.temperature'),
    topP: numberAt(body, 'options.top_p'),
    topK: positive(numberAt(body, 'options.top_k')),
    stop: textsAt(body, 'options.stop'),
    seed: seedOf(numberAt(body, 'options.seed')),
    frequencyPenalty: numberAt(body, 'options.frequency_penalty'),
    presencePenalty: numberAt(body, 'options.presence_penalty'),
    logprobs: flagAt(body, 'logprobs') === true ? (numberAt(body, 'top_logprobs') ?? 0) : null,
    reasoning: readThink(body.think),
    output: readFormat(body.format),
    stream: flagAt(body, 'stream') ?? true,
    includeUsage: true,
    extras: fields === null ? null : { format: 'ollama', fields },
  };
}

/** The options as fields by their path, which is how errors and dropped fields name them. */
function pathsOf(options: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(options).map(([name, value]) => [`options.${name}`, value]));
}

/** Without messages the vendor loads the model, or unloads it; there is none to load here. */
function loadRequest(): GatewayError {
  return new GatewayError(
    'invalid_request',
    '"messages" is empty, which asks Ollama to load a model: the model of this request is not loaded here, so send a message',
    { param: 'messages' },
  );
}

/** Bounds that are 0 or less say that there is no bound (Modelfile reference, `num_predict`). */
function positive(value: number | null): number | null {
  return value !== null && value > 0 ? value : null;
}

/** The vendor takes a negative seed for chance. */
function seedOf(value: number | null): number | null {
  return value !== null && value >= 0 ? value : null;
}

function readTool(value: unknown, path: string): FunctionTool {
  if (!isObject(value)) throw wrong(path, 'an object');
  const tool: ToolOffer = value;
  if ((textAt(tool, 'type', `${path}.type`) ?? 'function') !== 'function')
    throw wrong(`${path}.type`, '"function"');
  const definition: ToolDescription = objectAt(tool, 'function', `${path}.function`) ?? {};
  const name = textAt(definition, 'name', `${path}.function.name`) ?? '';
  if (name === '') throw wrong(`${path}.function.name`, 'the name of a tool');
  return {
    kind: 'function',
    name,
    description: textAt(definition, 'description', `${path}.function.description`),
    schema: objectAt(definition, 'parameters', `${path}.function.parameters`),
    strict: null,
  };
}

const efforts: ReadonlySet<unknown> = new Set(['minimal', 'low', 'medium', 'high', 'xhigh', 'max']);

/** `think`: whether to, or how much. */
function readThink(think: unknown): Reasoning | null {
  if (think === undefined || think === null || think === '') return null;
  const unspecified = { budgetTokens: null, display: null };
  if (think === false) return { mode: 'off', effort: null, ...unspecified };
  if (think === true) return { mode: 'on', effort: null, ...unspecified };
  if (!efforts.has(think)) throw wrong('think', 'true, false, "low", "medium" or "high"');
  return { mode: 'on', effort: textOf(think), ...unspecified };
}

/** `format`: the word for any JSON, or a schema. */
function readFormat(format: unknown): OutputShape {
  if (format === undefined || format === null || format === '') return { kind: 'text' };
  if (format === 'json') return { kind: 'json' };
  if (!isObject(format)) throw wrong('format', '"json" or a JSON Schema');
  return { kind: 'schema', name: null, description: null, schema: format, strict: null };
}
