import {
  invalid,
  isObject,
  type JsonObject,
  objectsIn,
  optionalCount,
  optionalFlag,
  optionalObjects,
  optionalStrings,
  requiredObjects,
  textOfContent,
  textOr,
} from './json.ts';
import type { Context, DemoTool, FormatAnswer, Question, ToolChoice } from './question.ts';
import { type Reply, replyTo } from './reply.ts';
import { slicesOf, tokensOfText, wordsOf } from './tokens.ts';

/** OpenAI chat completions (API reference, "Create chat completion"). */
export function answerChat(body: JsonObject, context: Context): FormatAnswer {
  const includeUsage =
    isObject(body['stream_options']) && optionalFlag(body['stream_options'], 'include_usage');
  const reply = replyTo(readChat(body), context.model);
  if (context.stream) return { kind: 'stream', frames: chatFrames(reply, context, includeUsage) };
  const choice = {
    index: 0,
    message: messageOf(reply, context),
    logprobs: null,
    finish_reason: finishReasonOf(reply),
  };
  const base = baseOf(context, 'chat.completion');
  return { kind: 'json', body: { ...base, choices: [choice], usage: usageOf(reply, context) } };
}

function readChat(body: JsonObject): Question {
  const messages = requiredObjects(body, 'messages');
  let userText = '';
  let results: string[] | null = null;
  for (const [index, { role, content }] of messages.entries()) {
    const place = `messages[${index}]`;
    if (typeof role !== 'string') throw invalid(`${place}.role must be a string`, `${place}.role`);
    const text = textOfContent(content, `${place}.content`);
    if (role === 'tool' || role === 'function') results = [...(results ?? []), text];
    else if (role !== 'system' && role !== 'developer') results = null;
    if (role === 'user' && text !== '') userText = text;
  }
  if ((optionalCount(body, 'n', 1) ?? 1) > 1) throw invalid('n must be 1: the demo gives one answer', 'n');
  return {
    userText,
    toolResult: results?.join('\n') ?? null,
    tools: allowedTools(body, readTools(body)),
    choice: readChoice(body['tool_choice']),
    outputSchema: readOutputSchema(body['response_format']),
    maxTokens: optionalCount(body, 'max_completion_tokens', 1) ?? optionalCount(body, 'max_tokens', 1),
    stops: optionalStrings(body, 'stop'),
  };
}

function readTools(body: JsonObject): DemoTool[] {
  const tools: DemoTool[] = [];
  for (const tool of optionalObjects(body, 'tools')) {
    const kind = tool['type'] === 'custom' ? 'custom' : 'function';
    const declared = tool[kind];
    if (!isObject(declared) || typeof declared['name'] !== 'string') {
      throw invalid(`tools: each ${kind} tool needs ${kind}.name`, 'tools');
    }
    const schema = isObject(declared['parameters']) ? declared['parameters'] : {};
    tools.push({ name: declared['name'], namespace: null, kind, schema });
  }
  return tools;
}

/** `allowed_tools` is a hard limit on what may be called. */
function allowedTools(body: JsonObject, tools: DemoTool[]): DemoTool[] {
  const choice = body['tool_choice'];
  if (!isObject(choice) || choice['type'] !== 'allowed_tools' || !isObject(choice['allowed_tools']))
    return tools;
  const allowed = objectsIn(choice['allowed_tools']['tools']).map(nameOfChoice);
  return tools.filter(({ name }) => allowed.includes(name));
}

function nameOfChoice(choice: JsonObject): string {
  const named = choice['function'] ?? choice['custom'];
  return isObject(named) ? textOr(named['name'], '') : '';
}

function readChoice(choice: unknown): ToolChoice {
  if (choice === 'none' || choice === 'required') return { kind: choice };
  if (!isObject(choice) || choice['type'] === 'allowed_tools') return { kind: 'auto' };
  return { kind: 'one', name: nameOfChoice(choice) };
}

function readOutputSchema(format: unknown): JsonObject | null {
  if (!isObject(format)) return null;
  if (format['type'] === 'json_object') return { type: 'object', required: ['text'] };
  const declared = format['type'] === 'json_schema' ? format['json_schema'] : null;
  return isObject(declared) && isObject(declared['schema']) ? declared['schema'] : null;
}

function baseOf(context: Context, object: string): JsonObject {
  return {
    id: context.id('chatcmpl-', 29),
    object,
    created: context.created,
    model: context.model,
    service_tier: 'default',
    system_fingerprint: 'fp_demo',
  };
}

function messageOf(reply: Reply, context: Context): JsonObject {
  const message = { role: 'assistant', refusal: null, annotations: [] };
  if (reply.kind === 'text') return { ...message, content: reply.text };
  return { ...message, content: null, tool_calls: [callOf(reply, context, reply.input)] };
}

function callOf(reply: Reply & { kind: 'call' }, context: Context, input: string): JsonObject {
  const { name, kind } = reply.tool;
  const id = context.id('call_', 24);
  if (kind === 'custom') return { id, type: 'custom', custom: { name, input } };
  return { id, type: 'function', function: { name, arguments: input } };
}

function finishReasonOf(reply: Reply): string {
  switch (reply.end) {
    case 'natural':
    case 'stop':
      return 'stop';
    case 'length':
      return 'length';
    case 'call':
      return 'tool_calls';
  }
}

function usageOf(reply: Reply, { inputTokens }: Context): JsonObject {
  const output = tokensOfText(reply.kind === 'text' ? reply.text : reply.tool.name + reply.input);
  return {
    prompt_tokens: inputTokens,
    completion_tokens: output,
    total_tokens: inputTokens + output,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function chatFrames(reply: Reply, context: Context, includeUsage: boolean): string[] {
  const base = baseOf(context, 'chat.completion.chunk');
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (delta: JsonObject, finish: string | null = null) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return frame({ ...base, choices, ...usage });
  };
  const frames = [chunk({ role: 'assistant', content: reply.kind === 'text' ? '' : null, refusal: null })];
  if (reply.kind === 'text') {
    for (const word of wordsOf(reply.text)) frames.push(chunk({ content: word }));
  } else {
    frames.push(chunk({ tool_calls: [{ index: 0, ...callOf(reply, context, '') }] }));
    for (const piece of slicesOf(reply.input)) {
      const delta =
        reply.tool.kind === 'custom' ? { custom: { input: piece } } : { function: { arguments: piece } };
      frames.push(chunk({ tool_calls: [{ index: 0, ...delta }] }));
    }
  }
  frames.push(chunk({}, finishReasonOf(reply)));
  if (includeUsage) frames.push(frame({ ...base, choices: [], usage: usageOf(reply, context) }));
  frames.push('data: [DONE]\n\n');
  return frames;
}

function frame(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
