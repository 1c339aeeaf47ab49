/** Containers that may be open at once: far more than any document of this API has. */
const MAX_DEPTH = 100;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LOWER_U = 0x75;

/**
 * Looks through JSON text for what `JSON.parse` takes and the gateway cannot: nesting that a recursive reader fails on, and
 * halves of characters (lone surrogates), which cannot be stored and would come back as other text. Decoded UTF-8 has them
 * as escapes alone. Whether the text is JSON at all is the parser's business.
 */
export function faultOfJsonText(text: string): 'too deep' | 'half a character' | null {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      const end = stringEnd(text, index + 1);
      if (end === null) return 'half a character';
      index = end;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > MAX_DEPTH) return 'too deep';
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return null;
}

/** Where the string's closing quote is, or the text ends; null where the string has half a character. */
function stringEnd(text: string, start: number): number | null {
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code !== BACKSLASH) index += 1;
    else if (text.charCodeAt(index + 1) !== LOWER_U) index += 2;
    else {
      const unit = escapedUnit(text, index);
      const isHigh = unit >= 0xd800 && unit < 0xdc00;
      const next = isHigh ? escapedUnit(text, index + 6) : 0;
      if (isHigh ? next < 0xdc00 || next > 0xdfff : unit >= 0xdc00 && unit <= 0xdfff) return null;
      index += isHigh ? 12 : 6;
    }
  }
  return index;
}

/** The value of the escape `\uXXXX` at a place; 0 where there is none. */
function escapedUnit(text: string, index: number): number {
  if (text.charCodeAt(index) !== BACKSLASH || text.charCodeAt(index + 1) !== LOWER_U) return 0;
  const unit = Number.parseInt(text.slice(index + 2, index + 6), 16);
  return Number.isNaN(unit) ? 0 : unit;
}
