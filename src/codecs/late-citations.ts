import type { Citation, PartWriter, StreamPart } from './stream-part.ts';

/**
 * For a writer of a format in which a source can only be named while its text is open. Those that are named later go
 * into a text of their own at the end of the answer, so that none is lost (E-07).
 */
export function withLateCitations(writer: PartWriter): PartWriter {
  const open = new Set<number>();
  const late: Citation[] = [];
  let next = 0;
  return {
    push(part) {
      if ('block' in part && part.block >= next) next = part.block + 1;
      switch (part.type) {
        case 'text-start':
          open.add(part.block);
          break;
        case 'text-end':
          open.delete(part.block);
          break;
        case 'citation':
          if (open.has(part.block)) break;
          late.push(part.citation);
          return '';
        case 'message-end':
          return [...sourcesText(late, next), part].map((one) => writer.push(one)).join('');
      }
      return writer.push(part);
    },
  };
}

/** A text that names sources, a line for each, and rests on them. */
function sourcesText(citations: readonly Citation[], block: number): StreamPart[] {
  if (citations.length === 0) return [];
  let text = 'Sources:';
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

function wordsOf({ text, title, url }: Citation): string {
  const name = title ?? url ?? text ?? 'a source without a name';
  return url === null || url === name ? name : `[${name}](${url})`;
}
