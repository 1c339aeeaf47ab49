import type { JsonObject } from '../../json/values.ts';
import type { ConceptNames } from '../../model/concept.ts';
import type { Conversation, Reasoning } from '../../model/conversation.ts';
import { effortOfBudget } from '../../model/effort.ts';
import { messageList } from './messages-encode.ts';
import { toolList } from './tools-encode.ts';

/** What the format calls the concepts that it can say. */
export const names: ConceptNames = {
  temperature: 'options.temperature',
  topP: 'options.top_p',
  topK: 'options.top_k',
  stop: 'options.stop',
  seed: 'options.seed',
  frequencyPenalty: 'options.frequency_penalty',
  presencePenalty: 'options.presence_penalty',
  logprobs: 'logprobs',
  reasoning: 'think',
  jsonOutput: 'format',
  schemaOutput: 'format',
  tools: 'tools',
  toolCalls: 'tool_calls',
  imageInput: 'images',
};

const OPTIONS = 'options.';

/** A conversation as a chat request. Fields that the client did not speak of are left out. */
export function encodeRequest(conversation: Conversation): JsonObject {
  const { extras, logprobs, model, reasoning, stream } = conversation;
  const own = Object.entries(extras?.format === 'ollama' ? extras.fields : {});
  const options = {
    ...optionsOf(conversation),
    ...Object.fromEntries(
      own.flatMap(([name, value]) => (name.startsWith(OPTIONS) ? [[name.slice(OPTIONS.length), value]] : [])),
    ),
  };
  const tools = toolList(conversation);
  const request: JsonObject = {
    model,
    messages: messageList(conversation),
    tools: tools.length === 0 ? null : tools,
    format: formatOf(conversation),
    think: thinkOf(reasoning),
    // The format streams when nothing is said.
    stream,
    logprobs: logprobs === null ? null : true,
    top_logprobs: logprobs === null || logprobs === 0 ? null : logprobs,
    options: Object.keys(options).length === 0 ? null : options,
    ...Object.fromEntries(own.filter(([name]) => !name.startsWith(OPTIONS))),
  };
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null));
}

function optionsOf(conversation: Conversation): JsonObject {
  const { stop } = conversation;
  const options: JsonObject = {
    num_predict: conversation.maxOutputTokens,
    temperature: conversation.temperature,
    top_p: conversation.topP,
    top_k: conversation.topK,
    stop: stop.length === 0 ? null : stop,
    seed: conversation.seed,
    frequency_penalty: conversation.frequencyPenalty,
    presence_penalty: conversation.presencePenalty,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== null));
}

function formatOf({ output }: Conversation): unknown {
  switch (output.kind) {
    case 'text':
      return null;
    case 'json':
      return 'json';
    case 'schema':
      return output.schema;
  }
}

const levels: ReadonlyMap<string, string> = new Map(
  Object.entries({
    minimal: 'low',
    low: 'low',
    medium: 'medium',
    high: 'high',
    xhigh: 'high',
    max: 'high',
  }),
);

/**
 * `think`. For a model that decides itself it is left out: those that can think do so then, and those that cannot
 * refuse the field.
 */
function thinkOf(reasoning: Reasoning | null): unknown {
  if (reasoning === null) return null;
  const { budgetTokens, effort, mode } = reasoning;
  if (mode === 'off' || effort === 'none') return false;
  const level = levels.get(effort ?? (budgetTokens === null ? '' : effortOfBudget(budgetTokens)));
  return level ?? (mode === 'adaptive' ? null : true);
}
