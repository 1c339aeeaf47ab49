import {
  invalid,
  isObject,
  type JsonObject,
  objectsIn,
  optionalCount,
  optionalObjects,
  optionalStrings,
  requiredObjects,
  textOfContent,
  textOr,
} from './json.ts';
import type { Context, DemoTool, FormatAnswer, Question, ToolChoice } from './question.ts';
import { type Reply, replyTo } from './reply.ts';
import { slicesOf, tokensOfText, wordsOf } from './tokens.ts';

/** Anthropic messages (API reference, "Create a Message" and "Streaming messages"). */
export function answerMessages(body: JsonObject, context: Context): FormatAnswer {
  const question = readMessages(body);
  const reply = replyTo(question, context.model);
  if (context.stream) return { kind: 'stream', frames: messageFrames(reply, context) };
  const message = {
    ...messageBase(context),
    content: contentOf(reply, context),
    ...endOf(reply),
    usage: usageOf(context, outputTokens(reply)),
  };
  return { kind: 'json', body: message };
}

function readMessages(body: JsonObject): Question {
  const messages = requiredObjects(body, 'messages');
  const maxTokens = optionalCount(body, 'max_tokens', 0);
  if (maxTokens === null) throw invalid('max_tokens: this field is required', 'max_tokens');
  let userText = '';
  messages.forEach(({ role, content }, index) => {
    if (typeof role !== 'string')
      throw invalid(`messages.${index}.role must be a string`, `messages.${index}.role`);
    const text = withoutReminders(textOfContent(content, `messages.${index}.content`));
    if (role === 'user' && text !== '') userText = text;
  });
  return {
    userText,
    toolResult: readToolResult(messages),
    tools: readTools(body),
    choice: readChoice(body['tool_choice']),
    outputSchema: readOutputSchema(body),
    maxTokens,
    stops: optionalStrings(body, 'stop_sequences'),
  };
}

/** What tools answered since the user last said something, or null. */
function readToolResult(messages: readonly JsonObject[]): string | null {
  for (const { role, content } of messages.toReversed()) {
    if (role !== 'user') continue;
    const results = objectsIn(content).filter(({ type }) => type === 'tool_result');
    if (results.length > 0) {
      return results
        .map((result) => textOfContent(result['content'], 'messages.content.tool_result.content'))
        .join('\n');
    }
    if (withoutReminders(textOfContent(content, 'messages.content')) !== '') return null;
  }
  return null;
}

/**
 * What the user wrote, without what Claude Code puts around it and sends on its own, such as "an agent has
 * finished". Taken for the user's words, each such message would start the next call of a tool, without end.
 */
function withoutReminders(text: string): string {
  const [open, close] = ['<system-reminder>', '</system-reminder>'];
  let partial = '';
  let at = 0;
  for (;;) {
    const start = text.indexOf(open, at);
    const end = start === -1 ? -1 : text.indexOf(close, start);
    if (end === -1) break;
    partial += text.slice(at, start);
    at = end + close.length;
    while (text[at] === '\n') at += 1;
  }
  return partial + text.slice(at);
}

/** The tools that the client runs and describes by a schema; those that a vendor runs or defines are left alone. */
function readTools(body: JsonObject): DemoTool[] {
  const tools: DemoTool[] = [];
  for (const { type, name, input_schema: schema, defer_loading: deferred } of optionalObjects(
    body,
    'tools',
  )) {
    if (typeof name !== 'string') {
      if (type === undefined || type === 'custom') throw invalid('tools: each tool needs a name', 'tools');
      continue;
    }
    if (isObject(schema) && deferred !== true)
      tools.push({ name, namespace: null, kind: 'function', schema });
  }
  return tools;
}

function readChoice(choice: unknown): ToolChoice {
  if (!isObject(choice)) return { kind: 'auto' };
  if (choice['type'] === 'none') return { kind: 'none' };
  if (choice['type'] === 'any') return { kind: 'required' };
  if (choice['type'] === 'tool') return { kind: 'one', name: textOr(choice['name'], '') };
  return { kind: 'auto' };
}

function readOutputSchema(body: JsonObject): JsonObject | null {
  const config = body['output_config'];
  const format = isObject(config) ? config['format'] : body['output_format'];
  return isObject(format) && isObject(format['schema']) ? format['schema'] : null;
}

function messageBase(context: Context): JsonObject {
  return {
    id: context.id('msg_', 24),
    type: 'message',
    role: 'assistant',
    model: context.model,
    container: null,
    diagnostics: null,
    stop_details: null,
  };
}

function contentOf(reply: Reply, context: Context): JsonObject[] {
  if (reply.kind === 'text')
    return reply.text === '' ? [] : [{ type: 'text', text: reply.text, citations: null }];
  // Input that was cut is not JSON any more; the API shows it as an empty object.
  const input: unknown = reply.end === 'call' ? JSON.parse(reply.input) : {};
  return [toolUse(reply.tool, context, input)];
}

function toolUse(tool: DemoTool, context: Context, input: unknown): JsonObject {
  const id = context.id('toolu_', 24);
  return { type: 'tool_use', id, name: tool.name, input, caller: { type: 'direct' } };
}

function endOf(reply: Reply): JsonObject {
  switch (reply.end) {
    case 'natural':
      return { stop_reason: 'end_turn', stop_sequence: null };
    case 'stop':
      return { stop_reason: 'stop_sequence', stop_sequence: reply.stop };
    case 'length':
      return { stop_reason: 'max_tokens', stop_sequence: null };
    case 'call':
      return { stop_reason: 'tool_use', stop_sequence: null };
  }
}

function outputTokens(reply: Reply): number {
  return tokensOfText(reply.kind === 'text' ? reply.text : reply.tool.name + reply.input);
}

function usageOf({ inputTokens }: Context, output: number): JsonObject {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    output_tokens: output,
    output_tokens_details: null,
    server_tool_use: null,
    service_tier: 'standard',
    inference_geo: null,
    speed: null,
  };
}

function messageFrames(reply: Reply, context: Context): string[] {
  const message = {
    ...messageBase(context),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf(context, 1),
  };
  const frames = [frame({ type: 'message_start', message })];
  const isEmpty = reply.kind === 'text' && reply.text === '';
  if (!isEmpty) frames.push(...blockFrames(reply, context));
  const usage = {
    input_tokens: context.inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens(reply),
    server_tool_use: null,
  };
  frames.push(
    frame({ type: 'message_delta', delta: { ...endOf(reply), container: null, stop_details: null }, usage }),
  );
  frames.push(frame({ type: 'message_stop' }));
  return frames;
}

function blockFrames(reply: Reply, context: Context): string[] {
  const block =
    reply.kind === 'text' ? { type: 'text', text: '', citations: null } : toolUse(reply.tool, context, {});
  const deltas =
    reply.kind === 'text'
      ? wordsOf(reply.text).map((text) => ({ type: 'text_delta', text }))
      : slicesOf(reply.input).map((json) => ({ type: 'input_json_delta', partial_json: json }));
  return [
    frame({ type: 'content_block_start', index: 0, content_block: block }),
    frame({ type: 'ping' }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index: 0, delta })),
    frame({ type: 'content_block_stop', index: 0 }),
  ];
}

function frame(event: JsonObject & { type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
