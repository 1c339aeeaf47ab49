import type { ExchangeShape } from '../../codecs/exchanges/shape.ts';
import { type JsonObject, parseObject } from '../../codecs/json/values.ts';
import { emptySharedSettings, type RequestRoute } from '../../codecs/translate/request.ts';

/**
 * A target that marks what to keep in its prompt cache looks at the last exchanges. Those that are settled are shown to it as they were
 * translated, without marks; where it sets one, the entry is written with it, and otherwise nothing is written anew.
 */
export interface RecentEntry {
  /** As it was translated. It is never changed. */
  value: unknown;
  /** It as JSON, behind a comma. */
  json: Buffer;
  /** The same with the mark that it got last; null where it never got one. */
  marked: { value: unknown; json: Buffer } | null;
}

/** The last entries of a settled run. */
export interface RecentEntries {
  /** Where they begin in the run's translation. */
  start: number;
  /** Exchanges among them. */
  exchanges: number;
  entries: RecentEntry[];
}

/** A run of exchanges, as they came and as they were translated. */
export interface SettledRun {
  source: Buffer;
  /** Entries of the target's list, each behind a comma. */
  translated: Buffer;
  /** Ids of its calls. */
  calls: readonly string[];
  /** Calls without an id so far, by the name of the tool. */
  counts: ReadonlyMap<string, number>;
  /** Its last entries as values, while the target looks at them; null until they are needed. */
  recent: RecentEntries | null;
}

/** What is kept of a conversation. */
export interface Beginning {
  /** Everything that its translation depends on beside the bytes. */
  key: string;
  dialect: unknown;
  /** The bytes before the exchanges, and those behind the list of turns. */
  head: Buffer;
  tail: Buffer;
  /** What they say: the request with the turns before its exchanges; null until it is needed. */
  request: JsonObject | null;
  /** As in `Settled`, of the turns before the exchanges. */
  counts: ReadonlyMap<string, number>;
  settled: SettledRun[];
  /** Ids of the calls in settled exchanges. */
  calls: Set<string>;
  /** What the tools that it offers were translated to. */
  shared: NonNullable<RequestRoute['shared']>;
  /** Tools of calls in settled exchanges, with the names that the target has for them. */
  tools: Map<string, string>;
  /** The text of what was translated beside the exchanges: the other fields, and the turns before them. */
  frame: { value: JsonObject; before: Buffer; after: Buffer } | null;
  /** As `made` of `Settled`. */
  first: { value: readonly unknown[]; json: Buffer } | null;
  /** Its long texts are all read: some became something else than texts among the turns. */
  readsAll: boolean;
  /** Nothing more is settled: something of the conversation is not translated alike wherever it stands. */
  closed: boolean;
}

/** What the translation of a request depends on, beside its bytes. */
export interface TranslationRoute {
  key: string;
  dialect: unknown;
  /** How its format writes exchanges. */
  shape: ExchangeShape;
  /** The field of the target's format that lists the turns. */
  list: string;
  /** Whether the target has the arguments of calls as JSON within JSON. */
  nestsArguments: boolean;
  /** Turns of the user at whose ends the target may set marks for its prompt cache, from the last one on. */
  marked: number;
  /** Bytes of text from which on the target does something else; 0 where it does not look at that. */
  enough: number;
  /** What the path of the request says. */
  named: JsonObject | null;
}

/** What is kept of a request that was translated whole: `list` is where its turns stand in `body`. */
export function beginningOf(
  body: Buffer,
  route: TranslationRoute,
  list: { start: number; end: number },
): Beginning {
  return {
    key: route.key,
    dialect: route.dialect,
    head: copyOf(body, 0, list.start),
    tail: copyOf(body, list.end, body.length),
    request: null,
    counts: new Map(),
    settled: [],
    calls: new Set(),
    shared: emptySharedSettings(),
    tools: new Map(),
    frame: null,
    first: null,
    readsAll: false,
    closed: false,
  };
}

/** Bytes of what is kept, as they are counted: text once, and what was read of it twice more. */
export function sizeOf({ first, frame, head, settled, tail }: Beginning): number {
  const written = (frame?.before.length ?? 0) + (frame?.after.length ?? 0) + (first?.json.length ?? 0);
  let size = 3 * (head.length + tail.length + written);
  for (const { recent, source, translated } of settled) {
    size += source.length + translated.length + 256;
    if (recent !== null) size += 4 * (translated.length - recent.start);
  }
  return size;
}

/** Whether the body begins and ends as the conversation does. */
export function beginsAndEndsAs({ head, tail }: Beginning, body: Buffer): boolean {
  const from = body.length - tail.length;
  return (
    head.length <= from &&
    body.compare(tail, 0, tail.length, from) === 0 &&
    body.compare(head, 0, head.length, 0, head.length) === 0
  );
}

/** How many of the settled runs a body repeats, and where they end in it. */
export interface Repeated {
  count: number;
  end: number;
}

/** Compares a body that begins and ends as the conversation does with its settled runs. */
export function repeatedIn({ head, settled, tail }: Beginning, body: Buffer): Repeated {
  const limit = body.length - tail.length;
  let from = head.length;
  let count = 0;
  for (const { source } of settled) {
    const end = from + source.length;
    if (end > limit || body.compare(source, 0, source.length, from, end) !== 0) break;
    from = end;
    count += 1;
  }
  return { count, end: from };
}

/** What the head and the tail say together; null where the list between them is not the request's. */
export function readAround({ head, tail }: Beginning, { list }: ExchangeShape): JsonObject | null {
  const request = parseObject(head.toString('utf8') + tail.toString('utf8'));
  const turns = request?.[list];
  return Array.isArray(turns) && turns.length === 0 ? request : null;
}

/** Forgets all but the first runs: what followed them has changed. */
export function forgetFrom(beginning: Beginning, count: number): void {
  beginning.settled.length = count;
  beginning.calls = new Set(beginning.settled.flatMap(({ calls }) => calls));
}

/** Memory of its own: small buffers are cut from a larger one, which they would keep. */
export function copyOf(bytes: Buffer, start = 0, end = bytes.length): Buffer {
  const copy = Buffer.allocUnsafeSlow(end - start);
  bytes.copy(copy, 0, start, end);
  return copy;
}
