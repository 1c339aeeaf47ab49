import type { AttemptOutcome } from '../request/outcome.ts';
import type { OutgoingRequest, PartialAnswer } from '../request/outgoing.ts';

/** Where a request stands when the outcome of an attempt comes. */
export interface AttemptState {
  /** The target was asked once more, on a new socket. */
  readonly freshSocket: boolean;
  /** The client has the beginning of an answer that another target began. */
  readonly continues: boolean;
  /** The request came only once, as a form does whose bytes were asked for. */
  readonly bodyConsumed: boolean;
  /** The client is gone. */
  readonly clientGone: boolean;
}

/** What comes of the outcome of an attempt. */
export type Step =
  /** The request is over as the outcome says. */
  | { readonly do: 'finish' }
  /** It is over because its client left. */
  | { readonly do: 'leave' }
  /** The same is sent to the same target on a new socket. */
  | { readonly do: 'send-again' }
  /** The target is sent this instead. */
  | { readonly do: 'send'; readonly request: OutgoingRequest }
  /** The target has failed, and another is tried: to continue `partial` where that is not null. */
  | { readonly do: 'ask-another'; readonly partial: PartialAnswer | null }
  /** The target has failed, and so would any other. */
  | { readonly do: 'give-up' };

/**
 * The one decision of the loop: what is done after an attempt.
 * @param failsAnywhere whether the failure is one that the request would meet at every target (`health/faults.ts`)
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
      // What is wrong with a request to go on may be right with another's, or with none.
      if (state.bodyConsumed || (failsAnywhere && !state.continues)) return { do: 'give-up' };
      return { do: 'ask-another', partial: null };
  }
}

const finish: Step = { do: 'finish' };
const leave: Step = { do: 'leave' };
