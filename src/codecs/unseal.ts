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
  /** The request without sealed reasoning; null when it holds none. */
  strip(request: JsonObject): JsonObject | null;
}

const unsealings: Readonly<Partial<Record<WireFormat, Unsealing>>> = {
  'anthropic-messages': {
    refused: /signature|thinking.{0,20} block|redacted_thinking|block_binding/i,
    strip: withoutThinking,
  },
  'openai-responses': {
    refused: /encrypted[ _]content|reasoning.{0,20} item/i,
    strip: withoutReasoningItems,
  },
  'openai-chat': { refused: /thought[ _]?signature|reasoning_details|encrypted/i, strip: withoutDetails },
  gemini: { refused: /thought[ _]?signature/i, strip: withoutSignatures },
};

/**
 * The request without the sealed reasoning that its vendor refused.
 * @param message the vendor's error
 * @returns null when the error is about something else, or the request holds no sealed reasoning
 */
export function unsealed(format: WireFormat, request: JsonObject, message: string): JsonObject | null {
  const unsealing = unsealings[format];
  return unsealing?.refused.test(message) ? unsealing.strip(request) : null;
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
    if (extra_content !== undefined || reasoning_details !== undefined) found = true;
    return rest;
  };
  const messages = listOf(request['messages']).map((message) => {
    const rest = without(message);
    const calls = rest['tool_calls'];
    return Array.isArray(calls) ? { ...rest, tool_calls: calls.map(without) } : rest;
  });
  return found ? { ...request, messages } : null;
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
