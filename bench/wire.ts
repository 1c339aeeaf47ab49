/** What follows a message head: its body's length in bytes, or `chunked`. */
export type BodyLength = number | 'chunked';

export interface MessageEvents {
  /** The head as text, without its blank line. Returns nothing; the body's length is read from it. */
  head(text: string): void;
  body(piece: Buffer): void;
  end(): void;
}

type State = 'head' | 'fixed' | 'size' | 'data' | 'data-end' | 'trailer';

/**
 * Reads HTTP/1.1 messages from the bytes of one connection (RFC 9112), as little as a bench needs: no upgrade,
 * no body that ends with the connection. Throws on bytes that are not HTTP.
 */
export function createMessageReader(events: MessageEvents): (bytes: Buffer) => void {
  let state: State = 'head';
  let kept: Buffer | null = null;
  let left = 0;

  /** Bytes up to `mark`, or null (and they are kept) when it has not arrived. */
  function takeLine(bytes: Buffer, from: number, mark: string): { text: string; next: number } | null {
    const at = bytes.indexOf(mark, from, 'latin1');
    if (at !== -1) return { text: bytes.toString('latin1', from, at), next: at + mark.length };
    if (bytes.length - from > 65_536) throw new Error('the message head is longer than 64 KiB');
    kept = bytes.subarray(from);
    return null;
  }

  function finish(): void {
    state = 'head';
    events.end();
  }

  function readHead(bytes: Buffer, from: number): number {
    const head = takeLine(bytes, from, '\r\n\r\n');
    if (head === null) return bytes.length;
    events.head(head.text);
    const length = bodyLength(head.text);
    if (length === 'chunked') state = 'size';
    else if (length === 0) finish();
    else {
      left = length;
      state = 'fixed';
    }
    return head.next;
  }

  function readPiece(bytes: Buffer, from: number): number {
    const end = Math.min(bytes.length, from + left);
    left -= end - from;
    events.body(from === 0 && end === bytes.length ? bytes : bytes.subarray(from, end));
    if (left > 0) return end;
    if (state === 'fixed') finish();
    else state = 'data-end';
    return end;
  }

  function readLine(bytes: Buffer, from: number): number {
    const line = takeLine(bytes, from, '\r\n');
    if (line === null) return bytes.length;
    if (state === 'data-end') state = 'size';
    else if (state === 'trailer') {
      if (line.text === '') finish();
    } else {
      left = Number.parseInt(line.text, 16);
      if (!(left >= 0)) throw new Error(`not a chunk size: ${JSON.stringify(line.text)}`);
      state = left === 0 ? 'trailer' : 'data';
    }
    return line.next;
  }

  return (arrived) => {
    const bytes: Buffer = kept === null ? arrived : Buffer.concat([kept, arrived]);
    kept = null;
    let position = 0;
    while (position < bytes.length) {
      if (state === 'head') position = readHead(bytes, position);
      else if (state === 'fixed' || state === 'data') position = readPiece(bytes, position);
      else position = readLine(bytes, position);
    }
  };
}

function bodyLength(head: string): BodyLength {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length !== undefined) return Number(length);
  return /\r\ntransfer-encoding: *chunked/i.test(head) ? 'chunked' : 0;
}

/** Tells whether the pieces of a body, one after another, are exactly `expected`. */
export function createComparison(expected: Buffer): { add(piece: Buffer): void; matches(): boolean } {
  let offset = 0;
  let equal = true;
  return {
    add(piece) {
      const end = offset + piece.length;
      if (equal) equal = end <= expected.length && piece.compare(expected, offset, end) === 0;
      offset = end;
    },
    matches: () => equal && offset === expected.length,
  };
}
