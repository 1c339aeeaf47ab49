import type { PartReader, StreamPart } from '../model/stream-part.ts';

/**
 * An answer with its first call alone, for a client that asked for no more: not every format can ask for that, and not
 * every model keeps to it.
 */
export function onlyFirstCall(reader: PartReader): PartReader {
  let first: number | null = null;
  const isKept = (part: StreamPart): boolean => {
    switch (part.type) {
      case 'tool-call-start':
        first ??= part.block;
        return part.block === first;
      case 'tool-call-delta':
      case 'tool-call-end':
        return part.block === first;
      default:
        return true;
    }
  };
  return {
    push: (frame) => reader.push(frame).filter(isKept),
    end: () => reader.end().filter(isKept),
  };
}
