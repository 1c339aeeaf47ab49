import { isObject, type JsonObject } from './values.ts';

/**
 * What a format's decoder reads of a request, so that all the rest can be named: the fields of an object each
 * with what is read of them, `'all'` for the whole of it. Lists are read as what they hold.
 */
export type Readable = 'all' | ReadableObject | ReadableVariants;

export interface ReadableObject {
  fields: ReadonlyMap<string, Readable>;
  /** Whether fields that are not listed are named elsewhere (`extraFields`). */
  isOpen?: boolean;
  /** Whether its own format gets it whole, as it came. */
  isNative?: boolean;
}

/** Objects of several kinds, distinguished by one field. Kinds that are not listed are read whole, or named otherwise. */
export interface ReadableVariants {
  by: string;
  /** By the kind, or by its beginning and `*`. */
  kinds: ReadonlyMap<string, Readable>;
  /** For an object that does not say its kind. */
  usual: Readable;
  /** How objects of other kinds are named, of which no more than words are left: null where that is done elsewhere. */
  otherKinds: 'by kind' | 'by path' | null;
}

/** An object of which these fields are read: names alone for the whole of them. */
export function fields(
  names: readonly string[],
  inner: Readonly<Record<string, Readable>> = {},
): ReadableObject {
  return { fields: new Map([...names.map((name) => [name, 'all'] as const), ...Object.entries(inner)]) };
}

/** Of the request itself, and of objects in it, whose other fields are named elsewhere. */
export function openFields(inner: Readonly<Record<string, Readable>>): ReadableObject {
  return { ...fields([], inner), isOpen: true };
}

/** Of an object that its own format gets whole, as it came. */
export function nativeFields(
  names: readonly string[],
  inner: Readonly<Record<string, Readable>> = {},
): ReadableObject {
  return { ...fields(names, inner), isNative: true };
}

export function variants(
  by: string,
  kinds: Readonly<Record<string, Readable>>,
  { otherKinds = null, usual = 'all' }: Partial<Pick<ReadableVariants, 'otherKinds' | 'usual'>> = {},
): ReadableVariants {
  return { by, kinds: new Map(Object.entries(kinds)), usual, otherKinds };
}

/** How the wire's names are written here; formats that take several spellings have one. */
type Spelling = (name: string) => string;

const asWritten: Spelling = (name) => name;

/**
 * The fields of `request` that are not read, each once by its path, as the client wrote it.
 * @param own the request goes to a server of its own format
 */
export function unreadFields(
  request: JsonObject,
  readable: Readable,
  { own, spelling = asWritten }: { own: boolean; spelling?: Spelling | undefined },
): string[] {
  const unread = new Set<string>();
  const walk = (value: unknown, read: Readable, path: string): void => {
    if (read === 'all') return;
    if (Array.isArray(value)) {
      for (const one of value) walk(one, read, path);
      return;
    }
    if (!isObject(value)) return;
    if ('by' in read) {
      const kind = value[read.by];
      const readable = kind === undefined || kind === null ? read.usual : kindOf(read, kind);
      if (readable !== null) walk(value, readable, path);
      else if (read.otherKinds !== null && !own)
        unread.add(read.otherKinds === 'by kind' ? String(kind) : path);
      return;
    }
    if (own && read.isNative === true) return;
    for (const name of Object.keys(value)) {
      const field = value[name];
      if (saysNothing(field)) continue;
      const inner = read.fields.get(spelling(name));
      if (inner === 'all' || (inner === undefined && read.isOpen === true)) continue;
      const at = path === '' ? name : `${path}.${name}`;
      if (inner === undefined) unread.add(at);
      else walk(field, inner, at);
    }
  };
  walk(request, readable, '');
  return [...unread];
}

function kindOf({ kinds }: ReadableVariants, kind: unknown): Readable | null {
  if (typeof kind !== 'string') return null;
  const existing = kinds.get(kind);
  if (existing !== undefined) return existing;
  for (const [name, read] of kinds) if (name.endsWith('*') && kind.startsWith(name.slice(0, -1))) return read;
  return null;
}

/** What servers write into messages that clients send back: fields without a value. */
function saysNothing(value: unknown): boolean {
  if (value === undefined || value === null || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** The path as the request writes it, where something stands there; else null. Lists are looked through. */
export function pathIn(request: JsonObject, path: string, spelling: Spelling = asWritten): string | null {
  const find = (value: unknown, names: readonly string[]): string[] | null => {
    if (Array.isArray(value)) {
      for (const one of value) {
        const value = find(one, names);
        if (value !== null) return value;
      }
      return null;
    }
    const [first, ...rest] = names;
    if (first === undefined) return value === undefined || value === null ? null : [];
    if (!isObject(value)) return null;
    const written = Object.keys(value).find((name) => spelling(name) === first);
    const restOfPath = written === undefined ? null : find(value[written], rest);
    return restOfPath === null || written === undefined ? null : [written, ...restOfPath];
  };
  return find(request, path.split('.'))?.join('.') ?? null;
}
