import { utf8Text } from '../../lib/bytes.ts';
import { byteLengthOf, listOf, objectOf, parseObject, textOf } from '../json/values.ts';
import type { ChoiceChunk } from '../openai-shared/wire.ts';
import type { Called, ChatChoice, ChatMessage, MessagePart, ReasoningDetail, ToolCall } from './wire.ts';

/** Fields of a message or delta that hold generated text. */
const textKeys = [
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
] as const satisfies (keyof ChatMessage)[];

/** UTF-8 bytes of what the model wrote in a message or delta: text, reasoning, tool names and arguments. */
export function writtenBytes(message: ChatMessage): number {
  let sum = 0;
  for (const key of textKeys) sum += contentBytes(message[key]);
  for (const call of listOf(message.tool_calls)) {
    const { function: fn, custom } = objectOf<ToolCall>(call);
    for (const called of [objectOf<Called>(fn), objectOf<Called>(custom)]) {
      sum += byteLengthOf(called.name) + byteLengthOf(called.arguments ?? called.input);
    }
  }
  const legacy = objectOf<Called>(message.function_call);
  return sum + byteLengthOf(legacy.name) + byteLengthOf(legacy.arguments);
}

function contentBytes(content: unknown): number {
  if (!Array.isArray(content)) return byteLengthOf(content);
  return listOf(content).reduce<number>(
    (sum, part) => sum + byteLengthOf(objectOf<MessagePart>(part).text),
    0,
  );
}

/** UTF-8 bytes of generated text in a complete chat answer. */
export function responseTextBytes(body: Uint8Array): number {
  const answer: ChoiceChunk | null = parseObject(utf8Text(body));
  return listOf(answer?.choices).reduce<number>(
    (sum, choice) => sum + writtenBytes(objectOf(objectOf<ChatChoice>(choice).message)),
    0,
  );
}

/** The reasoning in a message or delta: DeepSeek's and others' `reasoning_content`, OpenRouter's and Groq's `reasoning` or `reasoning_details`. */
export function reasoningIn(message: ChatMessage): string {
  const plain = textOf(message.reasoning_content) || textOf(message.reasoning);
  if (plain !== '') return plain;
  return listOf(message.reasoning_details)
    .map((detail) => objectOf<ReasoningDetail>(detail))
    .map(({ summary, text }) => textOf(text) || textOf(summary))
    .join('');
}

/** The text of a `thinking` part, which is a string or a list of texts. */
export function thinkingText(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  return listOf(thinking)
    .map((piece) => (typeof piece === 'string' ? piece : textOf(objectOf<MessagePart>(piece).text)))
    .join('');
}
