import type { Failures } from './error.ts';
import type { CesqlEvent } from './event.ts';
import type { Value } from './value.ts';

/**
 * A compiled expression, or a part of one.
 * @param failures where errors go. Null: nobody wants to read them, and the first ends the evaluation.
 * @returns undefined when it failed. An operator or function of which an operand failed has failed too: its value is the
 *   zero value of its type, and nothing is computed from that.
 */
export type Evaluator<T extends Value = Value> = (
  event: CesqlEvent,
  failures: Failures | null,
) => T | undefined;

/** True when, after an error, the other operands are still evaluated for theirs. */
export function collectsFailures(failures: Failures | null): failures is Failures {
  return failures?.complete === true;
}
