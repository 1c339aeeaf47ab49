import { parseJson } from '../../codecs/json/lossless.ts';
import { isObject } from '../../codecs/json/values.ts';
import { jsonBytes } from './json-bytes.ts';
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
  const values = parseJson(`[${translated.toString('utf8', 1)}]`);
  if (!Array.isArray(values)) return null;
  let from = values.length;
  let count = 0;
  while (from > 0 && count < exchanges) {
    from -= 1;
    if (isAnswer(values[from]) && !isAnswer(values[from - 1])) count += 1;
  }
  const entries = values.slice(from).map((value: unknown): RecentEntry => {
    return { value, json: entryJson(value), marked: null };
  });
  const start = translated.length - entries.reduce((sum, { json }) => sum + json.length, 0);
  const isWhole = translated.subarray(start).equals(Buffer.concat(entries.map(({ json }) => json)));
  return isWhole ? { start, exchanges: count, entries } : null;
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
