import {
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from '../codecs/json-bytes.ts';
import { scanValue } from '../codecs/json-scan.ts';
import { GatewayError } from '../lib/error.ts';

/** As deep as `topLevel` looks. */
const MAX_DEPTH = 1_000;

/**
 * The JSON object in `body` without the members of these names and with `added` before the others. Each member that
 * stays keeps its bytes.
 * @throws GatewayError `invalid_json`
 */
export function withMembers(
  body: Buffer,
  without: readonly string[],
  added: Readonly<Record<string, unknown>>,
): Buffer[] {
  const out: Buffer[] = [
    Buffer.from(Object.keys(added).length === 0 ? '{' : JSON.stringify(added).slice(0, -1)),
  ];
  let first = Object.keys(added).length === 0;
  for (const { end, name, start } of membersOf(body)) {
    if (without.includes(name) || Object.hasOwn(added, name)) continue;
    if (!first) out.push(comma);
    out.push(body.subarray(start, end));
    first = false;
  }
  return [...out, close];
}

const comma = Buffer.from(',');
const close = Buffer.from('}');

interface Member {
  name: string;
  /** From the quote of the name to the end of the value. */
  start: number;
  end: number;
  /** Where the value begins. */
  value: number;
}

/** The members of the object in `body`, in their order. @throws GatewayError `invalid_json` */
export function* membersOf(body: Buffer): Generator<Member> {
  const mark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  let index = skipSpace(body, mark);
  if (body[index] !== OPEN_OBJECT) throw invalid();
  index = skipSpace(body, index + 1);
  if (body[index] === CLOSE_OBJECT) return ended(body, index);
  for (;;) {
    const nameEnd = body[index] === QUOTE ? stringEnd(body, index) : -1;
    const colon = nameEnd === -1 ? -1 : skipSpace(body, nameEnd);
    if (colon === -1 || body[colon] !== COLON) throw invalid();
    const value = skipSpace(body, colon + 1);
    const scan = scanValue(body, value, MAX_DEPTH);
    if (!scan.ok) throw invalid();
    yield { name: nameIn(body.toString('utf8', index, nameEnd)), start: index, end: scan.end, value };
    index = skipSpace(body, scan.end);
    if (body[index] === CLOSE_OBJECT) return ended(body, index);
    if (body[index] !== COMMA) throw invalid();
    index = skipSpace(body, index + 1);
  }
}

function ended(body: Buffer, close: number): void {
  if (skipSpace(body, close + 1) < body.length) throw invalid();
}

function nameIn(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    throw invalid();
  }
}

function invalid(): GatewayError {
  return new GatewayError('invalid_json', 'The request body is not a valid JSON object');
}
