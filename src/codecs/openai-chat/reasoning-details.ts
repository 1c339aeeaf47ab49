import { numberOf } from '../json/lossless.ts';
import { isObject, type JsonObject, listOf, objectOf, parseObject, textOf } from '../json/values.ts';
import type { EncryptedReasoning } from '../model/conversation.ts';
import type { ReasoningDetail } from './wire.ts';

/** Fields that come in pieces. What is encrypted comes whole, and several with one index. */
const growing: ReadonlySet<string> = new Set(['text', 'summary']);

/**
 * Collects the `reasoning_details` of an answer, in which OpenRouter and servers like it keep the reasoning as its maker
 * encrypted it ("Preserving reasoning"). They must come back as they were, all of a sequence and in order.
 */
export class ReasoningDetails {
  #details: (ReasoningDetail & JsonObject)[] = [];

  add(deltas: unknown): void {
    for (const delta of listOf(deltas)) if (isObject(delta)) this.#add(delta);
  }

  #add(delta: ReasoningDetail): void {
    const open = this.#details.findLast((detail) => isReadable(delta) && continues(detail, delta));
    if (open === undefined) {
      // Some repeat what is encrypted in every chunk.
      if (!this.#details.some((detail) => detail.data !== undefined && isSame(detail, delta)))
        this.#details.push({ ...delta });
      return;
    }
    for (const [name, value] of Object.entries(delta)) {
      if (value === null || name === '__proto__') continue;
      open[name] = growing.has(name) ? textOf(open[name]) + textOf(value) : value;
    }
  }

  /** All that came since the last encrypted one; null, and kept for the next, while none of it is encrypted. */
  take(): EncryptedReasoning | null {
    const details = this.#details;
    if (!details.some(isEncrypted)) return null;
    this.#details = [];
    return encryptedDetails(details);
  }
}

/** Whether a piece belongs to what came before. An id may come with one of several pieces only. */
function continues(detail: ReasoningDetail, delta: ReasoningDetail): boolean {
  if (detail.type !== delta.type || indexOf(detail) !== indexOf(delta)) return false;
  const [id, other] = [detail.id ?? null, delta.id ?? null];
  return id === null || other === null || id === other;
}

function indexOf({ index }: ReasoningDetail): number | null {
  return numberOf(index);
}

function isReadable({ type }: ReasoningDetail): boolean {
  return type === 'reasoning.text' || type === 'reasoning.summary';
}

function isSame(one: ReasoningDetail, other: ReasoningDetail): boolean {
  return one.data === other.data && one.id === other.id && indexOf(one) === indexOf(other);
}

function isEncrypted({ data, signature }: ReasoningDetail): boolean {
  return textOf(data) !== '' || textOf(signature) !== '';
}

function encryptedDetails(details: readonly unknown[]): EncryptedReasoning {
  return { format: 'openai-chat', kind: 'encrypted', value: JSON.stringify(details) };
}

/** The encrypted reasoning in the `reasoning_details` of a message; null where they can be read by anybody. */
export function encryptedReasoningIn(details: unknown): EncryptedReasoning | null {
  const list = listOf(details);
  return list.some((detail) => isEncrypted(objectOf(detail))) ? encryptedDetails(list) : null;
}

/** The `reasoning_details` that are encrypted. */
export function detailsIn({ value }: EncryptedReasoning): unknown[] {
  const { details }: { details?: unknown } = parseObject(`{"details":${value}}`) ?? {};
  return listOf(details);
}
