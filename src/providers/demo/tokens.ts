const BYTES_PER_TOKEN = 4;
/** Longer texts stream in pieces of even length instead of words, so that there are never many of them. */
const LONG_TEXT = 4000;
const MOST_PIECES = 500;

/** Tokens by the usual rule of thumb: four bytes of UTF-8 each. */
export function tokensOf(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN);
}

export function tokensOfText(text: string): number {
  return tokensOf(Buffer.byteLength(text));
}

/** As much of `text` as `maxTokens` allow, cut between code points. */
export function cutToTokens(text: string, maxTokens: number | null): { text: string; cut: boolean } {
  if (maxTokens === null || tokensOfText(text) <= maxTokens) return { text, cut: false };
  const budget = maxTokens * BYTES_PER_TOKEN;
  let bytes = 0;
  let length = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > budget) break;
    length += character.length;
  }
  return { text: text.slice(0, length), cut: true };
}

/** `text` word by word, each with the space that follows it; no surrogate pair is split. */
export function wordsOf(text: string): string[] {
  return text.length > LONG_TEXT ? evenPieces(text) : (text.match(/\S{1,40}\s*|\s+/gu) ?? []);
}

/** `text` in short pieces, as arguments of tool calls are streamed. */
export function slicesOf(text: string): string[] {
  return text.length > LONG_TEXT ? evenPieces(text) : (text.match(/.{1,12}/gsu) ?? []);
}

function evenPieces(text: string): string[] {
  const size = Math.ceil(text.length / MOST_PIECES);
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    const code = text.charCodeAt(start + size - 1);
    const end = start + size + (code >= 0xd800 && code <= 0xdbff ? 1 : 0);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}
