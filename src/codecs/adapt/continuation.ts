import type { Conversation, Message, TextPart } from '../model/conversation.ts';
import type { PartReader, StreamPart } from '../model/stream-part.ts';

/** What a client has of an answer that may break off, so that another model can continue it. */
export class AnswerPrefix {
  /** All text that was written. */
  text = '';
  /** Whether it was said that an answer begins. */
  started = false;
  /** The text block that is open. */
  #text: number | null = null;
  /** Blocks of reasoning that are open. */
  readonly #thoughts = new Set<number>();
  #next = 0;
  #simple = true;

  /** Told of each part that was written for the client. */
  note(part: StreamPart): void {
    if ('block' in part) this.#next = Math.max(this.#next, part.block + 1);
    switch (part.type) {
      case 'text-start':
        this.#text = part.block;
        return;
      case 'text-delta':
        this.text += part.text;
        return;
      case 'text-end':
        if (this.#text === part.block) this.#text = null;
        return;
      case 'reasoning-start':
        this.#thoughts.add(part.block);
        return;
      case 'reasoning-end':
        this.#thoughts.delete(part.block);
        return;
      case 'message-start':
        this.started = true;
        return;
      case 'reasoning-delta':
      case 'citation':
        return;
      default:
        this.#simple = false;
    }
  }

  /** Whether it is nothing but text and thoughts: a call, whole or not, cannot be continued by another model. */
  get continuable(): boolean {
    return this.#simple;
  }

  /** The number of the next block. */
  get next(): number {
    return this.#next;
  }

  get openText(): number | null {
    return this.#text;
  }

  /** What closes the thoughts that broke off. */
  closing(): StreamPart[] {
    return [...this.#thoughts].map((block) => ({ type: 'reasoning-end', block, encrypted: null }));
  }
}

/**
 * An answer that continues a begun one: its first text is that of the block that is open, and its other blocks follow
 * those that there are.
 * @param repeated whether it begins with the begun text once more
 */
export function continuing(reader: PartReader, begun: AnswerPrefix, repeated: boolean): PartReader {
  const blocks = new Map<number, number>();
  const first = begun.next;
  let open = begun.openText;
  let joint = begun.text === '' ? null : new Joint(begun.text, repeated);
  let opening = begun.closing();
  const blockOf = (block: number): number => {
    const existing = blocks.get(block);
    if (existing !== undefined) return existing;
    const next = first + blocks.size;
    blocks.set(block, next);
    return next;
  };
  const moved = (part: StreamPart): StreamPart[] => {
    if (!('block' in part)) {
      const joinedRest = part.type === 'message-end' ? (joint?.rest() ?? '') : '';
      if (joinedRest === '' || open === null) return [part];
      return [{ type: 'text-delta', block: open, text: joinedRest }, part];
    }
    if (part.type === 'text-start' && open !== null && !blocks.has(part.block)) {
      blocks.set(part.block, open);
      return [];
    }
    const own = { ...part, block: blockOf(part.block) };
    if (own.type === 'text-end' && own.block === open) open = null;
    if (joint === null || (own.type !== 'text-delta' && own.type !== 'text-end')) return [own];
    const text = own.type === 'text-delta' ? joint.push(own.text) : joint.rest();
    if (own.type === 'text-end' || joint.passed) joint = null;
    const delta: StreamPart[] = text === '' ? [] : [{ type: 'text-delta', block: own.block, text }];
    return own.type === 'text-end' ? [...delta, own] : delta;
  };
  const all = (parts: StreamPart[]): StreamPart[] => {
    const closed = opening;
    opening = [];
    return [...closed, ...parts.flatMap(moved)];
  };
  return {
    push: (frame) => all(reader.push(frame)),
    end: () => all(reader.end()),
  };
}

/** Where two texts meet: what the second says of the first once more is left out. */
class Joint {
  readonly #before: string;
  readonly #space: string;
  readonly #repeated: boolean;
  #held = '';
  passed = false;

  constructor(before: string, repeated: boolean) {
    this.#before = before.trimEnd();
    this.#space = before.slice(this.#before.length);
    this.#repeated = repeated;
  }

  push(text: string): string {
    if (this.passed) return text;
    this.#held += text;
    const waits = (text: string, whole: string) => text.length < whole.length && whole.startsWith(text);
    if (this.#repeated && waits(this.#held, this.#before)) return '';
    return waits(this.#new(), this.#space) ? '' : this.rest();
  }

  /** What is still held back. The begun text was sent without the space at its end: the model wrote that anew. */
  rest(): string {
    if (this.passed) return '';
    this.passed = true;
    const text = this.#new();
    let same = 0;
    while (same < this.#space.length && text[same] === this.#space[same]) same += 1;
    return text.slice(same);
  }

  /** What is held back, without what was said before. */
  #new(): string {
    const repeats = this.#repeated && this.#held.startsWith(this.#before);
    return repeats ? this.#held.slice(this.#before.length) : this.#held;
  }
}

/** Whether an answer to it can be gone on with: one answer, in free text. */
export function isContinuable({ candidates, logprobs, output }: Conversation): boolean {
  return (candidates ?? 1) === 1 && logprobs === null && output.kind === 'text';
}

/**
 * The conversation with the begun answer at its end, without the space behind it, which some vendors refuse. Nothing is
 * thought about once more, and what was written counts towards the bound.
 * @param tokens how many the begun text is, about
 */
export function continued(conversation: Conversation, text: string, tokens: number): Conversation {
  const begun = text.trimEnd();
  if (begun === '') return conversation;
  const { maxOutputTokens, messages } = conversation;
  const last = messages.at(-1);
  const part: TextPart = { type: 'text', text: begun };
  const own: Message =
    last?.role === 'assistant'
      ? { ...last, parts: [...last.parts, part] }
      : { role: 'assistant', parts: [part] };
  return {
    ...conversation,
    messages: [...(last?.role === 'assistant' ? messages.slice(0, -1) : messages), own],
    maxOutputTokens: maxOutputTokens === null ? null : Math.max(1, maxOutputTokens - tokens),
    reasoning: null,
  };
}
