import { searchInWords } from './anthropic-messages/search.ts';
import { NO_SIGNATURE } from './gemini/signature.ts';
import type { WireFormat } from './model.ts';
import { isObject, type JsonObject, listOf, objectOf, textOf } from './values.ts';

/**
 * What a vendor says when it does not take sealed reasoning back, and how a request looks without it. Seals are bound
 * to an account, a model family or even the words before them, so a conversation that moved on to another of these
 * would fail for ever (gateways' survey, 4.1).
 */
interface Unsealing {
  refused: RegExp;
  /** What is taken out, as callers are told. */
  name: string;
  /** The request without what is sealed; null when it holds none. */
  strip(request: JsonObject): JsonObject | null;
}

const reasoning = 'reasoning';
const unsealings: Readonly<Partial<Record<WireFormat, readonly Unsealing[]>>> = {
  'anthropic-messages': [
    {
      refused: /signature|thinking.{0,20} block|redacted_thinking|block_binding/i,
      name: reasoning,
      strip: withoutThinking,
    },
    { refused: /encrypted_(content|index)/i, name: 'web_search_tool_result', strip: withoutFoundPages },
  ],
  'openai-responses': [
    {
      refused: /encrypted[ _]content|reasoning.{0,20} item/i,
      name: reasoning,
      strip: withoutReasoningItems,
    },
  ],
  'openai-chat': [
    {
      refused:
        /thought[ _]?signature|signature.{0,20}thinking|thinking.{0,20} block|reasoning_details|encrypted/i,
      name: reasoning,
      strip: withoutDetails,
    },
  ],
  gemini: [{ refused: /thought[ _]?signature/i, name: reasoning, strip: withoutSignatures }],
};

/**
 * The request without what its vendor sealed and refused, and the name of that.
 * @param message the vendor's error
 * @returns null when the error is about something else, or the request holds nothing sealed
 */
export function unsealed(
  format: WireFormat,
  request: JsonObject,
  message: string,
): { request: JsonObject; name: string } | null {
  for (const { name, refused, strip } of unsealings[format] ?? []) {
    const without = refused.test(message) ? strip(request) : null;
    if (without !== null) return { request: without, name };
  }
  return null;
}

const isThinking = (block: unknown): boolean => {
  const type = objectOf(block)['type'];
  return type === 'thinking' || type === 'redacted_thinking';
};

function withoutThinking(request: JsonObject): JsonObject | null {
  const messages = listOf(request['messages']);
  const contentOf = (message: unknown) => listOf(objectOf(message)['content']);
  if (!messages.some((message) => contentOf(message).some(isThinking))) return null;
  const kept = messages.flatMap((message) => {
    if (!contentOf(message).some(isThinking)) return [message];
    const content = contentOf(message).filter((block) => !isThinking(block));
    return content.length === 0 ? [] : [{ ...objectOf(message), content }];
  });
  const last = kept.findLast((message) => objectOf(message)['role'] === 'assistant');
  const calls = contentOf(last).some((block) => objectOf(block)['type'] === 'tool_use');
  // A model that thinks must have thought before the calls of a turn that goes on.
  const thinking = calls && objectOf(request['thinking'])['type'] === 'enabled' ? { type: 'disabled' } : null;
  return { ...request, messages: kept, ...(thinking === null ? {} : { thinking }) };
}

/** Searches in words, and texts without the passages that they rest on: what was found is sealed for one vendor. */
function withoutFoundPages(request: JsonObject): JsonObject | null {
  let found = false;
  const messages = listOf(request['messages']).map((message) => {
    const content = objectOf(message)['content'];
    if (!isObject(message) || !Array.isArray(content)) return message;
    const blocks = content.flatMap((block) => {
      if (!isObject(block)) return [block];
      const { citations, ...rest } = block;
      const words = searchInWords(block);
      if (words === null && !(block['type'] === 'text' && Array.isArray(citations))) return [block];
      found = true;
      return [words === null ? rest : { type: 'text', text: words }];
    });
    return { ...message, content: blocks };
  });
  return found ? { ...request, messages } : null;
}

function withoutReasoningItems(request: JsonObject): JsonObject | null {
  const items = listOf(request['input']);
  if (!items.some((item) => objectOf(item)['type'] === 'reasoning')) return null;
  const input = items.flatMap((item) => {
    if (!isObject(item) || item['type'] === 'reasoning') return isObject(item) ? [] : [item];
    // An item that is known by its id is refused without the reasoning that it came with.
    const { id: _, ...rest } = item;
    return item['type'] === 'item_reference' ? [item] : [rest];
  });
  return { ...request, input };
}

function withoutDetails(request: JsonObject): JsonObject | null {
  let found = false;
  const without = (value: unknown): JsonObject => {
    const { extra_content, reasoning_details, ...rest } = objectOf(value);
    if (reasoning_details !== undefined || (extra_content !== undefined && !isPlaceholder(extra_content)))
      found = true;
    return rest;
  };
  const withoutSeal = (call: unknown): JsonObject => {
    const rest = without(call);
    // As for its own format: newer models of Google want one on a call.
    return isObject(objectOf(objectOf(call)['extra_content'])['google'])
      ? { ...rest, extra_content: { google: { thought_signature: NO_SIGNATURE } } }
      : rest;
  };
  const messages = listOf(request['messages']).map((message) => {
    const rest = without(message);
    const calls = rest['tool_calls'];
    return Array.isArray(calls) ? { ...rest, tool_calls: calls.map(withoutSeal) } : rest;
  });
  return found ? { ...request, messages } : null;
}

function isPlaceholder(extraContent: unknown): boolean {
  return objectOf(objectOf(extraContent)['google'])['thought_signature'] === NO_SIGNATURE;
}

const signatureOf = (part: JsonObject): string =>
  textOf(part['thoughtSignature']) || textOf(part['thought_signature']);

function withoutSignatures(request: JsonObject): JsonObject | null {
  let found = false;
  const contents = listOf(request['contents']).flatMap((content) => {
    const before = listOf(objectOf(content)['parts']);
    const parts = before.flatMap((part) => {
      if (!isObject(part)) return [part];
      const signature = signatureOf(part);
      if (signature === '' || signature === NO_SIGNATURE) return [part];
      found = true;
      const { thoughtSignature: _, thought_signature: __, ...rest } = part;
      // An empty text is there for its signature alone, and refused without.
      if (rest['text'] === '') return [];
      // Newer models want one on a call; this one they take for a call of another model.
      return [isObject(rest['functionCall']) ? { ...rest, thoughtSignature: NO_SIGNATURE } : rest];
    });
    return parts.length === 0 && before.length > 0 ? [] : [{ ...objectOf(content), parts }];
  });
  return found ? { ...request, contents } : null;
}
