import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

/** OWASP Password Storage Cheat Sheet: scrypt with N = 2^17, r = 8, p = 1. */
const COST = { ln: 17, r: 8, p: 1 };
const HASH_BYTES = 32;
const SALT_BYTES = 16;

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/** A PHC string: `$scrypt$ln=17,r=8,p=1$salt$hash`. Takes some hundred milliseconds and 128 MiB, off the event loop. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password.normalize('NFKC'), salt, HASH_BYTES, options(COST));
  return phcOf(salt, hash);
}

/** A hash that no password has. Comparing with it takes as long as with any other, so that time tells no user names. */
export function unmatchableHash(): string {
  return phcOf(randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
}

/** Whether a hash was made with other costs than those of today. */
export function isOutdated(phc: string): boolean {
  return !phc.startsWith(head);
}

/** Whether `password` is the one that `phc` was made from. False for a string that is no scrypt hash. */
export async function verifyPassword(password: string, phc: string): Promise<boolean> {
  const match = /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/.exec(
    phc,
  );
  if (match === null) return false;
  const [, ln, r, p, salt = '', hash = ''] = match;
  const cost = { ln: Number(ln), r: Number(r), p: Number(p) };
  if (cost.ln > 20 || cost.r > 16 || cost.p > 4) return false;
  const expected = Buffer.from(hash, 'base64');
  const actual = await derive(
    password.normalize('NFKC'),
    Buffer.from(salt, 'base64'),
    expected.length,
    options(cost),
  );
  return timingSafeEqual(actual, expected);
}

const head = `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$`;

function phcOf(salt: Buffer, hash: Buffer): string {
  return `${head}${unpadded(salt)}$${unpadded(hash)}`;
}

function options({ ln, r, p }: typeof COST): ScryptOptions {
  const N = 2 ** ln;
  return { N, r, p, maxmem: 256 * N * r };
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
