import { errorInAnswer } from '../../codecs/failures/error-in-answer.ts';
import { withDigits } from '../../codecs/json/lossless.ts';
import { isObject, type JsonObject } from '../../codecs/json/values.ts';
import { readVendorError } from '../../codecs/openai-shared/error.ts';
import { GatewayError } from '../../lib/error.ts';
import { firstCharacter } from '../answer/shape.ts';

/** Larger answers are not read: while one is parsed, every other request waits (1 MiB: some 5 ms). */
const READ_BYTES = 1_048_576;

/** A whole answer that is labelled JSON, or should be. */
export interface JsonAnswer {
  list: boolean;
  /** The HTTP status that it deserves where it is an error after all; null for an answer, and for a large one. */
  errorStatus: number | null;
  /** The document, its numbers with all their digits; null where it is a large one and cannot be read after all. */
  read(): object | null;
}

/**
 * The answer that `body` is; null when it is not one complete JSON object or list: half a document, more than one, a
 * scalar, `NaN`. `JSON.parse` takes as long as a scan of the bytes would (30 KB: some 50 µs), and is as strict as the
 * clients' own. Of what is larger than 1 MiB only both ends are looked at.
 */
export function jsonAnswer(body: Buffer): JsonAnswer | null {
  if (body.length <= READ_BYTES) {
    const text = textOf(body);
    const value = objectIn(text);
    return (
      value && {
        list: Array.isArray(value),
        errorStatus: isObject(value) ? errorStatus(value) : null,
        read: () => withDigits(value, text),
      }
    );
  }
  const first = firstCharacter(body);
  const last = body
    .toString('latin1', body.length - LAST_BYTES)
    .trimEnd()
    .at(-1);
  if (!(first === '{' && last === '}') && !(first === '[' && last === ']')) return null;
  return { list: first === '[', errorStatus: null, read: () => parseAnswer(body) };
}

/** The status of an error that came with HTTP 200 in a vendor's own fields. */
function errorStatus(value: JsonObject): number | null {
  return errorInAnswer(value) === null ? null : readVendorError(value).status;
}

function parseAnswer(body: Buffer): object | null {
  const text = textOf(body);
  const value = objectIn(text);
  return value && withDigits(value, text);
}

function textOf(body: Buffer): string {
  const text = body.toString('utf8');
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/** Whether the data of a frame is one JSON document. */
export function isJsonDocument(data: string): boolean {
  return objectIn(data) !== null;
}

/** For an answer with status 200 that is labelled JSON, or should be, and is none. */
export function notJson(status: number, contentType: string | undefined, body: Buffer): GatewayError {
  const what =
    body.length === 0
      ? 'an empty body'
      : `a body that is not a complete JSON object (content-type ${contentType ?? 'missing'})`;
  return new GatewayError(
    'upstream_protocol',
    `The upstream answered ${status} with ${what}; check the connection's base URL`,
  );
}

/** Of a large answer, with white space at its end. */
const LAST_BYTES = 256;
const BYTE_ORDER_MARK = 0xfeff;

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
