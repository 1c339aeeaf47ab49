import { GatewayError } from '../../lib/error.ts';
import { afterByteOrderMark, OPEN_LIST, OPEN_OBJECT, skipSpace } from './bytes.ts';
import { JsonCursor } from './cursor.ts';

export interface Field {
  name: string;
  /** From the quote of the name to the end of the value. */
  start: number;
  end: number;
  /** Where the value begins. */
  value: number;
}

/** The fields of the object in `body`, in their order. @throws GatewayError `invalid_json` */
export function* fieldsOf(body: Buffer): Generator<Field> {
  const open = skipSpace(body, afterByteOrderMark(body));
  if (body[open] !== OPEN_OBJECT) throw invalid();
  const cursor = new JsonCursor(body, open);
  while (cursor.next()) {
    const name = cursor.name();
    const end = cursor.end();
    if (name === null || end === -1) throw invalid();
    yield { name, start: cursor.nameStart, end, value: cursor.start };
  }
  checkEnd(body, cursor);
}

/** Nothing but white space may follow. @throws GatewayError `invalid_json` */
function checkEnd(bytes: Buffer, { close }: JsonCursor): void {
  if (close === -1 || skipSpace(bytes, close + 1) < bytes.length) throw invalid();
}

function invalid(): GatewayError {
  return new GatewayError('invalid_json', 'The request body is not a valid JSON object');
}

/** Where a part of an object or a list stands. */
interface Part {
  start: number;
  end: number;
}

/** The elements of the list in `list`, in their order. @throws GatewayError `invalid_json` */
export function* elementsOf(list: Buffer): Generator<Part> {
  const open = skipSpace(list, 0);
  if (list[open] !== OPEN_LIST) throw invalid();
  const cursor = new JsonCursor(list, open);
  while (cursor.next()) {
    const end = cursor.end();
    if (end === -1) throw invalid();
    yield { start: cursor.start, end };
  }
  checkEnd(list, cursor);
}

/** A field of an object, as bytes. */
export interface FieldBytes {
  name: string;
  value: Buffer;
  /** The name and the value as they stand. */
  whole: Buffer;
}

/**
 * The object with each field as `rewrite` gives it, null for one that goes. Where nothing changes it is the same buffer;
 * what does not change keeps its bytes, so that no number is rounded and no text written anew. Other values stay as they are.
 * @throws GatewayError `invalid_json`
 */
export function rewriteFields(object: Buffer, rewrite: (field: FieldBytes) => Buffer | null): Buffer {
  if (object[skipSpace(object, 0)] !== OPEN_OBJECT) return object;
  return rewritten(object, fieldsOf(object), ({ end, name, start, value }) =>
    rewrite({ name, value: object.subarray(value, end), whole: object.subarray(start, end) }),
  );
}

/** The same for the elements of a list. @throws GatewayError `invalid_json` */
export function rewriteElements(list: Buffer, rewrite: (element: Buffer) => Buffer | null): Buffer {
  if (list[skipSpace(list, 0)] !== OPEN_LIST) return list;
  return rewritten(list, elementsOf(list), ({ end, start }) => rewrite(list.subarray(start, end)));
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

/** The object with one of its fields as `rewrite` gives its value; null for one that goes with its name. */
export function rewriteField(
  object: Buffer,
  name: string,
  rewrite: (value: Buffer) => Buffer | null,
): Buffer {
  return rewriteFields(object, (field) =>
    field.name === name ? withValue(field, rewrite(field.value)) : field.whole,
  );
}

/** A field with another value; null where that is null. */
export function withValue({ value, whole }: FieldBytes, other: Buffer | null): Buffer | null {
  if (other === null) return null;
  if (isSame(other, value)) return whole;
  return Buffer.concat([whole.subarray(0, whole.length - value.length), other]);
}

/** A field of this name. */
export function fieldOf(name: string, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(name)}:`), value]);
}
