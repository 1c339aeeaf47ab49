import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** `gws`: of a login (session). `gwa`: of automation. Told apart at sight, also by scanners for leaked secrets. */
export type TokenPrefix = 'gws' | 'gwa';

const SECRET_BYTES = 32;
const CHECK_CHARACTERS = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 bytes are 43 characters of base64url. */
const shape = /^gw[sa]_[A-Za-z0-9_-]{43}[0-9A-Za-z]{6}$/;

/** A new token: its prefix, 256 random bits as base64url, and six characters that tell a typing error from a guess. */
export function createToken(prefix: TokenPrefix): string {
  const head = `${prefix}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return `${head}${checksum(head)}`;
}

/** Whether a text can be a token at all: its shape and its checksum. */
export function isTokenText(text: string): boolean {
  return shape.test(text) && text.endsWith(checksum(text.slice(0, -CHECK_CHARACTERS)));
}

/** SHA-256, hex. A token is random enough that no slow hash is needed. */
export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

/** What a token is recognised by in lists: its prefix and its last four characters, which are the checksum's. */
export function tokenHint(token: string): string {
  return `${token.slice(0, 4)}…${token.slice(-4)}`;
}

/** CRC-32 in base 62, as in the tokens of GitHub. */
function checksum(text: string): string {
  let rest = crc32(text);
  let written = '';
  for (let count = 0; count < CHECK_CHARACTERS; count++) {
    written = `${BASE62[rest % 62]}${written}`;
    rest = Math.floor(rest / 62);
  }
  return written;
}
