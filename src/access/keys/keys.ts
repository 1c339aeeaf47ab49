import { hash } from 'node:crypto';
import { randomText } from '../../lib/id.ts';

const SECRET_CHARACTERS = 32;

/** A new key: its text, which is shown once, and what is kept of it. `sk-` and 32 base-62 characters, 190 random bits. */
export function createKey(): { key: string; hash: string; prefix: string } {
  const key = `sk-${randomText(SECRET_CHARACTERS)}`;
  return { key, hash: hashKey(key), prefix: `${key.slice(0, 7)}…${key.slice(-4)}` };
}

/** SHA-256, hex. A key is random enough that no slow hash is needed. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}
