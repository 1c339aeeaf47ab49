import { withoutTrailing } from '../trailing.ts';

/** What a key that is derived from a secret can be worth at most is what the secret is worth (NIST SP 800-131A: 112 bits are the least, 128 from 2031 on). */
const LEAST_BITS = 128;
/** A random secret of 128 bits has more different characters than this, but in one of millions of cases. */
const LEAST_CHARACTERS = 8;

/** From the smallest alphabet up; the first that has all characters counts. */
const alphabets: readonly { name: string; pattern: RegExp; bits: number }[] = [
  { name: 'digits', pattern: /^[0-9]+$/, bits: Math.log2(10) },
  { name: 'hexadecimal digits', pattern: /^[0-9a-f]+$|^[0-9A-F]+$/, bits: 4 },
  { name: 'base64 characters', pattern: /^[A-Za-z0-9+/_-]+={0,2}$/, bits: 6 },
  { name: 'characters', pattern: /./s, bits: 6 },
];

/**
 * Why a secret is too weak to derive an encryption key from; null when it is not. Judged by its length as if it were
 * random, as one that a machine made is, and by whether it plainly is not.
 */
export function weaknessOf(secret: string): string | null {
  const text = secret.trim();
  // A UUID is written with dashes.
  const plain = /^[0-9a-f-]+$/i.test(text) ? text.replaceAll('-', '') : text;
  const alphabet = alphabets.find(({ pattern }) => pattern.test(plain));
  if (alphabet === undefined) return 'it is empty';
  const characters = [...withoutTrailing(plain, '=')];
  const bits = Math.floor(characters.length * alphabet.bits);
  if (bits < LEAST_BITS) {
    const least = Math.ceil(LEAST_BITS / alphabet.bits);
    return `it has ${characters.length} ${alphabet.name}, which is at most ${bits} bits, and must have ${least} (${LEAST_BITS} bits)`;
  }
  const different = new Set(characters).size;
  if (different < LEAST_CHARACTERS)
    return `it has only ${different} different characters, and must be random`;
  return null;
}
