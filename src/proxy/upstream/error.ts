import type { IncomingHttpHeaders } from 'node:http';
import { errorInAnswer } from '../../codecs/failures/error-in-answer.ts';
import { saysOverflow } from '../../codecs/failures/overflow.ts';
import { vendorCode, vendorMessage } from '../../codecs/failures/vendor-message.ts';
import { detailsOf } from '../../codecs/gemini/answer/error.ts';
import { codecOf } from '../../codecs/index.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { retryAt } from '../../health/wait.ts';
import { GatewayError } from '../../lib/error.ts';

export interface UpstreamErrorInput {
  format: WireFormat;
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  target: Target;
  /** Takes out what the connection is known by to the upstream. */
  redact(text: string): string;
  /** Milliseconds since the epoch, for times that headers name. */
  now?: number;
}

export interface UpstreamError {
  error: GatewayError;
  /** The body to relay when it is already a proper error of the client's dialect; null when it must be rendered anew. */
  body: Buffer | null;
  /** The error's type, code and message together, for what it means (`health/faults.ts`). */
  errorText: string;
}

/**
 * Reads an upstream's HTTP error, whatever its shape: a proper error of the dialect is kept byte for byte,
 * while HTML pages, empty bodies, `{"detail":…}` and bare strings become one that the client's SDK can read.
 */
export function readUpstreamError({
  format,
  status,
  headers,
  body,
  target,
  redact,
  now = Date.now(),
}: UpstreamErrorInput): UpstreamError {
  const { clean, json } = redactBody(body, redact);
  const inAnswer = isObject(json) ? errorInAnswer(json) : null;
  const vendorText = vendorMessage(Array.isArray(json) ? json[0] : json) || (inAnswer?.message ?? '');
  const message = vendorText === '' ? describe({ status, headers, target }, clean, json) : vendorText;
  const google = googleDetails(json);
  const errorText = [identifiersIn(json), inAnswer?.code ?? '', message].join(' ');
  const tooLong = (status === 400 || status === 413) && saysOverflow(`${codeIn(json)} ${message}`);
  if (tooLong)
    return {
      error: new GatewayError('context_length_exceeded', message),
      body: properBody(format, json, clean),
      errorText,
    };
  const until = status < 400 ? null : retryAt(headers, '', google?.retryAfter ?? null, now);
  const error = new GatewayError('upstream_error', message, {
    // Google answers 400 for a key that is not valid.
    status: status === 400 && google?.invalidKey === true ? 401 : status,
    vendorCode: vendorCode(status, errorIn(json), vendorText),
    ...(until === null ? {} : { retryAfter: Math.ceil((until - now) / 1000) }),
  });
  return { error, body: properBody(format, json, clean), errorText };
}

/** The body and what it says, both without secrets: JSON may spell one with escapes. */
function redactBody(body: Buffer, redact: (text: string) => string): { clean: Buffer; json: unknown } {
  const text = body.toString('utf8');
  const redactedText = redact(text);
  const clean = redactedText === text ? body : Buffer.from(redactedText);
  const json = parse(clean);
  const serialized = json === undefined ? '' : JSON.stringify(json);
  const redactedJson = redact(serialized);
  return redactedJson === serialized
    ? { clean, json }
    : { clean: Buffer.from(redactedJson), json: parse(Buffer.from(redactedJson)) };
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** What Google's servers say in the details of an error, of any of their formats, alone or in a list. */
function googleDetails(json: unknown): ReturnType<typeof detailsOf> | null {
  const object = Array.isArray(json) ? json[0] : json;
  const error = isObject(object) ? object['error'] : undefined;
  return isObject(error) && Array.isArray(error['details']) ? detailsOf(error) : null;
}

/** The body as the client may have it; null when it is no error of the dialect. */
function properBody(format: WireFormat, json: unknown, body: Buffer): Buffer | null {
  const proper = isObject(json) ? codecOf(format).errorBody(json) : null;
  if (proper === null || proper === json) return proper && body;
  return Buffer.from(JSON.stringify(proper));
}

/** What else an error calls itself: its type, code, status and Google's ids of quotas. */
function identifiersIn(json: unknown): string {
  const object = Array.isArray(json) ? json[0] : json;
  const error = isObject(object) ? object['error'] : undefined;
  if (!isObject(error)) return isObject(object) ? codesOf(object) : '';
  const details = Array.isArray(error['details']) ? JSON.stringify(error['details']).slice(0, 2000) : '';
  return `${codesOf(error)} ${details}`;
}

function codesOf({ code, status, type }: Record<string, unknown>): string {
  return [type, code, status].filter((word) => typeof word === 'string').join(' ');
}

/** The object that says what failed: in its envelope, or bare. */
function errorIn(json: unknown): unknown {
  return isObject(json) && isObject(json['error']) ? json['error'] : json;
}

function codeIn(json: unknown): string {
  const error = isObject(json) ? json['error'] : undefined;
  const code = isObject(error) ? error['code'] : undefined;
  return typeof code === 'string' ? code : '';
}

function describe(
  { status, headers, target }: Pick<UpstreamErrorInput, 'status' | 'headers' | 'target'>,
  body: Buffer,
  json: unknown,
): string {
  return `${target.provider.name} answered ${status} with ${kindOf(headers, body, json)} instead of an API error`;
}

function kindOf(headers: IncomingHttpHeaders, body: Buffer, json: unknown): string {
  if (body.length === 0) return 'an empty body';
  if (json !== undefined) return 'JSON that gives no reason';
  return headers['content-type']?.includes('html') ? 'an HTML page' : 'a body that is not JSON';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
