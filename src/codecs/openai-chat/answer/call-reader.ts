import { parseObject, textOf } from '../../json/values.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import { addToolCall, type CallSlot, callsIn, inputIn, kindOf, nameIn } from '../tool-calls.ts';
import type { ToolCall } from '../wire.ts';

/** What the caller of a reader gives it: ids and blocks are numbered through the whole answer. */
interface Numbering {
  nextBlock(): number;
  /** Of a call that came without one, the same for the same answer. */
  idOf(position: number): string;
  /** What ends and what stands before a call. */
  before(call: ToolCall): StreamPart[];
}

/** Reads the tool calls of one answer. A call is emitted once its name is known. */
export class CallReader {
  readonly #numbering: Numbering;
  readonly #slots: CallSlot[] = [];
  readonly #blocks = new Map<CallSlot, number>();
  readonly #open = new Set<CallSlot>();
  /** Open calls that have grown since it was last looked whether they are whole: to look at all of them takes too long. */
  readonly #grown = new Set<CallSlot>();

  constructor(numbering: Numbering) {
    this.#numbering = numbering;
  }

  get any(): boolean {
    return this.#blocks.size > 0;
  }

  push(deltas: unknown): StreamPart[] {
    return callsIn(deltas).flatMap((delta) => this.#add(delta));
  }

  #add(delta: ToolCall): StreamPart[] {
    const slot = addToolCall(this.#slots, delta);
    if (this.#open.has(slot)) this.#grown.add(slot);
    const block = this.#blocks.get(slot);
    if (block === undefined) return nameIn(slot.call) === '' ? [] : this.#start(slot);
    const text = inputIn(slot.call, delta);
    return text === '' || !this.#open.has(slot) ? [] : [{ type: 'tool-call-delta', block, text }];
  }

  #start(slot: CallSlot): StreamPart[] {
    const parts = [...this.#numbering.before(slot.call), ...this.#closeWhole()];
    const id = textOf(slot.call.id) || this.#numbering.idOf(this.#slots.indexOf(slot));
    const kind = kindOf(slot.call);
    const block = this.#numbering.nextBlock();
    this.#blocks.set(slot, block);
    this.#open.add(slot);
    this.#grown.add(slot);
    parts.push({ type: 'tool-call-start', block, id, name: nameIn(slot.call), kind });
    const text = inputIn(slot.call);
    if (text !== '') parts.push({ type: 'tool-call-delta', block, text });
    return parts;
  }

  /**
   * Ends earlier calls whose arguments are whole, so that a format with one open block can pass the next one on.
   * Others may still grow: calls come interleaved.
   */
  #closeWhole(): StreamPart[] {
    const whole = [...this.#grown].filter(({ call }) => isWhole(call));
    this.#grown.clear();
    // In the order of their start, whichever grew last.
    whole.sort((one, other) => (this.#blocks.get(one) ?? 0) - (this.#blocks.get(other) ?? 0));
    return whole.map((slot) => this.#close(slot, true));
  }

  #close(slot: CallSlot, complete: boolean): StreamPart {
    this.#open.delete(slot);
    return { type: 'tool-call-end', block: this.#blocks.get(slot) ?? 0, complete };
  }

  /** Ends the calls that are open. `cut`: the answer was cut off, perhaps inside the last of them. */
  end(cut: boolean): StreamPart[] {
    return [...this.#open].map((slot) => this.#close(slot, !cut || isWhole(slot.call)));
  }

  /** Whether a call has an id or arguments and no name: it must not pass as an answer without calls. */
  get nameless(): boolean {
    const isCall = ({ call }: CallSlot) => textOf(call.id) !== '' || inputIn(call) !== '';
    return this.#slots.some((slot) => !this.#blocks.has(slot) && isCall(slot));
  }

  /** Whether a call of this tool was emitted. */
  calls(name: string): boolean {
    return this.#slots.some(({ call }) => nameIn(call) === name);
  }
}

function isWhole(call: ToolCall): boolean {
  if (kindOf(call) === 'custom') return false;
  const text = inputIn(call);
  return text.trimEnd().endsWith('}') && parseObject(text) !== null;
}
