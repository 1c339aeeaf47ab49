import { isAlias, isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

export type Key = string | number;

export interface Place {
  readonly line: number;
  readonly column: number;
}

/** A file of text, read: its values, and where each stands. */
export interface SourceText {
  /** Whole numbers are bigints, so that none loses digits. */
  readonly value: unknown;
  /** The place of the field at these keys, or of the nearest one around it. */
  placeOf(keys: readonly Key[]): Place | null;
}

export type ParsedText =
  | { readonly ok: true; readonly text: SourceText }
  | { readonly ok: false; readonly message: string; readonly place: Place | null };

/** Reads YAML 1.2, of which JSON is a part. Aliases are followed, up to a hundred times. */
export function parseText(text: string): ParsedText {
  const lines = new LineCounter();
  try {
    const document = parseDocument(text, { lineCounter: lines, intAsBigInt: true, prettyErrors: false });
    const [error] = document.errors;
    if (error !== undefined) {
      const { line, col } = lines.linePos(error.pos[0]);
      return { ok: false, message: error.message, place: { line, column: col } };
    }
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    return { ok: true, text: { value, placeOf: (keys) => placeIn(document.contents, keys, lines) } };
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error), place: null };
  }
}

/** Of a field in a mapping that is the place of its name. */
function placeIn(root: Node | null, keys: readonly Key[], lines: LineCounter): Place | null {
  let node: unknown = root;
  let offset = root?.range?.[0];
  for (const key of keys) {
    if (isAlias(node)) break;
    const inner: unknown = isMap(node)
      ? node.items.find((pair) => isScalar(pair.key) && pair.key.value === key)
      : isSeq(node) && typeof key === 'number'
        ? node.items[key]
        : undefined;
    if (inner === undefined) break;
    const marker: unknown = isPair(inner) ? inner.key : inner;
    if (isScalar(marker) || isMap(marker) || isSeq(marker)) offset = marker.range?.[0] ?? offset;
    node = isPair(inner) ? inner.value : inner;
  }
  if (offset === undefined) return null;
  const { line, col } = lines.linePos(offset);
  return { line, column: col };
}
