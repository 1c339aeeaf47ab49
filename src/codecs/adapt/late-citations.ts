import { objectOf } from '../json/values.ts';
import type { Citation, PartWriter, StreamPart } from '../model/stream-part.ts';

/** Where the answers of a format can name sources. */
export interface CitationPlaces {
  /** Whether it has a place for this one beside the text that rests on it. */
  takes(citation: Citation): boolean;
  /** Only while that text is open. */
  inOpenText: boolean;
  /** What parts a text from the one before it; '' where texts stand apart. */
  joint: string;
  /** The text is read by a program, and no words of ours may stand in it. */
  structured: boolean;
}

/**
 * For a writer of a format in which not every source can be named at any time. Those that come too late, or have no
 * place beside their text, go into a text of their own at the end of the answer, so that none is lost.
 */
export function withLateCitations(writer: PartWriter, places: CitationPlaces): PartWriter {
  const open = new Set<number>();
  const late: Citation[] = [];
  let next = 0;
  let hasText = false;
  const sources = (): StreamPart[] =>
    late.length === 0 || places.structured ? [] : sourcesText(late, next, hasText ? places.joint : '');
  return {
    push(part) {
      if ('block' in part && part.block >= next) next = part.block + 1;
      switch (part.type) {
        case 'text-start':
          open.add(part.block);
          hasText = true;
          break;
        case 'text-end':
          open.delete(part.block);
          break;
        case 'citation':
          if (places.takes(part.citation) && (open.has(part.block) || !places.inOpenText)) break;
          late.push(part.citation);
          return [];
        case 'message-end':
          return [...sources(), part].flatMap((one) => writer.push(one));
      }
      return writer.push(part);
    },
  };
}

/** Whether a request's word for the form of the answer asks for JSON. */
export function isStructured(format: unknown): boolean {
  const { type } = objectOf(format);
  return type === 'json_schema' || type === 'json_object';
}

/** A text that names sources, a line for each, and rests on them. */
function sourcesText(citations: readonly Citation[], block: number, joint: string): StreamPart[] {
  let text = `${joint}Sources:`;
  const places = new Map<string, { start: number; end: number }>();
  for (const citation of citations) {
    const words = wordsOf(citation);
    if (places.has(words)) continue;
    const start = text.length + '\n- '.length;
    places.set(words, { start, end: start + words.length });
    text += `\n- ${words}`;
  }
  const cited = citations.map((citation): StreamPart => {
    const place = places.get(wordsOf(citation)) ?? { start: null, end: null };
    return { type: 'citation', block, citation: { ...citation, ...place } };
  });
  return [
    { type: 'text-start', block },
    { type: 'text-delta', block, text },
    ...cited,
    { type: 'text-end', block },
  ];
}

/** Characters (UTF-16) of a passage that stand for a source without a name. */
const MAX_PASSAGE = 200;

function wordsOf({ text, title, url }: Citation): string {
  const name = title ?? url ?? (text === null ? 'a source without a name' : shortened(text));
  return url === null || url === name ? name : `[${name}](${url})`;
}

function shortened(passage: string): string {
  const line = passage.replace(/\s+/g, ' ').trim();
  return line.length > MAX_PASSAGE ? `${line.slice(0, MAX_PASSAGE).toWellFormed()}…` : line;
}
