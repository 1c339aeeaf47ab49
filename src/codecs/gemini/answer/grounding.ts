import { numberOf } from '../../json/lossless.ts';
import {
  countIn,
  isObject,
  type JsonObject,
  listOf,
  objectOf,
  textOf,
  textOrNull,
} from '../../json/values.ts';
import type { Search } from '../../model/conversation.ts';
import type { Citation, StreamPart } from '../../model/stream-part.ts';
import type {
  CitationMetadata,
  CitationSource,
  GroundingChunk,
  GroundingMetadata,
  GroundingSource,
  GroundingSupport,
  Segment,
} from '../wire.ts';

type CitationPart = Extract<StreamPart, { type: 'citation' }>;

/** Characters of an answer that are kept for positions in it; in a longer one citations have none. */
const MAX_TEXT = 1_000_000;
/** Searches for a passage that is not at the reported place: each reads the whole text. */
const MAX_SEARCHES = 100;

/** The visible text of an answer: the format counts in the UTF-8 bytes of all of it, the neutral model in UTF-16 of one block. */
export class AnswerText {
  #text = '';
  #full = false;
  #length = 0;
  readonly #spans = new Map<number, Span>();

  /** Begins a block. */
  open(block: number): void {
    this.#spans.set(block, { block, from: this.#length, to: this.#length });
  }

  add(block: number, text: string): void {
    this.#length += text.length;
    const span = this.#spans.get(block);
    if (span !== undefined) span.to = this.#length;
    this.#full ||= this.#length > MAX_TEXT;
    this.#text = this.#full ? '' : this.#text + text;
  }

  /** All of it; null when it was too long to keep. */
  get text(): string | null {
    return this.#full ? null : this.#text;
  }

  get last(): Span | undefined {
    return [...this.#spans.values()].at(-1);
  }

  span(block: number): Span | undefined {
    return this.#spans.get(block);
  }
}

interface Span {
  block: number;
  /** UTF-16 positions in the whole text. */
  from: number;
  to: number;
}

/** Offsets in UTF-8 bytes of every UTF-16 position in `text`, its end included. */
function byteOffsets(text: string): Uint32Array {
  const offsets = new Uint32Array(text.length + 1);
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    offsets[index] = bytes;
    const unit = text.charCodeAt(index);
    // Each half of a surrogate pair stands for two of its four bytes.
    bytes += unit < 0x80 ? 1 : unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
  }
  offsets[text.length] = bytes;
  return offsets;
}

/** The UTF-16 position of a byte; null when it is not in the text. */
function positionOf(offsets: Uint32Array, byte: number): number | null {
  let low = 0;
  let high = offsets.length - 1;
  if (byte > (offsets[high] ?? 0)) return null;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((offsets[middle] ?? 0) < byte) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A passage of the answer and what it rests on. */
interface Support {
  segment: Segment;
  source: GroundingChunk;
}

/**
 * The sources that an answer names: `groundingSupports` with their chunks, the chunks alone where no passage is
 * given, and `citationMetadata`. All belong to the last block of text, the only one that may still be open.
 */
export function citationsIn(
  grounding: GroundingMetadata,
  cited: CitationMetadata,
  answer: AnswerText,
): CitationPart[] {
  const span = answer.last;
  if (span === undefined) return [];
  const supports = [...supportsIn(grounding), ...citedIn(cited)];
  if (supports.length === 0) return [];
  const locate = locator(answer.text);
  return supports.map(({ segment, source }) => {
    const place = locate(segment);
    const inside = place !== null && place.start >= span.from;
    return {
      type: 'citation',
      block: span.block,
      citation: {
        ...sourceOf(source),
        start: inside ? place.start - span.from : null,
        end: inside ? Math.min(place.end, span.to) - span.from : null,
        native: { format: 'gemini', value: { segment, source } },
      },
    };
  });
}

function supportsIn(grounding: GroundingMetadata): Support[] {
  const chunks = listOf(grounding.groundingChunks).map(objectOf);
  const supports = listOf(grounding.groundingSupports)
    .map(objectOf<GroundingSupport>)
    .flatMap((support) =>
      listOf(support.groundingChunkIndices).flatMap((index) => {
        const source = chunks[numberOf(index) ?? -1];
        return source === undefined ? [] : [{ segment: objectOf(support.segment), source }];
      }),
    );
  return supports.length > 0 ? supports : chunks.map((source) => ({ segment: {}, source }));
}

function citedIn(cited: CitationMetadata): Support[] {
  const list = [...listOf(cited.citations), ...listOf(cited.citationSources)];
  return list.filter(isObject).map((citation: CitationSource) => ({
    segment: { startIndex: citation.startIndex, endIndex: citation.endIndex },
    source: { web: { uri: citation.uri, title: citation.title } },
  }));
}

/** A chunk is of one kind: `web`, `retrievedContext`, `maps`, `image`. */
function sourceOf(chunk: GroundingChunk): Pick<Citation, 'url' | 'title' | 'text'> {
  const source: GroundingSource = Object.values(chunk).find(isObject) ?? {};
  const textOrNull = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);
  return {
    url: textOrNull(source.uri ?? source.sourceUri),
    title: textOrNull(source.title),
    text: textOrNull(source.text),
  };
}

/** Finds segments in the text. Where the reported bytes do not match the segment's text, its text decides. */
function locator(text: string | null): (segment: Segment) => { start: number; end: number } | null {
  if (text === null) return () => null;
  const offsets = byteOffsets(text);
  let searches = 0;
  return (segment) => {
    const words = textOf(segment.text);
    const endIndex = countIn(segment.endIndex);
    const start = positionOf(offsets, countIn(segment.startIndex) ?? 0);
    const end = endIndex === null ? null : positionOf(offsets, endIndex);
    if (start !== null && end !== null && start < end) {
      if (words === '' || text.slice(start, end) === words) return { start, end };
    }
    if (words === '' || searches === MAX_SEARCHES) return null;
    searches += 1;
    const index = text.indexOf(words);
    return index === -1 ? null : { start: index, end: index + words.length };
  };
}

/** The searches that an answer rests on; null for an answer without any. */
export function searchIn(grounding: GroundingMetadata): Search | null {
  const queries = listOf(grounding.webSearchQueries).filter((query) => typeof query === 'string');
  if (queries.length === 0) return null;
  const pages = listOf(grounding.groundingChunks).map((chunk) =>
    objectOf<GroundingSource>(objectOf<GroundingChunk>(chunk).web),
  );
  const sources = pages.flatMap(({ title, uri }) =>
    typeof uri === 'string' ? [{ url: uri, title: textOrNull(title) }] : [],
  );
  return {
    queries,
    sources,
    failed: false,
    text: `[googleSearch] ${JSON.stringify({ queries, sources })}`,
    native: { format: 'gemini', values: [grounding] },
  };
}

/**
 * The citations and searches of an answer as `groundingMetadata`; null when it was nothing. A block cited
 * as a whole is its own passage.
 */
export function groundingOf(
  citations: readonly CitationPart[],
  searches: readonly Search[],
  answer: AnswerText,
): JsonObject | null {
  if (citations.length === 0 && searches.length === 0) return null;
  const { text } = answer;
  const offsets = text === null ? null : byteOffsets(text);
  const chunks = new Map<string, { index: number; chunk: JsonObject }>();
  const chunkOf = (chunk: JsonObject) => {
    const key = JSON.stringify(chunk);
    const existing = chunks.get(key) ?? { index: chunks.size, chunk };
    chunks.set(key, existing);
    return existing;
  };
  const groundingSupports: JsonObject[] = [];
  for (const { block, citation } of citations) {
    const chunk = chunkOf(chunkOfCitation(citation));
    const span = answer.span(block);
    if (text === null || offsets === null || span === undefined) continue;
    const from = Math.min(span.from + (citation.start ?? 0), span.to);
    const to = citation.end === null ? span.to : Math.min(span.from + citation.end, span.to);
    const segment = { startIndex: offsets[from], endIndex: offsets[to], text: text.slice(from, to) };
    groundingSupports.push({ segment, groundingChunkIndices: [chunk.index] });
  }
  const cited = new Set(citations.map(({ citation }) => citation.url));
  for (const { title, url } of searches.flatMap(({ sources }) => sources))
    if (!cited.has(url)) chunkOf(pageOf(url, title));
  const webSearchQueries = searches.flatMap(({ queries }) => queries);
  return {
    ...(webSearchQueries.length === 0 ? {} : { webSearchQueries }),
    groundingChunks: [...chunks.values()].map(({ chunk }) => chunk),
    groundingSupports,
  };
}

function pageOf(uri: string, title: string | null): JsonObject {
  return { web: { uri, ...(title === null ? {} : { title }) } };
}

/** A page of the web, which has no place for the passage itself; else a document. */
function chunkOfCitation({ text, title, url }: Citation): JsonObject {
  if (url !== null) return pageOf(url, title);
  return { retrievedContext: { ...(title === null ? {} : { title }), ...(text === null ? {} : { text }) } };
}
