/** What can be wrong with a message that should be an event. */
export type EventProblemCode =
  | 'missing_attribute'
  | 'invalid_name'
  | 'invalid_value'
  | 'duplicate_attribute'
  | 'unsupported_version'
  | 'unsupported_format'
  | 'invalid_json'
  | 'invalid_data'
  | 'too_large';

export interface EventProblem {
  readonly code: EventProblemCode;
  /** The attribute, `data`, or empty for the whole message; in a batch with the event's place before it: `[2].time`. */
  readonly path: string;
  /** A sentence without the offending value. */
  readonly message: string;
}

export type DecodeResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly EventProblem[] };

export const decoded = <T>(value: T): DecodeResult<T> => ({ ok: true, value });

export const refused = (
  code: EventProblemCode,
  path: string,
  message: string,
): { ok: false; problems: EventProblem[] } => ({ ok: false, problems: [{ code, path, message }] });
