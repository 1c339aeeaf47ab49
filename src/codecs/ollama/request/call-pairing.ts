import { callIds } from '../../adapt/call-ids.ts';

/** Gives every call an id, and every result that of the call which it answers. */
export interface CallPairing {
  called(name: string, id: string): string;
  /** @param name of the tool, `''` where the result names none; `id` likewise */
  answered(name: string, id: string): string;
  /** An answer begins: what was not answered before is not answered by name or order any more. */
  forget(): void;
}

interface Call {
  id: string;
  answered: boolean;
}

/**
 * Results are paired by id where they have one (servers since late 2025), else by the name of the tool, else in the
 * order of the calls. Calls without an id are named by their tool and number, the same in every later request.
 */
export function callPairing(): CallPairing {
  const ids = callIds();
  const orphans = callIds('result');
  let byId = new Queues();
  let byName = new Queues();
  let inOrder = new Queues();
  return {
    called(name, id) {
      const call = { id: id || ids.next(name), answered: false };
      byId.add(call.id, call);
      byName.add(name, call);
      inOrder.add('', call);
      return call.id;
    },
    answered(name, id) {
      const call = byId.first(id) ?? (name === '' ? inOrder.first('') : byName.first(name));
      if (call === undefined) return id || orphans.next(name);
      call.answered = true;
      return call.id;
    },
    forget() {
      byId = new Queues();
      byName = new Queues();
      inOrder = new Queues();
    },
  };
}

/** Calls by a key, the first that is not answered first, found without looking at an answered one twice. */
class Queues {
  readonly #queues = new Map<string, { calls: Call[]; at: number }>();

  add(key: string, call: Call): void {
    const queue = this.#queues.get(key);
    if (queue === undefined) this.#queues.set(key, { calls: [call], at: 0 });
    else queue.calls.push(call);
  }

  first(key: string): Call | undefined {
    const queue = this.#queues.get(key);
    if (queue === undefined) return undefined;
    while (queue.calls[queue.at]?.answered === true) queue.at += 1;
    return queue.calls[queue.at];
  }
}
