import { readFileSync } from 'node:fs';

const LEAST = 8;
const MOST = 128;

/** The deny list: the 3,000 most used passwords of eight and more characters, by the list of the npm package zxcvbn. */
export interface CommonPasswords {
  has(password: string): boolean;
}

/** Reads the list, some 30 KB. */
export function loadCommonPasswords(): CommonPasswords {
  const text = readFileSync(new URL('./common-passwords.gen.json', import.meta.url), 'utf8');
  const { passwords } = JSON.parse(text) as { passwords: string };
  return new Set(passwords.split(' '));
}

/** Words that everybody tries first on this program. */
const productWords = ['modelgate', 'gateway', 'admin', 'administrator', 'password', 'passwort', 'letmein'];

/**
 * The sentence that says what is wrong with a new password, or undefined. Length and rarity are asked for, not kinds of
 * characters (OWASP ASVS 6.2).
 * @param name the user's name, which must not be the password
 */
export function passwordProblem(
  password: string,
  name: string,
  common: CommonPasswords = loadCommonPasswords(),
): string | undefined {
  const length = [...password].length;
  if (length < LEAST) return `The password needs at least ${LEAST} characters`;
  if (length > MOST) return `The password has at most ${MOST} characters`;
  if (password.trim() === '') return 'The password must not be blank';
  // Basic cannot carry them in every client (RFC 7617, section 2).
  if (/[\u0000-\u001f\u007f]/.test(password)) return 'The password must not have control characters';
  const plain = password.normalize('NFKC').toLowerCase();
  if (common.has(plain) || isRepetition(plain) || isSequence(plain))
    return 'This password is one of those that are tried first: choose another one';
  if (isMadeOf(plain, [...productWords, name.toLowerCase()]))
    return 'The password must be more than the name of the user or of this program';
  return undefined;
}

/** One to three characters over and over. */
function isRepetition(text: string): boolean {
  const characters = [...text];
  const repeated = (size: number) => {
    const apart = characters.findIndex((one, index) => index >= size && one !== characters[index - size]);
    return apart === -1 ? characters.length : apart;
  };
  return repetitions.some(({ rest, size, times }) => {
    const covered = characters.length - rest;
    return covered % size === 0 && covered >= times * size && repeated(size) >= covered;
  });
}

/** How many characters come again, at least how often, and how many others may stand behind them. */
const repetitions = [
  { size: 1, times: 1, rest: 0 },
  { size: 2, times: 1, rest: 0 },
  { size: 3, times: 1, rest: 0 },
  { size: 2, times: 2, rest: 1 },
  { size: 2, times: 2, rest: 2 },
  { size: 3, times: 2, rest: 1 },
  { size: 3, times: 2, rest: 2 },
] as const;

/** Each character is the one after, or before, the last: `abcdefgh`, `98765432`. */
function isSequence(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const step = (codes[1] ?? 0) - (codes[0] ?? 0);
  if (Math.abs(step) !== 1) return false;
  return codes.every((code, index) => index === 0 || code - (codes[index - 1] ?? 0) === step);
}

/** Nothing is left but a few digits and signs when the words are taken out: `Gateway-2026!`. */
function isMadeOf(text: string, words: readonly string[]): boolean {
  let rest = text;
  for (const word of [...words].sort((a, b) => b.length - a.length))
    if (word.length >= 3) rest = rest.replaceAll(word, '');
  return rest !== text && /^\P{L}{0,6}$/u.test(rest);
}
