import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject } from '../../codecs/json/values.ts';
import type { FinishReason } from '../../codecs/model/finish-reason.ts';
import type { GatewayError } from '../../lib/error.ts';
import type { AnswerUsage } from './answer-usage.ts';
import type { Failure } from './failure.ts';
import type { OutgoingRequest, PartialAnswer } from './outgoing.ts';

/** How an attempt ended. The reader of its answer reports it once, and `dispatch/step.ts` decides what happens next. */
export type AttemptOutcome =
  | CompletedAnswer
  /** Nothing of an answer went to the client. */
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** As `failed` or `interrupted`, but the target would take the request without something that its error names. */
  | { readonly kind: 'retry-variant'; readonly error: GatewayError; readonly variant: OutgoingRequest }
  | InterruptedAnswer
  | { readonly kind: 'client-gone'; readonly streamed: boolean; readonly answerUsage: AnswerUsage };

/** The client has all of the answer, as it came. */
export interface CompletedAnswer {
  readonly kind: 'completed';
  readonly status: number;
  readonly streamed: boolean;
  readonly answerUsage: AnswerUsage;
  /** Why it ended, as far as it says; null where it does not. */
  readonly finishReason: FinishReason | null;
  /** What the answer itself said that it ended with; null where it ended well. */
  readonly error: { readonly code: string; readonly message: string } | null;
  /** A response of the responses format that is to be kept, and what it answers; null for none. */
  readonly response: ResponseToStore | null;
}

export interface ResponseToStore {
  readonly request: OutgoingRequest;
  /** Null where it cannot be read in full. */
  read(this: void): JsonObject | null;
}

/** A failure after content went to the client. */
export interface InterruptedAnswer {
  readonly kind: 'interrupted';
  readonly failure: Failure;
  readonly status: number;
  readonly streamed: boolean;
  readonly answerUsage: AnswerUsage;
  /** What another target can continue; null where the answer ends here. */
  readonly partial: PartialAnswer | null;
  /** What the client is sent before the reset where it does. */
  readonly ending: Buffer | null;
}

/** The calls of the reader of an upstream's answer. */
export interface AnswerSink {
  /** The head of the answer. */
  head(status: number, headers: IncomingHttpHeaders): void;
  /**
   * Content goes to the client from now on.
   * @param firstBytes the first bytes of a relayed answer; null where they are not read
   * @param isFinal true: no other target will continue the answer, so the request's bytes may be freed, unless the answer is
   *   to be stored. It may be false in a first call and true in a second one
   * @returns whether the answer is to be stored (`shouldKeep`). Decided when `isFinal` is true, before the request's bytes may
   *   be freed; false until then
   */
  committed(firstBytes: Buffer | null, isFinal: boolean): boolean;
  /** The attempt is over. Once. */
  settled(outcome: AttemptOutcome): void;
}
