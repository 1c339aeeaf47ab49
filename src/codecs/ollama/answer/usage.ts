import { latin1Text, utf8Length, utf8Text } from '../../../lib/bytes.ts';
import { argumentText } from '../../adapt/call-arguments.ts';
import { OPEN_OBJECT, skipSpace } from '../../json/bytes.ts';
import { JsonCursor } from '../../json/cursor.ts';
import { countOf, type JsonObject, listOf, objectOf, parseObject, textOf } from '../../json/values.ts';
import { isEmptyUsage } from '../../usage/token-counts.ts';
import { noUsage, type Usage } from '../../wire-format.ts';
import type { Called, OllamaAnswer, OllamaMessage, ToolCall } from '../wire.ts';

/**
 * The token counters of an answer's last line (API reference, "Generate a chat message"): the whole prompt, and all
 * that was generated, thinking included; the format reports neither cached input nor reasoning separately. Null when
 * nothing was counted.
 */
export function countersUsage(answer: OllamaAnswer): Usage | null {
  const usage: Usage = {
    ...noUsage,
    input: countOf(answer.prompt_eval_count),
    output: countOf(answer.eval_count),
  };
  return isEmptyUsage(usage) ? null : usage;
}

/** Usage as the format reports it: two totals. */
export function counters(usage: Usage | null): { prompt_eval_count: number; eval_count: number } {
  const counts = usage ?? noUsage;
  const { audioInput, cacheRead, cacheWrite1h, cacheWrite5m, imageInput, input } = counts;
  return {
    prompt_eval_count: input + cacheRead + cacheWrite5m + cacheWrite1h + audioInput + imageInput,
    eval_count: counts.output + counts.reasoning + counts.audioOutput + counts.imageOutput,
  };
}

const counterNames: ReadonlySet<string> = new Set<keyof OllamaAnswer>(['prompt_eval_count', 'eval_count']);

/** Usage of a complete answer; null when it reports none, or is no whole JSON object. */
export function readUsage(body: Uint8Array): Usage | null {
  const counters = rootFields(body, counterNames);
  return counters === null ? null : countersUsage(counters);
}

/** The fields of the object in `bytes` that have one of `names`, the others unread. Null for what is no complete object. */
function rootFields(bytes: Uint8Array, names: ReadonlySet<string>): JsonObject | null {
  const open = skipSpace(bytes, 0);
  if (bytes[open] !== OPEN_OBJECT) return null;
  const counters = new Map<string, unknown>();
  const cursor = new JsonCursor(bytes, open);
  while (cursor.next()) {
    if (cursor.end() === -1) return null;
    const name = latin1Text(bytes, cursor.nameStart + 1, cursor.nameEnd - 1);
    if (names.has(name)) counters.set(name, JSON.parse(cursor.text()));
  }
  return cursor.close === -1 ? null : Object.fromEntries(counters);
}

/** UTF-8 bytes of what the model wrote in a message: text, thinking, tool names and arguments. */
export function writtenBytes(message: OllamaMessage): number {
  let sum = utf8Length(textOf(message.content) + textOf(message.thinking));
  for (const call of listOf(message.tool_calls)) {
    const called = objectOf<Called>(objectOf<ToolCall>(call).function);
    sum += utf8Length(textOf(called.name) + (argumentText(called.arguments) ?? ''));
  }
  return sum;
}

/** UTF-8 bytes of generated text in a complete answer. */
export function responseTextBytes(body: Uint8Array): number {
  return writtenBytes(objectOf(objectOf<OllamaAnswer>(parseObject(utf8Text(body))).message));
}
