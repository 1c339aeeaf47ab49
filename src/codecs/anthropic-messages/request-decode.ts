import { type Conversation, emptyConversation, type OutputShape, type Reasoning } from '../conversation.ts';
import { type JsonObject, objectOf, textOf } from '../values.ts';
import { extraMembers, flagAt, listAt, numberAt, objectAt, textAt, wrong } from '../wire-check.ts';
import { readContent, readMessages } from './content-decode.ts';
import { readChoice, readTools } from './tools-decode.ts';

/** Members that are read here; all others are extras. */
const known: ReadonlySet<string> = new Set([
  'model', 'messages', 'system', 'tools', 'tool_choice', 'max_tokens', 'temperature', 'top_p', 'top_k',
  'stop_sequences', 'thinking', 'output_config', 'metadata', 'service_tier', 'stream',
]); // biome-ignore format: a table

/** A messages request (Anthropic API reference, "Create a Message") as a conversation. */
export function decodeRequest(body: JsonObject): Conversation {
  const { choice, parallel } = readChoice(objectAt(body, 'tool_choice'));
  const outputConfig = objectOf(objectAt(body, 'output_config'));
  const members = extraMembers(body, known);
  const { user_id, ...metadata } = objectOf(objectAt(body, 'metadata'));
  return {
    ...emptyConversation(textOf(body['model'])),
    system: readContent(body['system'], 'system').filter((part) => part.type === 'text'),
    messages: readMessages(listAt(body, 'messages')),
    tools: readTools(listAt(body, 'tools')),
    toolChoice: choice,
    parallelToolCalls: parallel,
    maxOutputTokens: numberAt(body, 'max_tokens'),
    temperature: numberAt(body, 'temperature'),
    topP: numberAt(body, 'top_p'),
    topK: numberAt(body, 'top_k'),
    stop: stopOf(body),
    reasoning: readReasoning(
      objectAt(body, 'thinking'),
      textAt(outputConfig, 'effort', 'output_config.effort'),
    ),
    output: readOutput(objectAt(outputConfig, 'format', 'output_config.format')),
    userId: typeof user_id === 'string' ? user_id : null,
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
    serviceTier: textAt(body, 'service_tier'),
    stream: flagAt(body, 'stream') ?? false,
    includeUsage: true,
    extras: members === null ? null : { format: 'anthropic-messages', members },
  };
}

function stopOf(body: JsonObject): string[] {
  return listAt(body, 'stop_sequences').map((stop, index) => {
    if (typeof stop !== 'string') throw wrong(`stop_sequences[${index}]`, 'a string');
    return stop;
  });
}

function readReasoning(thinking: JsonObject | null, effort: string | null): Reasoning | null {
  const said = {
    effort,
    budgetTokens: null,
    display: thinking === null ? null : textAt(thinking, 'display', 'thinking.display'),
  };
  switch (thinking?.['type']) {
    case undefined:
      return effort === null ? null : { mode: 'on', ...said };
    case 'enabled':
      return { mode: 'on', ...said, budgetTokens: numberAt(objectOf(thinking), 'budget_tokens') };
    case 'adaptive':
      return { mode: 'adaptive', ...said };
    case 'disabled':
      return { mode: 'off', ...said };
    default:
      throw wrong('thinking.type', '"enabled", "adaptive" or "disabled"');
  }
}

function readOutput(format: JsonObject | null): OutputShape {
  if (format?.['type'] !== 'json_schema') return { kind: 'text' };
  const schema = objectAt(format, 'schema', 'output_config.format.schema') ?? {};
  return { kind: 'schema', name: null, description: null, schema, strict: null };
}
