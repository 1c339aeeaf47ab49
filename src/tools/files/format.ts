import { isDeepStrictEqual } from 'node:util';
import { type Key, type Path, pathText, removeAt, resolvePath, setAt } from './path.ts';
import { FileEditError, type Json, type JsonObject } from './value.ts';

export type ReadResult =
  | { ok: true; value: JsonObject }
  /** Line and column count from 1. */
  | { ok: false; problem: string; line: number; column: number };

/**
 * What one syntax has to provide: how to read a text, and how to splice one change into it. Keys lead to where the
 * change goes; a number is a position in a list. The text has no byte order mark.
 */
export interface Syntax {
  read(text: string): ReadResult;
  /** Replaces what stands at `keys`, which is there. */
  replace(text: string, keys: readonly Key[], value: Json): string;
  /** Adds an entry to what stands at `parent`: under a name, or with a number at the end of a list. */
  insert(text: string, parent: readonly Key[], key: Key, value: Json): string;
  /** Takes away what stands at `keys`, which is there. */
  remove(text: string, keys: readonly Key[]): string;
}

/** An editor that changes one entry and leaves every other character of the file as it was. */
export interface FileFormat {
  /** An empty text is an empty configuration. */
  read(text: string): ReadResult;
  /** @throws FileEditError when the file cannot be read, or the entry cannot be set without touching another */
  set(text: string, path: Path, value: Json): string;
  /** Unchanged when nothing stands there. @throws FileEditError as `set` */
  remove(text: string, path: Path): string;
}

const MARK = '\ufeff';

/**
 * The editor of a syntax. Every change is read back: a text whose value is not exactly the wanted one is never
 * returned, so a syntax may refuse by failing and cannot damage a file.
 */
export function fileFormat(syntax: Syntax): FileFormat {
  return {
    read: (text) => syntax.read(withoutMark(text)),
    set: (text, path, value) =>
      edited(syntax, text, path, (before, body) => {
        const { existing, keys } = resolvePath(before, path);
        if (existing !== undefined && isDeepStrictEqual(existing, value)) return null;
        const changedValue = setAt(before, path, value);
        const depth = existingDepth(before, keys);
        const target = keys.slice(0, depth + 1);
        const subtree = valueAt(changedValue, target);
        if (subtree === undefined) throw new FileEditError(`${pathText(path)} cannot be set`);
        const exists = valueAt(before, target) !== undefined;
        const next = exists
          ? syntax.replace(body, target, subtree)
          : syntax.insert(body, target.slice(0, -1), target[depth] ?? '', subtree);
        return { next, accepted: [changedValue] };
      }),
    remove: (text, path) =>
      edited(syntax, text, path, (before, body) => {
        const { existing, keys } = resolvePath(before, path);
        if (existing === undefined) return null;
        return { next: syntax.remove(body, keys), accepted: withoutEntry(before, keys) };
      }),
  };
}

/** A changed text and the values that it may have then, or null when nothing has to change. */
type Change = (before: JsonObject, body: string) => { next: string; accepted: readonly JsonObject[] } | null;

function edited(syntax: Syntax, text: string, path: Path, change: Change): string {
  const body = withoutMark(text);
  const before = syntax.read(body);
  if (!before.ok) throw new FileEditError(`${before.problem} (line ${before.line}, column ${before.column})`);
  const made = change(before.value, body);
  if (made === null) return text;
  const after = syntax.read(made.next);
  const exact = after.ok && made.accepted.some((value) => isDeepStrictEqual(after.value, value));
  if (!exact)
    throw new FileEditError(`${pathText(path)} cannot be changed without touching other entries of the file`);
  return text.startsWith(MARK) ? MARK + made.next : made.next;
}

/** Without the entry; or without its groups as well that are empty then, which TOML does not write down. */
function withoutEntry(before: JsonObject, keys: readonly Key[]): JsonObject[] {
  const values = [removeAt(before, keys)];
  for (let length = keys.length - 1; length > 0; length -= 1) {
    const last = values.at(-1) ?? before;
    const group = valueAt(last, keys.slice(0, length));
    if (typeof group !== 'object' || group === null || Object.keys(group).length > 0) break;
    values.push(removeAt(last, keys.slice(0, length)));
  }
  return values;
}

/** How many of the keys lead to something that can hold entries. A null can be replaced, so it does not count. */
function existingDepth(value: JsonObject, keys: readonly Key[]): number {
  let depth = 0;
  while (depth < keys.length - 1) {
    const next = valueAt(value, keys.slice(0, depth + 1));
    if (next === undefined || next === null) return depth;
    depth += 1;
  }
  return depth;
}

function valueAt(value: Json, keys: readonly Key[]): Json | undefined {
  let current: Json | undefined = value;
  for (const key of keys) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? (current as Readonly<Record<Key, Json>>)[key] : undefined;
  }
  return current;
}

function withoutMark(text: string): string {
  return text.startsWith(MARK) ? text.slice(1) : text;
}
