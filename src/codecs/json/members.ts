import { GatewayError } from '../../lib/error.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from './bytes.ts';
import { scanValue } from './scan.ts';

/** As deep as a value is looked through. */
const MAX_DEPTH = 1_000;

export interface Member {
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

/** Where a part of an object or a list stands. */
interface Part {
  start: number;
  end: number;
}

/** The items of the list in `list`, in their order. @throws GatewayError `invalid_json` */
export function* itemsOf(list: Buffer): Generator<Part> {
  let index = skipSpace(list, 0);
  if (list[index] !== OPEN_LIST) throw invalid();
  index = skipSpace(list, index + 1);
  if (list[index] === CLOSE_LIST) return ended(list, index);
  for (;;) {
    const scan = scanValue(list, index, MAX_DEPTH);
    if (!scan.ok) throw invalid();
    yield { start: index, end: scan.end };
    index = skipSpace(list, scan.end);
    if (list[index] === CLOSE_LIST) return ended(list, index);
    if (list[index] !== COMMA) throw invalid();
    index = skipSpace(list, index + 1);
  }
}

/** A member of an object, as bytes. */
export interface MemberBytes {
  name: string;
  value: Buffer;
  /** The name and the value as they stand. */
  whole: Buffer;
}

/**
 * The object with each member as `rewrite` gives it, null for one that goes. Where nothing changes it is the same buffer;
 * what does not change keeps its bytes, so that no number is rounded and no text written anew. Other values stay as they are.
 * @throws GatewayError `invalid_json`
 */
export function rewriteMembers(object: Buffer, rewrite: (member: MemberBytes) => Buffer | null): Buffer {
  if (object[skipSpace(object, 0)] !== OPEN_OBJECT) return object;
  return rewritten(object, membersOf(object), ({ end, name, start, value }) =>
    rewrite({ name, value: object.subarray(value, end), whole: object.subarray(start, end) }),
  );
}

/** The same for the items of a list. @throws GatewayError `invalid_json` */
export function rewriteItems(list: Buffer, rewrite: (item: Buffer) => Buffer | null): Buffer {
  if (list[skipSpace(list, 0)] !== OPEN_LIST) return list;
  return rewritten(list, itemsOf(list), ({ end, start }) => rewrite(list.subarray(start, end)));
}

/** What encloses and separates the parts stays as well: before each that is kept stands what stood before it. */
function rewritten<P extends Part>(
  bytes: Buffer,
  parts: Iterable<P>,
  rewrite: (part: P) => Buffer | null,
): Buffer {
  const pieces: Buffer[] = [];
  let first = true;
  let changed = false;
  let before = -1;
  for (const part of parts) {
    if (before === -1) pieces.push(bytes.subarray(0, part.start));
    const written = rewrite(part);
    if (written === null) changed = true;
    else {
      changed ||= !isSame(written, bytes.subarray(part.start, part.end));
      if (!first) pieces.push(bytes.subarray(before, part.start));
      pieces.push(written);
      first = false;
    }
    before = part.end;
  }
  return changed ? Buffer.concat([...pieces, bytes.subarray(before)]) : bytes;
}

/** Whether both are the very same memory. */
function isSame(one: Buffer, other: Buffer): boolean {
  return one.buffer === other.buffer && one.byteOffset === other.byteOffset && one.length === other.length;
}

/** The object with one of its members as `rewrite` gives its value; null for one that goes with its name. */
export function rewriteMember(
  object: Buffer,
  wanted: string,
  rewrite: (value: Buffer) => Buffer | null,
): Buffer {
  return rewriteMembers(object, (member) =>
    member.name === wanted ? withValue(member, rewrite(member.value)) : member.whole,
  );
}

/** A member with another value; null where that is null. */
export function withValue({ value, whole }: MemberBytes, other: Buffer | null): Buffer | null {
  if (other === null) return null;
  if (isSame(other, value)) return whole;
  return Buffer.concat([whole.subarray(0, whole.length - value.length), other]);
}

/** A member of this name. */
export function memberOf(name: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(name)}:`), value]);
}
