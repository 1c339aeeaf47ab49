import { GatewayError } from '../../lib/error.ts';

/**
 * What went wrong. `invalid_json`: the text is no JSON object. `invalid_request`: a field of the request has a wrong type or
 * value. `not_translatable`: the target cannot say what a field asks for, and the answer would mean something else
 * without it. `format_not_supported`: an option is no format. `upstream_error`: the upstream reported a failure.
 * `upstream_cut`: its stream ended without the final event. `upstream_protocol`: its answer is no answer of its format.
 */
export type TranslationErrorCode =
  | 'invalid_json'
  | 'invalid_request'
  | 'not_translatable'
  | 'format_not_supported'
  | 'upstream_error'
  | 'upstream_cut'
  | 'upstream_protocol';

/** The one error that this library throws for what it was given. */
export class TranslationError extends Error {
  override readonly name = 'TranslationError';
  readonly code: TranslationErrorCode;
  /** The field of the request, or the option, at fault: `messages[0].content`; null where it is none. */
  readonly field: string | null;
  /** The HTTP status that a server would answer with: 400, or the one that an upstream's failure deserves, e.g. 529. */
  readonly status: number;

  constructor(
    code: TranslationErrorCode,
    message: string,
    options: { field?: string | null; status?: number; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.field = options.field ?? null;
    this.status = options.status ?? (code.startsWith('upstream') ? 502 : 400);
  }
}

/** The outcome of `translate`, whose errors become those of this library. */
export function withTranslationErrors<T>(translate: () => T): T {
  try {
    return translate();
  } catch (error) {
    if (error instanceof GatewayError)
      throw new TranslationError(error.code as TranslationErrorCode, error.message, {
        field: error.param,
        status: error.status,
        cause: error,
      });
    // JSON can be read to any depth and written only as deep as the stack goes.
    if (error instanceof RangeError)
      throw new TranslationError('invalid_json', 'The body is nested too deeply to be translated', {
        cause: error,
      });
    throw error;
  }
}
