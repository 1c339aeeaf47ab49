/** What a failed attempt means for the account that it was made with. What each does is in `health/faults.ts`. */
export type FaultKind =
  /** No connection to it comes about. */
  | 'unreachable'
  /** The connection broke off. */
  | 'cut'
  | 'timeout'
  /** It answers, and not with what an API answers. */
  | 'protocol'
  /** The address leads elsewhere: a redirect, a path that does not exist. */
  | 'path'
  /** The credential is refused. */
  | 'credential'
  /** The credential is good, and not for this. */
  | 'permission'
  /** Nothing is left to pay with. */
  | 'billing'
  /** What was allowed for a longer time is used up. */
  | 'quota'
  | 'rate-limit'
  | 'overloaded'
  /** Its own fault, whatever it is. */
  | 'server'
  /** The model is not served here. */
  | 'model'
  /** Something else is under way there that stands against this request. */
  | 'busy'
  /** The conversation is longer than the model reads. */
  | 'context'
  /** The connection lacks something that the gateway can check. */
  | 'unusable'
  /** The request cannot be said in the target's format. */
  | 'untranslatable'
  /** The client's own: it would fail anywhere. */
  | 'request';

/** How a failed answer is known. The first row that fits decides. */
export interface FaultRow {
  statuses: readonly number[];
  /** Looked for in the error's type, code and message together. */
  pattern?: RegExp;
  kind: FaultKind;
}
