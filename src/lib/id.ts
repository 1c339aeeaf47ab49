import { randomBytes } from 'node:crypto';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * An id that sorts by creation time: `prefix_`, 9 base-36 digits of the millisecond and 12 random base-62
 * characters (71 bits).
 */
export function newId(prefix: string, now: number = Date.now()): string {
  return `${prefix}_${now.toString(36).padStart(9, '0')}${randomText(12)}`;
}

/** `length` characters of base 62 without modulo bias: 5.95 random bits each. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length + 8)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

/** A UUID of version 7 (RFC 9562): it begins with the millisecond, so that it sorts by time, and has 74 random bits. */
export function newUuid(now: number = Date.now()): string {
  const bytes = pooledRandom(16);
  bytes.writeUIntBE(now, 0, 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const POOL_BYTES = 4_096;
let pool = Buffer.alloc(0);

/** Random bytes that are used once: to ask the system for many at a time takes a tenth of the time. */
function pooledRandom(length: number): Buffer {
  if (pool.length < length) pool = randomBytes(POOL_BYTES);
  const bytes = pool.subarray(0, length);
  pool = pool.subarray(length);
  return bytes;
}
