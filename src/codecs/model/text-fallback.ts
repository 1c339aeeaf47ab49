import type { WireFormat } from '../wire-format.ts';
import type { ImageSource, PartWriter, StreamPart } from './stream-part.ts';

/** What a format's clients can be shown. */
interface Showing {
  format: WireFormat;
  /** Pictures in an answer: by their bytes, by address too, or not at all. */
  images: 'any' | 'bytes' | 'none';
}

/** A writer that is given words for what its format cannot show. */
export function withTextFallback(writer: PartWriter, showing: Showing): PartWriter {
  return {
    push(part) {
      if (part.type !== 'native' && part.type !== 'image') return writer.push(part);
      const words = part.type === 'image' ? imageText(part.source, showing) : nativeText(part, showing);
      if (words === null) return writer.push(part);
      const { block } = part;
      return [
        ...writer.push({ type: 'text-start', block }),
        ...writer.push({ type: 'text-delta', block, text: `\n${words}\n` }),
        ...writer.push({ type: 'text-end', block }),
      ];
    },
  };
}

function nativeText(part: Extract<StreamPart, { type: 'native' }>, { format }: Showing): string | null {
  return part.format === format ? null : part.words;
}

/** An address is written out; for bytes, only that they are missing. Null where the picture itself can be shown. */
function imageText(source: ImageSource, { images }: Showing): string | null {
  if (images === 'any' || (images === 'bytes' && source.kind === 'data')) return null;
  if (source.kind === 'url') return `![image](${source.url})`;
  const size = Math.ceil((source.base64.length * 0.75) / 1024);
  const what = source.mediaType === '' ? 'an image' : source.mediaType;
  return `[The model made a picture (${what}, ${size} kB), which this API has no place for]`;
}
