import {
  embeddedReasoning,
  embedEncryptedReasoning,
  embedWithThought,
  extractEncryptedReasoning,
  extractWithThought,
} from '../encrypted-reasoning/embed.ts';
import { listOf, objectOf, textOf } from '../json/values.ts';
import type { EncryptedReasoning, ReasoningPart } from '../model/conversation.ts';
import { detailsIn } from './reasoning-details.ts';
import { reasoningIn } from './text.ts';
import type { ChatMessage, ReasoningDetail } from './wire.ts';

/**
 * Collects the encrypted reasoning of an answer for a chat client. The vendor's format has no place for them; OpenRouter's
 * `reasoning_details` is one that clients send back as it came ("Preserving reasoning").
 */
export class CarriedDetails {
  /** What open blocks have thought so far. */
  readonly #thoughts = new Map<number, string>();
  #waiting: { encrypted: EncryptedReasoning; thought: string }[] = [];
  #index = 0;

  think(block: number, text: string): void {
    this.#thoughts.set(block, (this.#thoughts.get(block) ?? '') + text);
  }

  /** The end of a block; null for none. */
  addReasoning(block: number | null, encrypted: EncryptedReasoning | null): void {
    const thought = block === null ? '' : (this.#thoughts.get(block) ?? '');
    if (block !== null) this.#thoughts.delete(block);
    if (encrypted !== null && (encrypted.value !== '' || thought !== ''))
      this.#waiting.push({ encrypted, thought });
  }

  /** The field for all encrypted reasoning since the last time; null for none. `before`: the id of the call that they stand before. */
  take(before: string | null): { reasoning_details: unknown[] } | null {
    if (this.#waiting.length === 0) return null;
    const reasoning_details = this.#waiting.flatMap(({ encrypted, thought }) =>
      encrypted.format === 'openai-chat' && encrypted.value !== ''
        ? detailsIn(encrypted)
        : [this.#detail(encrypted, thought, before)],
    );
    this.#waiting = [];
    return { reasoning_details };
  }

  /** The text was sent already: sent twice, a client would show it twice. What a signature needs goes inside it. */
  #detail(encrypted: EncryptedReasoning, thought: string, id: string | null): ReasoningDetail {
    const common = { ...(id === null ? {} : { id }), format: 'unknown', index: this.#index };
    this.#index += 1;
    const addReasoning =
      thought === '' ? embedEncryptedReasoning(encrypted) : embedWithThought(encrypted, thought);
    if (encrypted.kind !== 'signature') return { type: 'reasoning.encrypted', data: addReasoning, ...common };
    return { type: 'reasoning.text', text: '', signature: addReasoning, ...common };
  }
}

/**
 * The encrypted reasoning that was carried in the `reasoning_details` of a message, by the call that it stands before.
 * Null is before everything; without that key nothing was carried there, and the other fields of the message count.
 * @param calls the ids of the message's calls
 */
export function carriedIn(
  message: ChatMessage,
  calls: ReadonlySet<string>,
): Map<string | null, ReasoningPart[]> {
  const byCall = new Map<string | null, ReasoningPart[]>();
  let first: ReasoningPart | null = null;
  let hasThought = false;
  for (const detail of listOf(message.reasoning_details).map(objectOf<ReasoningDetail>)) {
    const text = textOf(detail.signature) || textOf(detail.data);
    const { encrypted, thought } = extractWithThought(text) ?? {
      encrypted: extractEncryptedReasoning(text),
      thought: '',
    };
    if (encrypted === null) continue;
    const part: ReasoningPart = {
      type: 'reasoning',
      text: thought,
      summary: isSummary(encrypted),
      encrypted: embeddedReasoning(encrypted),
    };
    const id = textOf(detail.id);
    const before = calls.has(id) ? id : null;
    byCall.set(before, [...(byCall.get(before) ?? []), part]);
    first ??= part;
    hasThought ||= thought !== '';
  }
  if (first === null) return byCall;
  // Encrypted reasoning without its text, which the message has.
  if (!hasThought) first.text = reasoningIn(message);
  if (!byCall.has(null)) byCall.set(null, []);
  return byCall;
}

/** Only Anthropic's thinking is sent unabridged. */
function isSummary({ format }: EncryptedReasoning): boolean {
  return format !== 'anthropic-messages';
}
