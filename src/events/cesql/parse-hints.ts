import { likelyName } from './names.ts';

/** Words of other languages that stand where an operator was expected, in lower case, and what CESQL has for them. */
const words: Readonly<Record<string, string>> = {
  is: 'To ask whether there is an attribute, write EXISTS name or NOT EXISTS name.',
  between: 'Write x >= low AND x <= high.',
  contains: "Write x LIKE '%text%'.",
  matches: 'There are no regular expressions: LIKE knows % and _.',
  regexp: 'There are no regular expressions: LIKE knows % and _.',
  startswith: "Write x LIKE 'text%'.",
  endswith: "Write x LIKE '%text'.",
  eq: 'Write =.',
  mod: 'Write x % y.',
  div: 'Write x / y.',
};

const keywords = ['AND', 'OR', 'XOR', 'NOT', 'LIKE', 'EXISTS', 'IN'];

/**
 * A sentence about a word that stands in the place of an operator, with a space before it, or nothing.
 * @param before the name before it, which may have been meant as a keyword: `EXIST subject`
 */
export function nameHint(word: string, before: string): string {
  const hint = Object.hasOwn(words, word.toLowerCase()) ? words[word.toLowerCase()] : undefined;
  if (hint !== undefined) return ` ${hint}`;
  const meant = likelyName(word.toUpperCase(), keywords) ?? likelyName(before.toUpperCase(), keywords);
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}

/** A sentence about an operator of another language whose second half stands at `at`, or nothing. */
export function operatorHint(text: string, at: number): string {
  const pair = text.slice(Math.max(0, at - 1), at + 1);
  if (pair === '==') return ' Write a single =.';
  if (pair === '=<') return ' Write <=.';
  if (pair === '=>') return ' Write >=.';
  if (text.startsWith('*', at)) return ' An expression names attributes one by one.';
  return '';
}
