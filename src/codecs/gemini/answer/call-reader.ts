import { type CallIds, callIds } from '../../adapt/call-ids.ts';
import { textOf } from '../../json/values.ts';
import type { StreamPart } from '../../model/stream-part.ts';
import type { FunctionCall } from '../wire.ts';
import { PartialArgs, willContinue } from './partial-args.ts';

interface OpenCall {
  block: number;
  args: PartialArgs;
}

/** Reads the calls of one answer: whole as a rule, else begun with `willContinue` and continued by parts without a name. */
export class CallReader {
  readonly #nextBlock: () => number;
  #ids: CallIds = callIds();
  #open: OpenCall | null = null;
  /** Whether a call was emitted. */
  any = false;
  /** Why the calls cannot be emitted; null while they can. */
  fault: string | null = null;

  constructor(nextBlock: () => number) {
    this.#nextBlock = nextBlock;
  }

  /** Names the answer, so that the ids of its calls differ from those of others. */
  scope(id: string): void {
    this.#ids = callIds(id);
  }

  push(call: FunctionCall): StreamPart[] {
    const name = textOf(call.name);
    if (name === '') return this.#goOn(call);
    const parts = this.#close(true);
    const block = this.#nextBlock();
    this.any = true;
    const id = textOf(call.id) || this.#ids.next(name);
    parts.push({ type: 'tool-call-start', block, id, name, kind: 'function' });
    if (willContinue(call) || Array.isArray(call.partialArgs)) {
      this.#open = { block, args: new PartialArgs(call) };
      return willContinue(call) ? parts : [...parts, ...this.#close(true)];
    }
    return [...parts, ...this.#input(block, call.args), { type: 'tool-call-end', block, complete: true }];
  }

  #goOn(call: FunctionCall): StreamPart[] {
    if (this.#open === null) {
      // An empty one ends a call that has ended already; anything else must not pass as an answer without calls.
      if (call.args !== undefined || call.partialArgs !== undefined || textOf(call.id) !== '')
        this.fault ??= 'The upstream called a tool without naming it';
      return [];
    }
    this.#open.args.add(call);
    return willContinue(call) ? [] : this.#close(true);
  }

  /** Ends a call that its next part should have ended. `cut`: the answer was cut off inside it. */
  end(cut: boolean): StreamPart[] {
    return this.#close(!cut);
  }

  #close(complete: boolean): StreamPart[] {
    const open = this.#open;
    this.#open = null;
    if (open === null) return [];
    const { args, block } = open;
    if (args.broken) this.fault ??= 'The upstream sent arguments at a place that cannot be understood';
    return [...this.#input(block, args.args), { type: 'tool-call-end', block, complete }];
  }

  #input(block: number, args: unknown): StreamPart[] {
    const text = this.#asText(args);
    return text === '' ? [] : [{ type: 'tool-call-delta', block, text }];
  }

  #asText(args: unknown): string {
    if (args === undefined || args === null) return '';
    if (typeof args === 'string') return args;
    try {
      return JSON.stringify(args);
    } catch {
      // JSON can be read to any depth and written only as deep as the stack goes.
      this.fault ??= 'The upstream sent arguments that are nested too deeply';
      return '';
    }
  }
}
