import { readOnce, type SharedSettings } from '../../adapt/shared-tools.ts';
import { objectOf, textOf, textOrNull } from '../../json/values.ts';
import { flagAt, listAt, numberAt, objectAt, textAt, wrong } from '../../json/wire-check.ts';
import {
  type Conversation,
  emptyConversation,
  type OutputShape,
  type Reasoning,
} from '../../model/conversation.ts';
import type {
  MessagesRequest,
  OutputConfig,
  OutputFormat,
  RequestMetadata,
  ThinkingOption,
} from '../wire.ts';
import { readContent, readMessages } from './content-decode.ts';
import { ownFields, STANDARD_ONLY } from './own-fields.ts';
import { readChoice, readTools } from './tools-decode.ts';

/** A messages request (Anthropic API reference, "Create a Message") as a conversation. */
export function decodeRequest(body: MessagesRequest, shared: SharedSettings | null = null): Conversation {
  const all = readMessages(listAt(body, 'messages'));
  const begin = all.findIndex(({ role }) => role !== 'system');
  const leading = begin === -1 ? all : all.slice(0, begin);
  const settings = readOnce(shared, () => readSettings(body));
  const led = leading.flatMap(({ parts }) => parts).filter((part) => part.type === 'text');
  return {
    ...settings,
    system: led.length === 0 ? settings.system : [...settings.system, ...led],
    messages: leading.length === 0 ? all : all.slice(leading.length),
  };
}

function readSettings(body: MessagesRequest): Conversation {
  const { choice, parallel } = readChoice(objectAt(body, 'tool_choice'));
  const outputConfig = objectOf<OutputConfig>(objectAt(body, 'output_config'));
  const fields = ownFields(body);
  const userId = objectOf<RequestMetadata>(objectAt(body, 'metadata')).user_id;
  return {
    ...emptyConversation(textOf(body.model)),
    system: readContent(body.system, 'system').filter((part) => part.type === 'text'),
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
    // `output_format` is its name in the beta of structured outputs (2025-11-13).
    output: readOutput(
      objectAt(outputConfig, 'format', 'output_config.format') ?? objectAt(body, 'output_format'),
    ),
    serviceTier: body.service_tier === STANDARD_ONLY ? 'default' : null,
    userId: textOrNull(userId),
    stream: flagAt(body, 'stream') ?? false,
    includeUsage: true,
    extras: fields === null ? null : { format: 'anthropic-messages', fields },
  };
}

function stopOf(body: MessagesRequest): string[] {
  return listAt(body, 'stop_sequences').map((stop, index) => {
    if (typeof stop !== 'string') throw wrong(`stop_sequences[${index}]`, 'a string');
    return stop;
  });
}

function readReasoning(thinking: ThinkingOption | null, effort: string | null): Reasoning | null {
  const reasoning = {
    effort,
    budgetTokens: null,
    display: thinking === null ? null : textAt(thinking, 'display', 'thinking.display'),
  };
  switch (thinking?.type) {
    case undefined:
      return effort === null ? null : { mode: 'adaptive', ...reasoning };
    case 'enabled':
      return { mode: 'on', ...reasoning, budgetTokens: numberAt(thinking ?? {}, 'budget_tokens') };
    case 'adaptive':
      return { mode: 'adaptive', ...reasoning };
    case 'disabled':
      return { mode: 'off', ...reasoning };
    default:
      // A way of thinking that came later goes along with the fields that only this format has.
      return effort === null ? null : { mode: 'adaptive', ...reasoning };
  }
}

function readOutput(format: OutputFormat | null): OutputShape {
  if (format?.type !== 'json_schema') return { kind: 'text' };
  const schema = objectAt(format, 'schema', 'output_config.format.schema') ?? {};
  return { kind: 'schema', name: null, description: null, schema, strict: null };
}
