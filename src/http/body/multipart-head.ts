import { GatewayError } from '../../lib/error.ts';

/** One field of a form. */
export interface FormPart {
  name: string;
  /** Null for a plain field. */
  filename: string | null;
  /** True when a transfer encoding says that the bytes are not the value itself. */
  encoded: boolean;
}

/** RFC 2046 allows 70; a few clients use more. */
const MAX_BOUNDARY = 200;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** One parameter with the semicolon before it. A backslash escapes, as curl and most parsers have it. */
const PARAMETER =
  /[ \t]*;[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\\r\n\0]|\\[^\r\n\0])*)"|([^\s;"\\]+))/y;

export type ContentType =
  | { kind: 'form'; boundary: string }
  | { kind: 'json' }
  /** `text`: as it was sent, at most a hundred characters of it. */
  | { kind: 'other'; text: string };

/**
 * The kind of body that a request's `content-type` names. One that is missing counts as JSON.
 * @throws GatewayError `invalid_request` for a form without a usable boundary
 */
export function contentTypeOf(header: string | undefined): ContentType {
  if (header === undefined) return { kind: 'json' };
  const [type = ''] = header.split(';', 1);
  const essence = type.trim().toLowerCase();
  if (essence === 'application/json' || essence.endsWith('+json')) return { kind: 'json' };
  if (essence !== 'multipart/form-data') return { kind: 'other', text: header.slice(0, 100) };
  const parameters = parametersOf(header.slice(type.length));
  const boundary = parameters?.get('boundary');
  if (
    boundary === undefined ||
    boundary === '' ||
    boundary.length > MAX_BOUNDARY ||
    /[^\x20-\x7e]| $/.test(boundary)
  )
    throw new GatewayError(
      'invalid_request',
      'content-type names no usable boundary: send multipart/form-data; boundary=…, as form libraries do when content-type is left to them',
      { param: 'content-type' },
    );
  return { kind: 'form', boundary };
}

/**
 * The field that the head of a part describes.
 * @param head its lines without the blank one at the end
 * @throws GatewayError `invalid_request` for a head that parsers might read differently
 */
export function partOf(head: string): FormPart {
  let disposition: string | null = null;
  let encoded = false;
  for (const line of head === '' ? [] : head.split('\r\n')) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (/[\r\n\0]/.test(line) || !TOKEN.test(name)) throw unreadable('it has a line that is not a header');
    const value = line.slice(colon + 1).trim();
    const lower = name.toLowerCase();
    if (lower === 'content-disposition') {
      if (disposition !== null) throw unreadable('it has content-disposition twice');
      disposition = value;
    }
    if (lower === 'content-transfer-encoding') encoded = !/^(?:7bit|8bit|binary)$/i.test(value);
  }
  if (disposition === null) throw unreadable('it has no content-disposition');
  const parameters = /^form-data/i.test(disposition) ? parametersOf(disposition.slice(9)) : null;
  const name = parameters?.get('name');
  if (parameters === null || name === undefined || parameters.has('name*'))
    throw unreadable('its content-disposition is not form-data; name="…"');
  return { name, filename: parameters.get('filename') ?? parameters.get('filename*') ?? null, encoded };
}

/** The parameters by their names in lower case; null if they are not well formed or one is repeated. */
function parametersOf(text: string): ReadonlyMap<string, string> | null {
  const parameters = new Map<string, string>();
  let at = 0;
  while (at < text.length) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(text);
    if (match === null) return /^[ \t]*(?:;[ \t]*)?$/.test(text.slice(at)) ? parameters : null;
    const [whole, name = '', quoted, plain] = match;
    const lower = name.toLowerCase();
    if (parameters.has(lower)) return null;
    parameters.set(lower, quoted === undefined ? (plain ?? '') : quoted.replace(/\\(.)/gs, '$1'));
    at += whole.length;
  }
  return parameters;
}

function unreadable(problem: string): GatewayError {
  return new GatewayError('invalid_request', `A part of the form cannot be read: ${problem}`);
}
