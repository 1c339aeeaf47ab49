import { utf8Text } from '../../lib/bytes.ts';
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  containerEnd,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from './bytes.ts';
import { type ScanFault, scanValue } from './scan.ts';

/** As deep as values are looked through. */
const MAX_DEPTH = 1_000;

/**
 * Walks the fields of a JSON object, or the elements of a list, in their order and in bytes: nothing is decoded, and no
 * value is read before the next one is asked for.
 *
 *     const cursor = new JsonCursor(bytes, open);
 *     while (cursor.next()) use(cursor.name(), cursor.start, cursor.end());
 *     if (cursor.fault !== null) …
 */
export class JsonCursor {
  /** Where the literal of the field's name begins; -1 in a list. */
  nameStart = -1;
  /** After the literal of the name. */
  nameEnd = -1;
  /** Where the value begins; -1 before the first. */
  start = -1;
  /** The index of the bracket that closes the object or list; -1 before it was reached. */
  close = -1;
  /** Why there is no next one, where that is not the end. */
  fault: ScanFault | null = null;
  readonly #bytes: Uint8Array;
  readonly #open: number;
  readonly #isObject: boolean;
  readonly #maxDepth: number | null;
  #end = -1;

  /**
   * @param open where the bracket stands that opens the object or list
   * @param maxDepth how deep values are checked by the grammar; null where quotes and brackets alone tell where they end, which
   * is faster
   */
  constructor(bytes: Uint8Array, open: number, maxDepth: number | null = MAX_DEPTH) {
    this.#bytes = bytes;
    this.#open = open;
    this.#isObject = bytes[open] === OPEN_OBJECT;
    this.#maxDepth = maxDepth;
    if (!this.#isObject && bytes[open] !== OPEN_LIST) this.fault = { reason: 'invalid', at: open };
  }

  /** Moves to the next field or element. False at the end, and if invalid JSON follows. */
  next(): boolean {
    if (this.fault !== null || this.close !== -1) return false;
    const bytes = this.#bytes;
    const isFirst = this.start === -1;
    const before = isFirst ? this.#open + 1 : this.end();
    if (before === -1) return false;
    let at = skipSpace(bytes, before);
    if (bytes[at] === (this.#isObject ? CLOSE_OBJECT : CLOSE_LIST)) {
      this.close = at;
      return false;
    }
    if (!isFirst) {
      if (bytes[at] !== COMMA) return this.#fail(at);
      at = skipSpace(bytes, at + 1);
    }
    this.#end = -1;
    if (!this.#isObject) {
      this.start = at;
      return true;
    }
    const nameEnd = bytes[at] === QUOTE ? stringEnd(bytes, at) : -1;
    if (nameEnd === -1) return this.#fail(at);
    this.nameStart = at;
    this.nameEnd = nameEnd;
    const colon = skipSpace(bytes, nameEnd);
    if (bytes[colon] !== COLON) return this.#fail(colon);
    this.start = skipSpace(bytes, colon + 1);
    return true;
  }

  /** The index after the value; -1 if it is invalid. */
  end(): number {
    if (this.#end !== -1 || this.fault !== null) return this.#end;
    if (this.#maxDepth === null) this.#end = balancedEnd(this.#bytes, this.start);
    else {
      const scan = scanValue(this.#bytes, this.start, this.#maxDepth);
      if (scan.ok) this.#end = scan.end;
      else this.fault = { reason: scan.reason, at: scan.at };
    }
    if (this.#end === -1) this.fault ??= { reason: 'invalid', at: this.start };
    return this.#end;
  }

  /** The field's name; null where its literal has a wrong escape or a control character. */
  name(): string | null {
    return stringOf(utf8Text(this.#bytes, this.nameStart, this.nameEnd));
  }

  /** The text of the value. */
  text(): string {
    return utf8Text(this.#bytes, this.start, this.end());
  }

  #fail(at: number): false {
    this.fault = { reason: 'invalid', at };
    return false;
  }
}

/** The string that a JSON literal stands for; null when it holds a raw control character or a wrong escape. */
export function stringOf(literal: string): string | null {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** The index after the value at `start`, strings and brackets balanced; -1 when there is none. */
function balancedEnd(bytes: Uint8Array, start: number): number {
  const byte = bytes[start];
  if (byte === QUOTE) return stringEnd(bytes, start);
  if (byte === OPEN_OBJECT || byte === OPEN_LIST) return containerEnd(bytes, start);
  let index = start;
  while (index < bytes.length && !endsScalar(bytes[index])) index += 1;
  return index === start ? -1 : index;
}

function endsScalar(byte: number | undefined): boolean {
  return (
    byte === COMMA ||
    byte === CLOSE_OBJECT ||
    byte === CLOSE_LIST ||
    byte === 0x20 ||
    byte === 0x0a ||
    byte === 0x0d ||
    byte === 0x09
  );
}
