/** Standard base64 with padding (RFC 4648). @returns null when `text` is none */
export function bytesOfBase64(text: string): Buffer | null {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return null;
  return Buffer.from(text, 'base64');
}

export const base64Of = (bytes: Uint8Array): string => asBuffer(bytes).toString('base64');

/** The same memory. */
export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
