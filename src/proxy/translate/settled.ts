import { randomBytes } from 'node:crypto';
import type { ToolNames } from '../../codecs/adapt/tool-names.ts';
import { safeId } from '../../codecs/adapt/tool-names.ts';
import type { ExchangeShape, Side } from '../../codecs/exchanges/shape.ts';
import { COMMA, skipSpace } from '../../codecs/json/bytes.ts';
import { parseJson } from '../../codecs/json/lossless.ts';
import { type JsonObject, listOf, parseObject } from '../../codecs/json/values.ts';
import type { Conversation, Message, Part } from '../../codecs/model/conversation.ts';
import { runsOf } from '../../codecs/model/tool-call-groups.ts';
import { jsonBytes } from './json-bytes.ts';
import { entriesEnd, listSpan } from './list-span.ts';

/**
 * Agents send the whole conversation again with every turn. What of it stood in the turn before, is translated no more:
 * the members beside the turns are read once, and calls with their results, once more of them follow, are kept as the bytes
 * that they were translated to. The translation of the others has an exchange in their place that stands for them, and
 * goes through all the steps that every translation goes through.
 */

/** Bytes that all kept conversations take together, as they are counted: text once, and what was read of it twice more. */
const MAX_BYTES = 6_000_000;

/** Shorter requests cost less to translate than to remember. */
const LEAST_BYTES = 4_096;

/** Exchanges that become settled together: each time costs as much as translating one. */
const TOGETHER = 2;

/** What stands for others in a request has an id and a name that nobody who does not know them can write. */
const MARK = randomBytes(10).toString('hex');
const NAME = `exchange_${MARK}`;
const ids = [`${MARK}_0`, `${MARK}_1`] as const;

/** More than any vendor wants of a prompt that it keeps (`Way.enough`): what stands for others must not be too little for that. */
const FILLING = `${MARK}${'x'.repeat(16_384)}`;

/** Bytes of the first exchanges that are settled; fewer are translated as fast. */
const LEAST_SETTLED = 2_048;

/** A run of exchanges, as they came and as they were translated. */
interface Settled {
  came: Buffer;
  made: Buffer;
  /** Ids of its calls. */
  calls: readonly string[];
  /** Calls without an id so far, by the name of the tool. */
  counts: ReadonlyMap<string, number>;
}

/** What is kept of a conversation. */
interface Beginning {
  /** Everything that its translation depends on beside the bytes. */
  route: string;
  dialect: unknown;
  /** The bytes before the exchanges, and those behind the list of turns. */
  head: Buffer;
  tail: Buffer;
  /** What they say: the request with the turns before its exchanges; null until it is needed. */
  request: JsonObject | null;
  /** As in `Settled`, of the turns before the exchanges. */
  counts: ReadonlyMap<string, number>;
  settled: Settled[];
  /** Ids of the calls in settled exchanges. */
  calls: Set<string>;
  /** Their tools, with the names that the target has for them. */
  tools: Map<string, string>;
  /** The text of what was translated beside the exchanges: the other members, and the turns before them. */
  frame: { value: JsonObject; before: Buffer; after: Buffer } | null;
  first: { value: readonly unknown[]; json: Buffer } | null;
  /** Nothing more is settled: something of the conversation is not translated alike wherever it stands. */
  closed: boolean;
}

/** What the way of a request is known by, beside its bytes. */
export interface Way {
  route: string;
  dialect: unknown;
  /** How its format writes exchanges. */
  shape: ExchangeShape;
  /** The member of the target's format that lists the turns. */
  list: string;
  /** Whole exchanges at the end whose place the target looks at: they are always translated. */
  last: number;
  /** Bytes of text from which on the target does something else; 0 where it does not look at that. */
  enough: number;
  /** What the path of the request says. */
  named: JsonObject | null;
}

/** A translation, and the names that the target has for tools. */
interface Made<T> {
  body: JsonObject;
  rest: T;
}

/** Translates a request. `see` is shown the conversation that was read of it. */
type Translate<T> = (request: JsonObject, see: (read: Conversation) => void) => Made<T>;

type Named = { tools: Pick<ToolNames, 'wireName'> };

/** Conversations of which the beginning was translated before. In memory alone, the last used up to a bound. */
export interface SettledTurns {
  /**
   * The request translated; null where nothing of it is known. What `translate` throws comes out: another translation may know
   * more of it.
   */
  translate<T extends Named>(
    body: Buffer,
    way: Way,
    translate: Translate<T>,
  ): { body: Buffer; rest: T } | null;
  /** Takes note of a request that was translated whole. */
  note(body: Buffer, way: Way): void;
  /** Bytes of everything that is kept, as they are counted. */
  readonly bytes: number;
  /** Calls in settled exchanges. */
  readonly exchanges: number;
}

/** @param maxBytes of all that is kept */
export function createSettledTurns(maxBytes = MAX_BYTES): SettledTurns {
  // A Map keeps its order of insertion: the first one is the one that was not used for the longest time.
  const known = new Map<Beginning, number>();
  let bytes = 0;
  const drop = (one: Beginning) => {
    bytes -= known.get(one) ?? 0;
    known.delete(one);
  };
  const keep = (one: Beginning) => {
    drop(one);
    const size = sizeOf(one);
    if (size > maxBytes) return;
    known.set(one, size);
    bytes += size;
    for (const oldest of known.keys()) {
      if (bytes <= maxBytes) return;
      drop(oldest);
    }
  };
  return {
    translate(body, way, translate) {
      if (body.length < LEAST_BYTES) return null;
      const beginning = longestOf(known.keys(), body, way);
      if (beginning === null) return null;
      drop(beginning);
      const made = translateWith(beginning, body, way, translate);
      if (made !== null) keep(beginning);
      return made;
    },
    note(body, way) {
      const span = body.length < LEAST_BYTES ? null : listSpan(body, way.shape.list);
      if (span === null) return;
      keep({
        route: way.route,
        dialect: way.dialect,
        head: copyOf(body, 0, span.start),
        tail: copyOf(body, span.end, body.length),
        request: null,
        counts: new Map(),
        settled: [],
        calls: new Set(),
        tools: new Map(),
        frame: null,
        first: null,
        closed: false,
      });
    },
    get bytes() {
      return bytes;
    },
    get exchanges() {
      return [...known.keys()].reduce((sum, { calls }) => sum + calls.size, 0);
    },
  };
}

function sizeOf({ first, frame, head, settled, tail }: Beginning): number {
  const written = (frame?.before.length ?? 0) + (frame?.after.length ?? 0) + (first?.json.length ?? 0);
  let size = 3 * (head.length + tail.length + written);
  for (const { came, made } of settled) size += came.length + made.length + 256;
  return size;
}

/** The conversation that the body goes on with; of several the one of which it repeats most. */
function longestOf(known: Iterable<Beginning>, body: Buffer, way: Way): Beginning | null {
  let longest: Beginning | null = null;
  let most = -1;
  for (const one of known) {
    if (one.route !== way.route || one.dialect !== way.dialect || !surrounds(one, body)) continue;
    const [, end] = repeatedIn(one, body);
    if (end < most) continue;
    longest = one;
    most = end;
  }
  return longest;
}

/** Whether the body begins and ends as the conversation does. */
function surrounds({ head, tail }: Beginning, body: Buffer): boolean {
  const from = body.length - tail.length;
  return (
    head.length <= from &&
    body.compare(tail, 0, tail.length, from) === 0 &&
    body.compare(head, 0, head.length, 0, head.length) === 0
  );
}

/** How many of the settled runs a body repeats, and where they end in it. */
function repeatedIn({ head, settled, tail }: Beginning, body: Buffer): [count: number, end: number] {
  const limit = body.length - tail.length;
  let from = head.length;
  let count = 0;
  for (const { came } of settled) {
    const end = from + came.length;
    if (end > limit || body.compare(came, 0, came.length, from, end) !== 0) break;
    from = end;
    count += 1;
  }
  return [count, from];
}

function translateWith<T extends Named>(
  beginning: Beginning,
  body: Buffer,
  way: Way,
  translate: Translate<T>,
): { body: Buffer; rest: T } | null {
  const { shape } = way;
  beginning.request ??= readAround(beginning, shape);
  const { request } = beginning;
  if (request === null) return null;
  const [count, from] = repeatedIn(beginning, body);
  if (count < beginning.settled.length) forgetFrom(beginning, count);
  const first = listOf(request[shape.list]);
  const until = body.length - beginning.tail.length;
  const read = entriesIn(body, from, until, first.length > 0 || count > 0);
  if (read === null) return null;
  const { entries, isWide } = read;
  const whole = () => {
    forgetFrom(beginning, 0);
    return translateWith(beginning, body, way, translate);
  };
  const least = Math.max(LEAST_SETTLED, 2 * way.enough);
  const isShort = count === 0 && (beginning.closed || until - from < least);
  const plan = isShort ? nothing : planOf(entries, way, count > 0);
  if (count > 0 && plan.left < way.last) return whole();
  const run = beginning.closed || plan.cut === 0 ? null : spanOf(body, from, plan);
  const settles = run !== null && (count > 0 || run.end - run.start >= least);
  const parts = partsOf(beginning, entries, settles ? plan : nothing, shape);
  const stands = count > 0 || settles;
  if (parts === null) {
    if (!stands) return null;
    beginning.closed = true;
    return whole();
  }
  const list = [
    ...first,
    ...parts.before,
    ...(stands ? shape.exchange(ids[0], NAME, FILLING) : []),
    ...parts.run,
    ...(settles ? shape.exchange(ids[1], NAME, FILLING) : []),
    ...parts.last,
  ];
  const seen: Run[] = [];
  const { body: made, rest } = translate({ ...request, [shape.list]: list, ...way.named }, (conversation) => {
    const own = stands ? runIn(conversation, beginning.calls, settles ? way.enough : null) : null;
    if (own !== null) seen.push(own);
  });
  const items = listOf(made[way.list]);
  const cut = stands ? cutOut(items, settles) : { first: [], run: [], last: items };
  const [own] = seen;
  if (cut === null || (stands && (own === undefined || !areNamedAlike(beginning, own, rest)))) {
    beginning.closed = true;
    return whole();
  }
  if (run !== null && settles && own !== undefined) {
    if (count === 0) {
      beginning.head = copyOf(body, 0, run.start);
      beginning.request = { ...request, [shape.list]: [...first, ...parts.before] };
      beginning.counts = parts.counts.before;
    }
    const came = copyOf(body, run.start, run.end);
    beginning.settled.push({
      came,
      made: copyOf(jsonOf(cut.run, isWide)),
      calls: own.calls,
      counts: parts.counts.run,
    });
    for (const id of own.calls) beginning.calls.add(id);
  }
  return { body: written(beginning, made, way.list, cut, isWide), rest };
}

/** What the head and the tail say together; null where the list between them is not the request's. */
function readAround({ head, tail }: Beginning, { list }: ExchangeShape): JsonObject | null {
  const request = parseObject(head.toString('utf8') + tail.toString('utf8'));
  const turns = request?.[list];
  return Array.isArray(turns) && turns.length === 0 ? request : null;
}

function forgetFrom(beginning: Beginning, count: number): void {
  beginning.settled.length = count;
  beginning.calls = new Set(beginning.settled.flatMap(({ calls }) => calls));
}

interface Entries {
  entries: readonly unknown[];
  /** Whether there are characters in them that are no ASCII. */
  isWide: boolean;
}

/** The entries of a list from `from` to before `end`; null for what is no part of a list. */
function entriesIn(body: Buffer, from: number, end: number, follows: boolean): Entries | null {
  const space = skipSpace(body, from);
  if (follows && space < end && body[space] !== COMMA) return null;
  const start = follows ? space + 1 : space;
  try {
    const text = body.toString('utf8', start, end);
    const entries = parseJson(`[${text}]`);
    if (!Array.isArray(entries)) return null;
    return follows && entries.length === 0 && space < end
      ? null
      : { entries, isWide: text.length < end - start };
  } catch {
    return null;
  }
}

/** Where in a list of entries the exchanges begin, up to which they can be settled, and how many are counted at all. */
interface Plan {
  begin: number;
  /** 0 where none is to be settled. */
  cut: number;
  left: number;
}

const nothing: Plan = { begin: 0, cut: 0, left: 0 };

/** @param follows whether settled exchanges stand before the entries */
function planOf(entries: readonly unknown[], { last, shape }: Way, follows: boolean): Plan {
  const starts: number[] = [];
  let before: Side | null = null;
  const begin = follows ? 0 : entries.findIndex((entry) => shape.side(entry) === 'answer');
  if (begin === -1) return nothing;
  for (let index = begin; index < entries.length; index += 1) {
    const side = shape.side(entries[index]);
    if (side === null || (starts.length === 0 && side !== 'answer')) break;
    if (side === 'answer' && before !== 'answer') starts.push(index);
    before = side;
  }
  // One that is not answered yet.
  const open = before === 'answer' ? 1 : 0;
  const cut = starts.length - open - last < TOGETHER ? 0 : (starts[starts.length - open - last] ?? 0);
  return { begin, cut, left: starts.length - open };
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
  { counts: before, settled }: Beginning,
  entries: readonly unknown[],
  { begin, cut }: Plan,
  shape: ExchangeShape,
): Parts | null {
  const counts = new Map(settled.at(-1)?.counts ?? before);
  const after: ReadonlyMap<string, number>[] = [];
  const pieces = [entries.slice(0, begin), entries.slice(begin, cut), entries.slice(cut)].map((piece) => {
    const named = shape.withIds === undefined ? piece : shape.withIds(piece, counts);
    after.push(new Map(counts));
    return named;
  });
  const [early, run, last] = pieces;
  if (!early || !run || !last) return null;
  return { before: early, run, last, counts: { before: after[0] ?? counts, run: after[1] ?? counts } };
}

/** What is remembered of a run. */
interface Run {
  calls: string[];
  tools: ReadonlySet<string>;
}

/**
 * What was read of the run between the exchanges that stand for others; empty where nothing is settled. Null where the
 * conversation cannot be told without the settled exchanges: where an id is used twice, or what stands beside them is not alone.
 * @param before ids of calls that are settled
 * @param enough bytes of text that the first run must have; null where nothing is settled
 */
function runIn(
  { messages, tools }: Conversation,
  before: ReadonlySet<string>,
  enough: number | null,
): Run | null {
  const seen = new Set<string>();
  for (const { parts } of messages)
    for (const part of parts) {
      if (part.type !== 'tool-call') continue;
      const id = safeId(part.id);
      if (seen.has(id) || before.has(id)) return null;
      seen.add(id);
    }
  const [start, next] = ids.map((id) => messages.findIndex(({ parts }) => isCall(parts[0], id)));
  if (start === undefined || !standsAlone(messages, start)) return null;
  if (enough === null) return { calls: [], tools: new Set() };
  if (next === undefined || !standsAlone(messages, next)) return null;
  const run = messages.slice(start + 2, next);
  const offered = new Set(
    tools.flatMap((tool) => (tool.kind === 'function' && tool.namespace === undefined ? [tool.name] : [])),
  );
  return isPlain(run, offered, before.size > 0 ? 0 : enough) ? learnt(run) : null;
}

const isCall = (part: Part | undefined, id: string) => part?.type === 'tool-call' && part.id === id;

/** Whether the exchange at `index` has messages of its own, with other answers at most behind it. */
function standsAlone(messages: readonly Message[], index: number): boolean {
  const [before, call, result, after] = [-1, 0, 1, 2].map((offset) => messages[index + offset]);
  return (
    before?.role !== 'assistant' &&
    call?.parts.length === 1 &&
    result?.parts.length === 1 &&
    after?.role === 'assistant'
  );
}

/** Whether messages are exchanges alone: answers that say something, each call with its result behind them, and words. */
function isPlain(messages: readonly Message[], offered: ReadonlySet<string>, enough: number): boolean {
  let bytes = 0;
  for (const { answers, rest } of runsOf(messages)) {
    const waiting = new Set<string>();
    let speaks = false;
    for (const { name, parts } of answers) {
      if (name !== undefined) return false;
      for (const part of parts) {
        if ('cache' in part) return false;
        if (part.type === 'text') speaks ||= part.text.trim() !== '';
        else if (part.type === 'tool-call') {
          const { id, kind, name: tool, namespace } = part;
          if (kind !== 'function' || namespace !== undefined || !offered.has(tool) || id === '') return false;
          waiting.add(id);
          speaks = true;
        } else if (part.type !== 'reasoning') return false;
      }
    }
    if (answers.length === 0 || !speaks) return false;
    speaks = false;
    for (const { name, parts, role } of rest) {
      if (name !== undefined || role === 'assistant') return false;
      for (const part of parts) {
        if ('cache' in part) return false;
        if (part.type === 'text') {
          speaks ||= role === 'user' && part.text.trim() !== '';
          bytes += part.text.length;
        } else if (part.type === 'tool-result') {
          if (part.kind !== 'function' || !waiting.delete(part.callId)) return false;
          for (const one of part.parts) {
            if (one.type !== 'text' || 'cache' in one) return false;
            bytes += one.text.length;
          }
          speaks = true;
        } else return false;
      }
    }
    if (!speaks || waiting.size > 0) return false;
  }
  return bytes >= enough;
}

function learnt(messages: readonly Message[]): Run {
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'));
  return { calls: calls.map(({ id }) => safeId(id)), tools: new Set(calls.map(({ name }) => name)) };
}

/** Whether the target has the same names for the tools of settled exchanges as before; those of the run are added. */
function areNamedAlike({ tools: known }: Beginning, { tools }: Run, { tools: names }: Named): boolean {
  for (const [name, wire] of known) if (names.wireName({ name }) !== wire) return false;
  for (const name of tools) known.set(name, names.wireName({ name }));
  return true;
}

/** The entries of the translated list without those that stood for others: before, in and behind the run. */
interface Cut {
  first: readonly unknown[];
  run: readonly unknown[];
  last: readonly unknown[];
}

/** Null where one has become part of another entry, or bears a mark that another one should bear. */
function cutOut(items: readonly unknown[], settles: boolean): Cut | null {
  const [start, end] = standIn(items, ids[0], 0);
  if (start === end) return null;
  if (!settles) return { first: items.slice(0, start), run: [], last: items.slice(end) };
  const [next, last] = standIn(items, ids[1], end);
  if (next === last) return null;
  return { first: items.slice(0, start), run: items.slice(end, next), last: items.slice(last) };
}

/** Where the entries stand that an exchange became; an empty range where they are not to be found. */
function standIn(items: readonly unknown[], id: string, from: number): [start: number, end: number] {
  let start = from;
  while (start < items.length && !mentions(items[start], id)) start += 1;
  let end = start;
  while (end < items.length && mentions(items[end], id)) {
    if (hasMark(items[end])) return [start, start];
    end += 1;
  }
  return [start, end];
}

/** A request of the responses format, whose answers may look into its input, without what stood for others in it. */
export function withoutStandIns(request: JsonObject): JsonObject {
  const { input } = request;
  if (!Array.isArray(input)) return request;
  return { ...request, input: input.filter((item) => !ids.some((id) => mentions(item, id))) };
}

function mentions(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null) return value === text;
  for (const inner of Object.values(value)) if (mentions(inner, text)) return true;
  return false;
}

function hasMark(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'cache_control' in value || Object.values(value).some(hasMark);
}

/** Memory of its own: small buffers are cut from a larger one, which they would keep. */
function copyOf(bytes: Buffer, start = 0, end = bytes.length): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}

/** The entries of a list as JSON, without its brackets. */
function jsonOf(items: readonly unknown[], isWide: boolean): Buffer {
  return jsonBytes(JSON.stringify(items).slice(1, -1), isWide);
}

/** The translation as JSON: what is the same as before is not written anew. */
function written(
  beginning: Beginning,
  made: JsonObject,
  list: string,
  { first, last }: Cut,
  isWide: boolean,
): Buffer {
  const value = { ...made, [list]: null };
  if (beginning.frame === null || !isSame(beginning.frame.value, value)) {
    const [before = '', after = ''] = JSON.stringify({ ...made, [list]: MARK }).split(`"${MARK}"`);
    beginning.frame = { value, before: Buffer.from(`${before}[`), after: Buffer.from(`]${after}`) };
  }
  if (first.length > 0 && (beginning.first === null || !isSame(beginning.first.value, first)))
    beginning.first = { value: first, json: copyOf(jsonOf(first, isWide)) };
  const pieces = [beginning.frame.before];
  const add = (json: Buffer) => {
    if (json.length === 0) return;
    if (pieces.length > 1) pieces.push(comma);
    pieces.push(json);
  };
  if (first.length > 0 && beginning.first !== null) add(beginning.first.json);
  for (const { made: json } of beginning.settled) add(json);
  if (last.length > 0) add(jsonOf(last, isWide));
  pieces.push(beginning.frame.after);
  return Buffer.concat(pieces);
}

const comma = Buffer.from(',');

/** Whether two values are written alike. What was not read anew is the same object. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Object.getPrototypeOf(one) !== Object.getPrototypeOf(other)) return false;
  const names = Object.keys(one);
  const others = Object.keys(other);
  if (names.length !== others.length) return false;
  return names.every((name, index) => {
    const same = others[index] === name;
    return same && isSame((one as JsonObject)[name], (other as JsonObject)[name]);
  });
}
