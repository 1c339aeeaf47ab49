import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  skipSpace,
  stringEnd,
} from '../../codecs/json/bytes.ts';

type State =
  | 'start'
  | 'before-key'
  | 'key'
  | 'before-colon'
  | 'before-value'
  | 'after-value'
  | 'string'
  | 'elsewhere'
  | 'settled';

/**
 * Looks for the string of one field in a JSON document that comes in pieces, from the root along `path`, names in ASCII. Reads what
 * leads there and skips all else; names that are spelled with escapes are taken for others. It is settled by the end of
 * the string, by an object on the path that closes without it, and by what is no JSON.
 */
export class FieldScan {
  /** Where the string's literal begins and ends (exclusive) in the piece that was read last; -1 where it does not. */
  start = -1;
  end = -1;
  readonly #path: readonly string[];
  #state: State = 'start';
  /** How many fields of the path are open. */
  #level = 0;
  /** Containers open beside the path. */
  #depth = 0;
  /** Bytes of the wanted name that the key has up to now; -1 when it is another key. */
  #matched = 0;
  /** The piece before ended with a backslash that escapes the first byte of the next. */
  #escaped = false;
  #inside = false;

  constructor(path: readonly string[]) {
    this.#path = path;
  }

  get settled(): boolean {
    return this.#state === 'settled';
  }

  /** True between the two ends of the wanted string. */
  get inside(): boolean {
    return this.#inside;
  }

  /** True while some string or key is open, in which no line may end. */
  get inString(): boolean {
    return this.#state === 'string' || this.#state === 'key';
  }

  /** Another document begins. */
  reset(): void {
    this.#state = 'start';
    this.#level = 0;
    this.#depth = 0;
    this.#escaped = false;
    this.#inside = false;
  }

  /** There is nothing more to look for in this document. */
  settle(): void {
    this.#state = 'settled';
    this.#inside = false;
  }

  /** Reads the next piece: the bytes from `from` to `to`. */
  read(bytes: Buffer, from: number, to: number): void {
    this.start = -1;
    this.end = -1;
    let index = from;
    while (index < to && this.#state !== 'settled') index = this.#step(bytes, index, to);
  }

  #step(bytes: Buffer, index: number, to: number): number {
    switch (this.#state) {
      case 'string':
        return this.#string(bytes, index, to);
      case 'elsewhere':
        return this.#elsewhere(bytes, index, to);
      case 'key':
        return this.#key(bytes, index, to);
      case 'after-value':
        return this.#afterValue(bytes, index, to);
      default: {
        const at = skipSpace(bytes, index);
        return at >= to ? to : this.#structure(bytes[at] ?? 0, at);
      }
    }
  }

  /** A byte that is no white space, where one of few may stand. */
  #structure(byte: number, at: number): number {
    if (this.#state === 'before-value') return this.#value(byte, at);
    if (this.#state === 'before-colon' && byte === COLON) this.#state = 'before-value';
    else if (this.#state === 'before-key' && byte === QUOTE) {
      this.#state = 'key';
      this.#matched = 0;
    } else if (this.#state === 'start' && byte === OPEN_OBJECT) this.#state = 'before-key';
    else if (this.#state !== 'start' || !ofByteOrderMark(byte)) this.settle();
    return at + 1;
  }

  #value(byte: number, at: number): number {
    if (this.#matched === this.#path[this.#level]?.length) return this.#wanted(byte, at);
    if (byte === QUOTE) this.#state = 'string';
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      this.#state = 'elsewhere';
      this.#depth = 1;
    } else {
      this.#state = 'after-value';
      return at;
    }
    return at + 1;
  }

  /** The value of a field on the path. */
  #wanted(byte: number, at: number): number {
    const last = this.#level === this.#path.length - 1;
    if (last && byte === QUOTE) {
      this.#state = 'string';
      this.#inside = true;
      this.start = at;
    } else if (!last && byte === OPEN_OBJECT) {
      this.#state = 'before-key';
      this.#level += 1;
    } else this.settle();
    return at + 1;
  }

  #key(bytes: Buffer, index: number, to: number): number {
    const name = this.#path[this.#level] ?? '';
    for (let at = index; at < to; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.#escaped) this.#escaped = false;
      else if (byte === QUOTE) {
        this.#state = 'before-colon';
        return at + 1;
      } else if (byte === BACKSLASH) {
        this.#escaped = true;
        this.#matched = -1;
      } else if (this.#matched !== -1)
        this.#matched = name.charCodeAt(this.#matched) === byte ? this.#matched + 1 : -1;
    }
    return to;
  }

  #string(bytes: Buffer, index: number, to: number): number {
    const from = this.#escaped ? index + 1 : index;
    this.#escaped = false;
    const end = stringEnd(bytes, from - 1);
    if (end === -1 || end > to) {
      this.#escaped = endsEscaping(bytes, from, to);
      return to;
    }
    if (this.#inside) {
      this.end = end;
      this.settle();
    } else this.#state = this.#depth > 0 ? 'elsewhere' : 'after-value';
    return end;
  }

  /** Inside a container that does not lead to the field. */
  #elsewhere(bytes: Buffer, index: number, to: number): number {
    let depth = this.#depth;
    let at = index;
    while (at < to && depth > 0) {
      const byte = bytes[at];
      at += 1;
      if (byte === QUOTE) {
        const end = stringEnd(bytes, at - 1);
        if (end === -1 || end > to) {
          this.#state = 'string';
          break;
        }
        at = end;
      } else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth += 1;
      else if (byte === CLOSE_OBJECT || byte === CLOSE_LIST) depth -= 1;
    }
    this.#depth = depth;
    if (depth === 0) this.#state = 'after-value';
    return at;
  }

  #afterValue(bytes: Buffer, index: number, to: number): number {
    for (let at = index; at < to; at += 1) {
      if (bytes[at] === COMMA) {
        this.#state = 'before-key';
        return at + 1;
      }
      if (bytes[at] === CLOSE_OBJECT) {
        this.settle();
        return to;
      }
    }
    return to;
  }
}

/** One of the three bytes of the mark, that may stand before any text in UTF-8. */
export function ofByteOrderMark(byte: number | undefined): boolean {
  return byte === 0xef || byte === 0xbb || byte === 0xbf;
}

/** True when the bytes end with a backslash that escapes what follows. */
function endsEscaping(bytes: Buffer, from: number, to: number): boolean {
  let at = to;
  while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
  return (to - at) % 2 === 1;
}
