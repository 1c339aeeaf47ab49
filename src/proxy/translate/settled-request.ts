import type { ToolNames } from '../../codecs/adapt/tool-names.ts';
import type { ExchangeShape, Side } from '../../codecs/exchanges/shape.ts';
import { COMMA, skipSpace } from '../../codecs/json/bytes.ts';
import { type JsonObject, listOf } from '../../codecs/json/values.ts';
import type { Conversation } from '../../codecs/model/conversation.ts';
import type { RequestRoute } from '../../codecs/translate/request.ts';
import { carryEntries, type ReadEntries, readEntries } from './carried-entries.ts';
import { entriesEnd } from './list-span.ts';
import { markedRuns, type Shown, shownOf } from './recent-entries.ts';
import { entriesJson, written } from './settled-body.ts';
import {
  type Beginning,
  copyOf,
  forgetFrom,
  readAround,
  repeatedIn,
  type SettledRun,
  type TranslationRoute,
} from './settled-conversation.ts';
import { type Cut, cutOut, type Run, runIn, standInOf } from './stand-ins.ts';

/** Exchanges that become settled together: each time costs as much as translating one. */
const TOGETHER = 2;

/** Whole exchanges at the end that are always translated: no target looks at more of them, but to mark them. */
const LAST = 1;

/** Bytes of the first exchanges that are settled; fewer are translated as fast. */
const LEAST_SETTLED = 2_048;

/** A translation, and the names that the target has for tools. */
interface Translated<T> {
  body: JsonObject;
  rest: T;
}

/** Translates a request of a conversation. */
export type Translate<T> = (
  request: JsonObject,
  conversation: {
    /** Is shown the conversation that was read of it. */
    onConversation(read: Conversation): void;
    /** Changes what it became before marks for the prompt cache are set in it. */
    amend(encoded: JsonObject): JsonObject;
    shared: NonNullable<RequestRoute['shared']>;
    /** Its turns that `ExchangeShape.side` does not know; absent for all. */
    unknownTurns: readonly unknown[] | undefined;
  },
) => Translated<T>;

export type Named = { tools: Pick<ToolNames, 'wireName'> };

/**
 * Translates a request that continues a conversation, and settles those of its exchanges that are followed by more of
 * them. Null where nothing of it is stored. The pieces of `body` may be shared with the cache: they must not be changed.
 */
export function translateWith<T extends Named>(
  beginning: Beginning,
  body: Buffer,
  route: TranslationRoute,
  translate: Translate<T>,
  repeated = repeatedIn(beginning, body),
): { body: readonly Buffer[]; rest: T } | null {
  const { shape } = route;
  beginning.request ??= readAround(beginning, shape);
  const { request } = beginning;
  if (request === null) return null;
  const { count, end: from } = repeated;
  if (count < beginning.settled.length) forgetFrom(beginning, count);
  const first = listOf(request[shape.list]);
  const until = body.length - beginning.tail.length;
  const read = entriesIn(body, from, until, {
    follows: first.length > 0 || count > 0,
    // How much is said decides whether a prompt is kept, and settled calls stand for enough of it.
    carries: beginning.calls.size > 0 && !beginning.readsAll,
    nests: route.nestsArguments,
  });
  if (read === null) return null;
  const { entries } = read;
  const whole = () => {
    forgetFrom(beginning, 0);
    return translateWith(beginning, body, route, translate);
  };
  const least = Math.max(LEAST_SETTLED, 2 * route.enough);
  const isShort = count === 0 && (beginning.closed || until - from < least);
  const plan = isShort ? nothing : planOf(entries, route, count > 0);
  if (count > 0 && plan.left < LAST) return whole();
  const run = beginning.closed || plan.cut === 0 ? null : spanOf(body, from, plan);
  const settles = run !== null && (count > 0 || run.end - run.start >= least);
  const parts = partsOf(beginning, entries, settles ? plan : nothing, shape);
  const hasStandIn = count > 0 || settles;
  if (parts === null) {
    if (!hasStandIn) return null;
    beginning.closed = true;
    return whole();
  }
  const list = [
    ...first,
    ...parts.before,
    ...(hasStandIn ? standInOf(shape, 0) : []),
    ...parts.run,
    ...(settles ? standInOf(shape, 1) : []),
    ...parts.last,
  ];
  const shown = shownOf(beginning, Math.max(0, route.marked - LAST));
  if (shown === null) return null;
  const seen: Run[] = [];
  const cuts: Cut[] = [];
  const { shared } = beginning;
  const { body: translated, rest } = translate(
    { ...request, [shape.list]: list, ...route.named },
    {
      onConversation(conversation) {
        const ownRun = hasStandIn
          ? runIn(conversation, beginning.calls, settles ? route.enough : null)
          : null;
        if (ownRun !== null) seen.push(ownRun);
      },
      amend(encoded) {
        const items = listOf(encoded[route.list]);
        const cut = hasStandIn ? cutOut(items, settles) : { first: [], standIn: [], run: [], last: items };
        if (cut === null) return encoded;
        cuts.push(cut);
        return { ...encoded, [route.list]: entriesOf(cut, shown) };
      },
      shared,
      unknownTurns: count > 0 && plan.isPlain ? first : undefined,
    },
  );
  const [cut] = cuts;
  const [ownRun] = seen;
  const sent = cut === undefined ? null : sentOf(listOf(translated[route.list]), cut, shown);
  const runJson = cut === undefined ? null : entriesJson(cut.run, read.write);
  const lastJson = sent === null ? null : entriesJson(sent.last, read.write);
  if (cut !== undefined && sent !== null && (runJson === null || lastJson === null || !read.isWritten())) {
    beginning.readsAll = true;
    return translateWith(beginning, body, route, translate);
  }
  if (
    runJson === null ||
    lastJson === null ||
    cut === undefined ||
    sent === null ||
    (hasStandIn && (ownRun === undefined || !areNamedAlike(beginning, ownRun, rest)))
  ) {
    beginning.closed = true;
    return whole();
  }
  const runs = markedRuns(shown, sent.shown);
  if (run !== null && settles && ownRun !== undefined) {
    if (count === 0) {
      beginning.head = copyOf(body, 0, run.start);
      beginning.request = { ...request, [shape.list]: [...first, ...parts.before] };
      beginning.counts = parts.counts.before;
    }
    const settledRun: SettledRun = {
      source: copyOf(body, run.start, run.end),
      translated: copyOf(runJson),
      calls: ownRun.calls,
      counts: parts.counts.run,
      recent: null,
    };
    beginning.settled.push(settledRun);
    for (const id of ownRun.calls) beginning.calls.add(id);
    if (sent.run.some((entry, index) => entry !== cut.run[index])) {
      const markedJson = entriesJson(sent.run, read.rewrite);
      if (markedJson !== null) runs.set(settledRun, [markedJson]);
    }
  }
  const { first: firstSent } = sent;
  return {
    body: written(beginning, translated, route.list, { first: firstSent, runs, last: lastJson }),
    rest,
  };
}

/** The entries of the target's list before marks are set. What stands for settled exchanges stays where not all of them are shown. */
function entriesOf({ first, last, run, standIn }: Cut, { isAll, values }: Shown): readonly unknown[] {
  return [...first, ...(isAll ? [] : standIn), ...values, ...run, ...last];
}

/** The same entries with their marks. */
interface MarkedEntries {
  first: readonly unknown[];
  /** Of the settled ones those that were shown. */
  shown: readonly unknown[];
  run: readonly unknown[];
  last: readonly unknown[];
}

/** What became of `entriesOf`; null where they are others, or what stands for settled exchanges has become something else. */
function sentOf(
  entries: readonly unknown[],
  { first, last, run, standIn }: Cut,
  shown: Shown,
): MarkedEntries | null {
  const { isAll, values } = shown;
  const others = isAll ? [] : standIn;
  const [afterFirst, afterOthers] = [first.length, first.length + others.length];
  const afterShown = afterOthers + values.length;
  const afterRun = afterShown + run.length;
  if (entries.length !== afterRun + last.length) return null;
  if (others.some((entry, index) => entry !== entries[afterFirst + index])) return null;
  return {
    first: entries.slice(0, afterFirst),
    shown: entries.slice(afterOthers, afterShown),
    run: entries.slice(afterShown, afterRun),
    last: entries.slice(afterRun),
  };
}

/**
 * The entries of a list from `from` to before `end`; null for what is no part of a list.
 * @param follows other entries stand before them
 * @param carries long texts may go from request to request as bytes
 * @param nests arguments of calls become JSON within JSON
 */
function entriesIn(
  body: Buffer,
  from: number,
  end: number,
  { carries, follows, nests }: { carries: boolean; follows: boolean; nests: boolean },
): ReadEntries | null {
  const space = skipSpace(body, from);
  if (follows && space < end && body[space] !== COMMA) return null;
  const start = follows ? space + 1 : space;
  const carried = carries ? carryEntries(body, start, end, nests) : null;
  const read = carried ?? readEntries(body, start, end);
  return follows && read?.entries.length === 0 && space < end ? null : read;
}

/** Where in a list of entries the exchanges begin, up to which they can be settled, and how many are counted at all. */
interface Plan {
  begin: number;
  /** 0 where none is to be settled. */
  cut: number;
  left: number;
  /** Whether all entries from there on are sides of exchanges. */
  isPlain: boolean;
}

const nothing: Plan = { begin: 0, cut: 0, left: 0, isPlain: false };

/** @param follows whether settled exchanges stand before the entries */
function planOf(entries: readonly unknown[], { shape }: TranslationRoute, follows: boolean): Plan {
  const starts: number[] = [];
  let before: Side | null = null;
  const begin = follows ? 0 : entries.findIndex((entry) => shape.side(entry) === 'answer');
  if (begin === -1) return nothing;
  let index = begin;
  for (; index < entries.length; index += 1) {
    const side = shape.side(entries[index]);
    if (side === null || (starts.length === 0 && side !== 'answer')) break;
    if (side === 'answer' && before !== 'answer') starts.push(index);
    before = side;
  }
  // One that is not answered yet.
  const open = before === 'answer' ? 1 : 0;
  const cut = starts.length - open - LAST < TOGETHER ? 0 : (starts[starts.length - open - LAST] ?? 0);
  return { begin, cut, left: starts.length - open, isPlain: index === entries.length };
}

function spanOf(body: Buffer, from: number, { begin, cut }: Plan): { start: number; end: number } | null {
  const start = entriesEnd(body, from, begin);
  const end = start === -1 ? -1 : entriesEnd(body, start, cut - begin);
  return end === -1 ? null : { start, end };
}

interface Parts {
  before: readonly unknown[];
  run: readonly unknown[];
  last: readonly unknown[];
  counts: { before: ReadonlyMap<string, number>; run: ReadonlyMap<string, number> };
}

/** The entries before, in and behind the run that is to be settled, each call with its id; null where that is not known. */
function partsOf(
  { counts: first, settled }: Beginning,
  entries: readonly unknown[],
  { begin, cut }: Plan,
  shape: ExchangeShape,
): Parts | null {
  const earlier = settled.at(-1)?.counts ?? first;
  const pieces = [entries.slice(0, begin), entries.slice(begin, cut), entries.slice(cut)] as const;
  const { withIds } = shape;
  if (withIds === undefined)
    return { before: pieces[0], run: pieces[1], last: pieces[2], counts: { before: earlier, run: earlier } };
  let counts = earlier;
  const named = (piece: readonly unknown[]) => {
    if (piece.length === 0) return piece;
    const own = new Map(counts);
    counts = own;
    return withIds(piece, own);
  };
  const before = named(pieces[0]);
  const countsBefore = counts;
  const run = named(pieces[1]);
  const countsOfRun = counts;
  const last = named(pieces[2]);
  if (before === null || run === null || last === null) return null;
  return { before, run, last, counts: { before: countsBefore, run: countsOfRun } };
}

/** Whether the target has the same names for the tools of settled exchanges as before; those of the run are added. */
function areNamedAlike({ tools: earlierNames }: Beginning, { tools }: Run, { tools: names }: Named): boolean {
  for (const [name, wire] of earlierNames) if (names.wireName({ name }) !== wire) return false;
  for (const name of tools) earlierNames.set(name, names.wireName({ name }));
  return true;
}
