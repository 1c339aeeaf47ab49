import { randomBytes } from 'node:crypto';
import { safeId } from '../../codecs/adapt/tool-names.ts';
import type { ExchangeShape } from '../../codecs/exchanges/shape.ts';
import { type JsonObject, objectOf } from '../../codecs/json/values.ts';
import type { Conversation, Message, Part } from '../../codecs/model/conversation.ts';
import { runsOf } from '../../codecs/model/tool-call-groups.ts';

/**
 * Exchanges that are not translated anew have one in their place that stands for them. It goes through all the steps of the
 * translation, and what it became is taken out of the translated request.
 */

/** What stands for others in a request has a random id and name that cannot be guessed. */
const MARK = randomBytes(10).toString('hex');
const NAME = `exchange_${MARK}`;
const ids = [`${MARK}_0`, `${MARK}_1`] as const;

/**
 * More than any vendor's minimum for a prompt that it caches (`TranslationRoute.enough`): what stands for others must
 * not be too little for that.
 */
const FILLING = `${MARK}${'x'.repeat(16_384)}`;

/** The exchange that stands for others: the first for those that were settled before, the second for the end of the run behind it. */
export function standInOf(shape: ExchangeShape, which: 0 | 1): readonly unknown[] {
  return shape.exchange(ids[which], NAME, FILLING);
}

/** What is remembered of a run. */
export interface Run {
  calls: string[];
  tools: ReadonlySet<string>;
}

/**
 * What was read of the run between the exchanges that stand for others; empty where nothing is settled. Null where the
 * conversation cannot be translated without the settled exchanges: where an id is used twice, or what stands beside
 * them is not alone.
 * @param before ids of calls that are settled
 * @param minBytes bytes of text that the first run must have; null where nothing is settled
 */
export function runIn(
  { messages, tools }: Conversation,
  before: ReadonlySet<string>,
  minBytes: number | null,
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
  if (minBytes === null) return { calls: [], tools: new Set() };
  if (next === undefined || !standsAlone(messages, next)) return null;
  const run = messages.slice(start + 2, next);
  const offered = new Set(
    tools.flatMap((tool) => (tool.kind === 'function' && tool.namespace === undefined ? [tool.name] : [])),
  );
  return isPlain(run, offered, before.size > 0 ? 0 : minBytes) ? runOf(run) : null;
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
function isPlain(messages: readonly Message[], offered: ReadonlySet<string>, minBytes: number): boolean {
  let bytes = 0;
  for (const { answers, rest } of runsOf(messages)) {
    const waiting = new Set<string>();
    let hasContent = false;
    for (const { name, parts } of answers) {
      if (name !== undefined) return false;
      for (const part of parts) {
        if ('cache' in part) return false;
        if (part.type === 'text') hasContent ||= part.text.trim() !== '';
        else if (part.type === 'tool-call') {
          const { id, kind, name: tool, namespace } = part;
          if (kind !== 'function' || namespace !== undefined || !offered.has(tool) || id === '') return false;
          waiting.add(id);
          hasContent = true;
        } else if (part.type !== 'reasoning') return false;
      }
    }
    if (answers.length === 0 || !hasContent) return false;
    hasContent = false;
    for (const { name, parts, role } of rest) {
      if (name !== undefined || role === 'assistant') return false;
      for (const part of parts) {
        if ('cache' in part) return false;
        if (part.type === 'text') {
          hasContent ||= role === 'user' && part.text.trim() !== '';
          bytes += part.text.length;
        } else if (part.type === 'tool-result') {
          if (part.kind !== 'function' || !waiting.delete(part.callId)) return false;
          for (const one of part.parts) {
            if (one.type !== 'text' || 'cache' in one) return false;
            bytes += one.text.length;
          }
          hasContent = true;
        } else return false;
      }
    }
    if (!hasContent || waiting.size > 0) return false;
  }
  return bytes >= minBytes;
}

function runOf(messages: readonly Message[]): Run {
  const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.type === 'tool-call'));
  return { calls: calls.map(({ id }) => safeId(id)), tools: new Set(calls.map(({ name }) => name)) };
}

/** The entries of the translated list without those that stood for others: before, in and behind the run. */
export interface Cut {
  first: readonly unknown[];
  /** What stood for the settled exchanges. */
  standIn: readonly unknown[];
  run: readonly unknown[];
  last: readonly unknown[];
}

/** Null where one has become part of another entry, or bears a mark that another one should bear. */
export function cutOut(items: readonly unknown[], settles: boolean): Cut | null {
  const [start, end] = standIn(items, ids[0], 0);
  if (start === end) return null;
  const [first, before] = [items.slice(0, start), items.slice(start, end)];
  if (!settles) return { first, standIn: before, run: [], last: items.slice(end) };
  const [next, last] = standIn(items, ids[1], end);
  if (next === last) return null;
  return { first, standIn: before, run: items.slice(end, next), last: items.slice(last) };
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
  return Array.isArray(input) ? { ...request, input: input.filter((item) => !isStandIn(item)) } : request;
}

/** Whether an item of the responses format is part of an exchange that stands for others. */
function isStandIn(item: unknown): boolean {
  const { call_id }: { call_id?: unknown } = objectOf(item);
  return call_id === ids[0] || call_id === ids[1];
}

function mentions(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null) return value === text;
  // Names of a list's entries would be made as texts.
  if (Array.isArray(value)) return value.some((entry) => mentions(entry, text));
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) if (mentions(members[name], text)) return true;
  return false;
}

function hasMark(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasMark);
  const members = value as Readonly<Record<string, unknown>>;
  for (const name in members) if (name === 'cache_control' || hasMark(members[name])) return true;
  return false;
}
