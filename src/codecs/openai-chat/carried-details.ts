import {
  carriedSeal,
  carriedWithThought,
  carryWithThought,
  embeddedReasoning,
  embedEncryptedReasoning,
} from '../encrypted-reasoning/embed.ts';
import { listOf, objectOf, textOf } from '../json/values.ts';
import type { ReasoningPart, Sealed } from '../model/conversation.ts';
import { detailsIn } from './reasoning-details.ts';
import { reasoningIn } from './text.ts';
import type { ChatMessage, ReasoningDetail } from './wire.ts';

/**
 * Collects the seals of an answer for a chat client. The vendor's format has no place for them; OpenRouter's
 * `reasoning_details` is one that clients send back as it came ("Preserving reasoning").
 */
export class CarriedDetails {
  /** What open blocks have thought so far. */
  readonly #thoughts = new Map<number, string>();
  #waiting: { sealed: Sealed; thought: string }[] = [];
  #index = 0;

  think(block: number, text: string): void {
    this.#thoughts.set(block, (this.#thoughts.get(block) ?? '') + text);
  }

  /** The end of a block; null for none. */
  seal(block: number | null, sealed: Sealed | null): void {
    const thought = block === null ? '' : (this.#thoughts.get(block) ?? '');
    if (block !== null) this.#thoughts.delete(block);
    if (sealed !== null && (sealed.value !== '' || thought !== '')) this.#waiting.push({ sealed, thought });
  }

  /** The member for all seals since the last time; null for none. `before`: the id of the call that they stand before. */
  take(before: string | null): { reasoning_details: unknown[] } | null {
    if (this.#waiting.length === 0) return null;
    const reasoning_details = this.#waiting.flatMap(({ sealed, thought }) =>
      sealed.format === 'openai-chat' && sealed.value !== ''
        ? detailsIn(sealed)
        : [this.#detail(sealed, thought, before)],
    );
    this.#waiting = [];
    return { reasoning_details };
  }

  /** The words were told already: told twice, a client would show them twice. What a signature needs goes inside it. */
  #detail(sealed: Sealed, thought: string, id: string | null): ReasoningDetail {
    const common = { ...(id === null ? {} : { id }), format: 'unknown', index: this.#index };
    this.#index += 1;
    const seal = thought === '' ? embedEncryptedReasoning(sealed) : carryWithThought(sealed, thought);
    if (sealed.kind !== 'signature') return { type: 'reasoning.encrypted', data: seal, ...common };
    return { type: 'reasoning.text', text: '', signature: seal, ...common };
  }
}

/**
 * The sealed reasoning that was carried in the `reasoning_details` of a message, by the call that it stands before.
 * Null is before everything; without that key nothing was carried there, and what else the message tells counts.
 * @param calls the ids of the message's calls
 */
export function carriedIn(
  message: ChatMessage,
  calls: ReadonlySet<string>,
): Map<string | null, ReasoningPart[]> {
  const carried = new Map<string | null, ReasoningPart[]>();
  let first: ReasoningPart | null = null;
  let told = false;
  for (const detail of listOf(message.reasoning_details).map(objectOf<ReasoningDetail>)) {
    const text = textOf(detail.signature) || textOf(detail.data);
    const { sealed, thought } = carriedWithThought(text) ?? { sealed: carriedSeal(text), thought: '' };
    if (sealed === null) continue;
    const part: ReasoningPart = {
      type: 'reasoning',
      text: thought,
      summary: isSummary(sealed),
      sealed: embeddedReasoning(sealed),
    };
    const id = textOf(detail.id);
    const before = calls.has(id) ? id : null;
    carried.set(before, [...(carried.get(before) ?? []), part]);
    first ??= part;
    told ||= thought !== '';
  }
  if (first === null) return carried;
  // Seals without their words: the message has them.
  if (!told) first.text = reasoningIn(message);
  if (!carried.has(null)) carried.set(null, []);
  return carried;
}

/** Only Anthropic's thoughts are told as they were thought. */
function isSummary({ format }: Sealed): boolean {
  return format !== 'anthropic-messages';
}
