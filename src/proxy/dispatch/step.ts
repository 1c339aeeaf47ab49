import type { AttemptOutcome } from '../request/outcome.ts';
import type { OutgoingRequest, PartialAnswer } from '../request/outgoing.ts';

/** The state of a request when an attempt has ended. */
export interface AttemptState {
  /** The attempt was already the second one at this target, on a new socket. */
  readonly freshSocket: boolean;
  /** The client already has the beginning of the answer, from an earlier target. */
  readonly continues: boolean;
  /** The body cannot be sent again: it is a form whose bytes were already passed on to a target. */
  readonly bodyConsumed: boolean;
  /** The client is gone. */
  readonly clientGone: boolean;
}

/** What is done after an attempt. */
export type Step =
  /** The request ends with this outcome. */
  | { readonly do: 'finish' }
  /** The request ends because its client left. */
  | { readonly do: 'leave' }
  /** The same request is sent to the same target again, on a new socket. */
  | { readonly do: 'send-again' }
  /** The same target is sent `request` instead, without what it refused (`variant.ts`). */
  | { readonly do: 'send'; readonly request: OutgoingRequest }
  /** Another target is tried (`target-selector.ts`). If `partial` is not null, it continues that answer. */
  | { readonly do: 'ask-another'; readonly partial: PartialAnswer | null }
  /** No other target is tried: the failure would be the same there, or the body cannot be sent again. */
  | { readonly do: 'give-up' };

/**
 * Decides whether a failed attempt is followed by another one, at the same or at another target: the only place that does.
 * @param failsAnywhere whether every target would refuse the request in the same way (`next: 'stop'` in `health/faults.ts`)
 */
export function step(state: AttemptState, outcome: AttemptOutcome, failsAnywhere: boolean): Step {
  switch (outcome.kind) {
    case 'completed':
    case 'client-gone':
      return finish;
    case 'retry-variant':
      return state.clientGone ? leave : { do: 'send', request: outcome.variant };
    case 'interrupted':
      if (outcome.partial === null) return finish;
      return state.clientGone ? leave : { do: 'ask-another', partial: outcome.partial };
    case 'failed':
      if (state.clientGone) return leave;
      if (outcome.failure.safeToRetry && !state.freshSocket && !state.bodyConsumed)
        return { do: 'send-again' };
      // A request to continue an answer differs from target to target: the next one may accept its own.
      if (state.bodyConsumed || (failsAnywhere && !state.continues)) return { do: 'give-up' };
      return { do: 'ask-another', partial: null };
  }
}

const finish: Step = { do: 'finish' };
const leave: Step = { do: 'leave' };
