import { parseJson } from '../../codecs/json/lossless.ts';
import { isObject } from '../../codecs/json/values.ts';
import { jsonBytes } from './json-bytes.ts';
import { entriesEnd } from './list-span.ts';
import { isSame } from './settled-body.ts';
import type { Beginning, RecentEntries, RecentEntry, SettledRun } from './settled-conversation.ts';

/** What of the settled runs the target is shown. */
export interface Shown {
  /** The last of them, in order. */
  runs: readonly SettledRun[];
  values: readonly unknown[];
  /** Whether nothing is settled before them. */
  isAll: boolean;
}

/** The last settled exchanges, at least as many as `exchanges` where there are so many; null where one cannot be read. */
export function shownOf({ settled }: Pick<Beginning, 'settled'>, exchanges: number): Shown | null {
  let first = settled.length;
  let missing = exchanges;
  while (missing > 0 && first > 0) {
    const run = settled[first - 1];
    if (run === undefined) break;
    run.recent ??= recentIn(run, exchanges);
    if (run.recent === null) return null;
    missing -= run.recent.exchanges;
    first -= 1;
  }
  // Those of the run before are not needed any more.
  const before = settled[first - 1];
  if (before !== undefined) before.recent = null;
  const runs = settled.slice(first);
  const values = runs.flatMap(({ recent }) => recent?.entries.map(({ value }) => value) ?? []);
  return { runs, values, isAll: first === 0 && (runs[0]?.recent?.start ?? 0) === 0 };
}

function recentIn({ translated }: SettledRun, exchanges: number): RecentEntries | null {
  const pieces = entriesIn(translated);
  if (pieces === null) return null;
  const entries: RecentEntry[] = [];
  let start = translated.length;
  let count = 0;
  let last = entryOf(pieces.pop());
  while (last !== null && count < exchanges) {
    const before = entryOf(pieces.pop());
    entries.push(last);
    start -= last.json.length;
    if (isAnswer(last.value) && !isAnswer(before?.value)) count += 1;
    last = before;
  }
  return { start, exchanges: count, entries: entries.reverse() };
}

/** The entries of a run's translation, each behind its comma; null where they are no objects. */
function entriesIn(translated: Buffer): Buffer[] | null {
  const pieces: Buffer[] = [];
  let start = 0;
  while (start < translated.length) {
    const end = entriesEnd(translated, start, 1);
    if (end === -1) return null;
    pieces.push(translated.subarray(start, end));
    start = end;
  }
  return pieces;
}

function entryOf(json: Buffer | undefined): RecentEntry | null {
  return json === undefined ? null : { value: parseJson(json.toString('utf8', 1)), json, marked: null };
}

/** Whether the model says an entry: all formats whose vendors want marks say so in the same way. */
function isAnswer(entry: unknown): boolean {
  return isObject(entry) && entry['role'] === 'assistant';
}

function entryJson(value: unknown): Buffer {
  return jsonBytes(`,${JSON.stringify(value)}`, true);
}

/**
 * The translations of the shown runs with the marks that their entries got, by the run; runs without any are not among them.
 * @param entries what became of `Shown.values`
 */
export function markedRuns({ runs }: Shown, entries: readonly unknown[]): Map<SettledRun, readonly Buffer[]> {
  const marked = new Map<SettledRun, readonly Buffer[]>();
  let at = 0;
  for (const run of runs) {
    const { recent } = run;
    if (recent === null) continue;
    const own = entries.slice(at, at + recent.entries.length);
    at += recent.entries.length;
    if (recent.entries.every(({ value }, index) => value === own[index])) continue;
    const written = recent.entries.map((entry, index) => jsonWith(entry, own[index]));
    marked.set(run, [run.translated.subarray(0, recent.start), ...written]);
  }
  return marked;
}

/** An entry as JSON with what it became: itself, or itself with a mark. */
function jsonWith(entry: RecentEntry, value: unknown): Buffer {
  if (value === entry.value) return entry.json;
  if (entry.marked === null || !isSame(entry.marked.value, value))
    entry.marked = { value, json: entryJson(value) };
  return entry.marked.json;
}
