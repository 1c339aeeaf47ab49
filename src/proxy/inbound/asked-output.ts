import type { WireFormat } from '../../codecs/wire-format.ts';

/** The members in which each format says how many tokens an answer may have at most. */
const members: Partial<Record<WireFormat, readonly Buffer[]>> = {
  'openai-chat': named('max_completion_tokens', 'max_tokens'),
  'openai-responses': named('max_output_tokens'),
  'openai-completions': named('max_tokens'),
  'anthropic-messages': named('max_tokens'),
  gemini: named('maxOutputTokens', 'max_output_tokens'),
  ollama: named('num_predict'),
};

/** Digits of the largest number that is looked at; spaces may stand before it. */
const LOOK_AHEAD = 24;
/** In a body that is full of such members only the first are looked at. */
const MAX_FOUND = 16;

/** How many tokens of output a request asks for at most in each answer; null when it names none. */
export function askedOutput(format: WireFormat, body: readonly Buffer[]): number | null {
  return largestNumber(members[format] ?? [], body);
}

/**
 * The largest number that any member of these names has, wherever it stands; null when there is none. Searched for, not
 * parsed: in a text such a name stands between escaped quotes, which do not match.
 * @param names in their quotes
 */
export function largestNumber(names: readonly Buffer[], body: readonly Buffer[]): number | null {
  let most: number | null = null;
  for (const name of names) {
    for (const piece of body) {
      let at = piece.indexOf(name);
      for (let found = 0; at !== -1 && found < MAX_FOUND; found += 1) {
        const end = at + name.length;
        const value = /^\s*:\s*(\d{1,9})\b/.exec(piece.toString('latin1', end, end + LOOK_AHEAD))?.[1];
        if (value !== undefined) most = Math.max(most ?? 0, Number(value));
        at = piece.indexOf(name, end);
      }
    }
  }
  return most;
}

function named(...names: string[]): Buffer[] {
  return names.map((name) => Buffer.from(`"${name}"`));
}
