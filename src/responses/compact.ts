import { isObject, type JsonObject, listOf } from '../codecs/json/values.ts';
import type { Conversation } from '../codecs/model/conversation.ts';
import type { EndReason, PartReader, StreamPart } from '../codecs/model/stream-part.ts';
import { compactionItem } from '../codecs/openai-responses/request/compaction.ts';
import { inputItems, isCompaction, withIds } from './continuation.ts';
import { summaryPrompt } from './summary-prompt.ts';

/** The last item of an input that is to be compacted (OpenAI API reference, `compaction_trigger`). */
export function isTrigger(item: unknown): boolean {
  return isObject(item) && item['type'] === 'compaction_trigger';
}

/**
 * A conversation that ends with the wish for a summary of it. Tools stay, for the provider's prompt cache and because
 * some refuse earlier calls without them, but none may be called.
 */
export function withSummaryRequest(conversation: Conversation): Conversation {
  return {
    ...conversation,
    messages: [...conversation.messages, { role: 'user', parts: [{ type: 'text', text: summaryPrompt }] }],
    toolChoice: conversation.tools.length === 0 ? null : { kind: 'none' },
    output: { kind: 'text' },
    maxOutputTokens: null,
    candidates: null,
    stop: [],
  };
}

/** Ends after which the words so far are a whole summary; a call was not asked for and is left out. */
const whole: ReadonlySet<EndReason> = new Set<EndReason>(['stop', 'stop-sequence', 'tool-calls', 'other']);

/**
 * The answer to `withSummaryRequest` as one compaction item, which is what clients wait for (Codex wants exactly one).
 * A summary that is empty or was cut is an error: what it left out would be lost.
 */
export function compacting(reader: PartReader, requestId: string): PartReader {
  const itemId = `cmp_${requestId.replace(/^[a-z]+_/, '')}_0`;
  let summary = '';
  const parts = (part: StreamPart): StreamPart[] => {
    switch (part.type) {
      case 'message-start':
      case 'error':
        return [part];
      case 'text-delta':
        summary += part.text;
        return [];
      case 'message-end': {
        const text = summary.trim();
        if (text === '' || !whole.has(part.reason)) return [noSummary(text, part.reason)];
        const value = compactionItem(itemId, text);
        return [
          { type: 'native', block: 0, format: 'openai-responses', name: 'compaction', value, words: null },
          { ...part, reason: 'stop' },
        ];
      }
      default:
        return [];
    }
  };
  return {
    push: (frame) => reader.push(frame).flatMap(parts),
    end: () => reader.end().flatMap(parts),
  };
}

function noSummary(text: string, reason: EndReason): StreamPart {
  const what = text === '' ? 'wrote no summary' : 'did not finish its summary';
  const message = `The conversation could not be compacted: the model ${what} (${reason}). Nothing was lost; send the request again, or choose a model that may write more`;
  return { type: 'error', error: { status: 502, message } };
}

/**
 * The body of `POST /v1/responses/compact`: all messages of the user, followed by the one compaction item.
 * @param input the items that were compacted
 * @param response what the model was answered with, its only output being the compaction
 */
export function compactedResponse(input: unknown, response: JsonObject): JsonObject {
  const { created_at, id, usage } = response;
  const userMessages = withIds(inputItems(input), String(id)).filter(isUserMessage).map(wholeMessage);
  return {
    id,
    object: 'response.compaction',
    created_at,
    output: [...userMessages, ...listOf(response['output']).filter(isCompaction)],
    usage,
  };
}

function isUserMessage(item: unknown): item is JsonObject {
  return isObject(item) && (item['type'] ?? 'message') === 'message' && item['role'] === 'user';
}

function wholeMessage({ content, id }: JsonObject): JsonObject {
  const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : listOf(content);
  return { id, type: 'message', status: 'completed', role: 'user', content: parts };
}
