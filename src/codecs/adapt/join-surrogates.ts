import type { PartReader, StreamPart } from '../model/stream-part.ts';

/** What a block's growth is called, by what its end is called. */
const growths = {
  'text-end': 'text-delta',
  'refusal-end': 'refusal-delta',
  'reasoning-end': 'reasoning-delta',
  'tool-call-end': 'tool-call-delta',
} as const;

/**
 * Puts characters together again that an upstream cut between two deltas, inside a surrogate pair. Half of one
 * in JSON is an error for clients that keep text as UTF-8. A half that stays alone becomes U+FFFD.
 */
export function wholeCharacters(reader: PartReader): PartReader {
  /** The first halves that wait for their second, by block. */
  const halves = new Map<number, string>();

  const mended = (part: StreamPart): StreamPart[] => {
    if ('text' in part) {
      const text = (halves.get(part.block) ?? '') + part.text;
      halves.delete(part.block);
      const waits = isFirstHalf(text.charCodeAt(text.length - 1));
      if (waits) halves.set(part.block, text.slice(-1));
      const now = (waits ? text.slice(0, -1) : text).toWellFormed();
      return now === '' ? [] : [{ ...part, text: now }];
    }
    switch (part.type) {
      case 'text-end':
      case 'refusal-end':
      case 'reasoning-end':
      case 'tool-call-end':
        if (!halves.delete(part.block)) return [part];
        return [{ type: growths[part.type], block: part.block, text: '\ufffd' }, part];
      default:
        return [part];
    }
  };
  const all = (parts: StreamPart[]) =>
    halves.size === 0 && parts.every((part) => !('text' in part) || part.text.isWellFormed())
      ? parts
      : parts.flatMap(mended);
  return {
    push: (frame) => all(reader.push(frame)),
    end: () => all(reader.end()),
  };
}

function isFirstHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
