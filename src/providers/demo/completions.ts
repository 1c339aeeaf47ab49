import { invalid, isObject, type JsonObject, optionalCount, optionalFlag, optionalStrings } from './json.ts';
import type { Context, FormatAnswer } from './question.ts';
import { type Reply, replyTo } from './reply.ts';
import { tokensOfText, wordsOf } from './tokens.ts';

/** OpenAI completions (API reference, "Create completion"): one choice for each prompt. */
export function answerCompletions(body: JsonObject, context: Context): FormatAnswer {
  const includeUsage =
    isObject(body['stream_options']) && optionalFlag(body['stream_options'], 'include_usage');
  if ((optionalCount(body, 'n', 1) ?? 1) > 1) throw invalid('n must be 1: the demo gives one answer', 'n');
  const maxTokens = optionalCount(body, 'max_tokens', 1);
  const stops = optionalStrings(body, 'stop');
  const replies = readPrompts(body['prompt']).map((userText) =>
    replyTo(
      {
        userText,
        toolResult: null,
        tools: [],
        choice: { kind: 'none' },
        outputSchema: null,
        maxTokens,
        stops,
      },
      context.model,
    ),
  );
  if (context.stream) return { kind: 'stream', frames: completionFrames(replies, context, includeUsage) };
  const choices = replies.map((reply, index) => choiceOf(index, textOf(reply), finishReasonOf(reply)));
  return { kind: 'json', body: { ...baseOf(context), choices, usage: usageOf(replies, context) } };
}

/** A string, several, or one or several prompts given as token numbers, of which the demo can only tell how many. */
function readPrompts(prompt: unknown): string[] {
  if (typeof prompt === 'string') return [prompt];
  if (!Array.isArray(prompt) || prompt.length === 0) {
    throw invalid('prompt must be a string or a non-empty array', 'prompt');
  }
  if (prompt.every((item) => typeof item === 'string')) return prompt;
  if (prompt.every((item) => typeof item === 'number')) return [tokenCount(prompt)];
  if (prompt.every((item) => Array.isArray(item))) return prompt.map(tokenCount);
  throw invalid('prompt must be a string, an array of strings, or arrays of token numbers', 'prompt');
}

function tokenCount(tokens: readonly unknown[]): string {
  return `(${tokens.length} tokens)`;
}

function textOf(reply: Reply): string {
  return reply.kind === 'text' ? reply.text : '';
}

function finishReasonOf(reply: Reply): string {
  return reply.end === 'length' ? 'length' : 'stop';
}

function baseOf(context: Context): JsonObject {
  return {
    id: context.id('cmpl-', 29),
    object: 'text_completion',
    created: context.created,
    model: context.model,
    system_fingerprint: 'fp_demo',
  };
}

function choiceOf(index: number, text: string, finishReason: string | null): JsonObject {
  return { text, index, logprobs: null, finish_reason: finishReason };
}

function usageOf(replies: readonly Reply[], { inputTokens }: Context): JsonObject {
  const output = replies.reduce((sum, reply) => sum + tokensOfText(textOf(reply)), 0);
  return { prompt_tokens: inputTokens, completion_tokens: output, total_tokens: inputTokens + output };
}

function completionFrames(replies: readonly Reply[], context: Context, includeUsage: boolean): string[] {
  const base = baseOf(context);
  const usage = includeUsage ? { usage: null } : {};
  const chunk = (choice: JsonObject) => frame({ ...base, choices: [choice], ...usage });
  const frames = replies.flatMap((reply, index) => [
    ...wordsOf(textOf(reply)).map((word) => chunk(choiceOf(index, word, null))),
    chunk(choiceOf(index, '', finishReasonOf(reply))),
  ]);
  if (includeUsage) frames.push(frame({ ...base, choices: [], usage: usageOf(replies, context) }));
  frames.push('data: [DONE]\n\n');
  return frames;
}

function frame(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
