import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../lib/error.ts';
import { makeFolder } from '../../lib/files/folder.ts';

export interface StorageKey {
  /** For credentials. Empty where there is none: it opens nothing, and nothing can be sealed with it. */
  key: Buffer;
  /** For kept responses. */
  responses: NamedKey;
  /** `missing`: there is neither a secret nor a file, and none was made. */
  source: 'environment' | 'file' | 'generated' | 'missing';
}

/** A key with a name to tell it from others by, from which it cannot be found out. */
export interface NamedKey {
  /** As an object: for one that is used for every request, bytes would be made into one each time, at ten times the price. */
  key: KeyObject;
  name: string;
}

/** What derived keys are used for: another use of the same secret gives another key (RFC 5869, `info`). */
const labels = {
  credentials: 'modelgate/credentials/v1',
  responses: 'modelgate/responses/v1',
  responsesName: 'modelgate/responses/v1/name',
} as const;
const VERSION = 'v1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The keys that seal credentials and kept responses: derived from STORAGE_ENCRYPTION_KEY, else from `DATA_DIR/storage.key`, which
 * is generated once and never overwritten.
 * @throws GatewayError when the file cannot be read or is empty
 */
export async function storageKey(dataDir: string, secret: string | null): Promise<StorageKey> {
  if (secret !== null) return { ...deriveKeys(secret), source: 'environment' };
  const path = join(dataDir, 'storage.key');
  const existing = readKeyFile(path);
  if (existing !== null) return { ...deriveKeys(existing), source: 'file' };
  makeFolder(dataDir);
  const newKey = randomBytes(32).toString('base64url');
  try {
    createKeyFile(path, `${newKey}\n`);
  } catch (error) {
    // Another process made it first.
    const theirs = readKeyFile(path);
    if (theirs !== null) return { ...deriveKeys(theirs), source: 'file' };
    throw new GatewayError('internal_error', `${path} cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return { ...deriveKeys(newKey), source: 'generated' };
}

/**
 * Creates a file that is never visible empty, and that is on the disk before anything is sealed with it.
 * @throws when it exists
 */
export function createKeyFile(path: string, text: string): void {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    writeFileSync(temporary, text, { mode: 0o600, flag: 'wx', flush: true });
    try {
      linkSync(temporary, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
      // A file system without hard links.
      writeFileSync(path, text, { mode: 0o600, flag: 'wx', flush: true });
    }
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The secret in a key file; null where there is none. @throws GatewayError when it cannot be read or is empty */
export function readKeyFile(path: string): string | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new GatewayError('internal_error', `${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (text !== '') return text;
  throw new GatewayError(
    'internal_error',
    `${path} is empty: put the key back from a copy, or remove the file and enter every credential again`,
  );
}

/** Stands for a key where there is none. Responses that are kept meanwhile can be opened by this process alone. */
export function missingKey(): StorageKey {
  const responses = { key: createSecretKey(randomBytes(32)), name: 'none' };
  return { key: Buffer.alloc(0), responses, source: 'missing' };
}

/** The keys that are made of a secret, with the name that identifies the secret. */
export function deriveKeys(secret: string): Omit<StorageKey, 'source'> {
  const derive = (use: keyof typeof labels, bytes = 32) =>
    Buffer.from(hkdfSync('sha256', secret, '', labels[use], bytes));
  return {
    key: derive('credentials'),
    responses: {
      key: createSecretKey(derive('responses')),
      name: derive('responsesName', 8).toString('hex'),
    },
  };
}

/** A key for another use, which gives away nothing of the one that it is made of (RFC 5869). */
export function labelledKey({ key }: Pick<StorageKey, 'key'>, label: string): Buffer {
  // Of nothing, everybody could derive it.
  const secret = key.length === 0 ? randomBytes(32) : key;
  return Buffer.from(hkdfSync('sha256', secret, '', label, 32));
}

/** Seals a text with AES-256-GCM. `context` must be given again to open it, so that rows cannot be swapped. */
export function sealBytes(key: Buffer | KeyObject, plaintext: string, context: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(context));
  const sealed = [cipher.update(plaintext, 'utf8'), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
}

/** The sealed text, or null when the key or the context is another one or the bytes were damaged. */
export function openBytes(key: Buffer | KeyObject, bytes: Uint8Array, context: string): string | null {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([
      decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)),
      decipher.final(),
    ]).toString('utf8');
  } catch {
    return null;
  }
}

/** What `sealBytes` makes, as a text. @throws GatewayError `storage_key_missing` for an empty key */
export function seal(key: Buffer, plaintext: string, context: string): string {
  if (key.length === 0)
    throw new GatewayError(
      'storage_key_missing',
      'The key that the stored credentials were encrypted with is gone: put storage.key back into the data directory, or set STORAGE_ENCRYPTION_KEY. If it is lost, `gateway reset-encrypted-columns --force` gives those credentials up, and a new key is made',
    );
  return `${VERSION}.${sealBytes(key, plaintext, context).toString('base64url')}`;
}

/** The text that `seal` sealed, or null as `openBytes` says. */
export function open(key: Buffer, sealed: string, context: string): string | null {
  if (!sealed.startsWith(`${VERSION}.`)) return null;
  const text = sealed.slice(VERSION.length + 1);
  const bytes = Buffer.from(text, 'base64url');
  // The decoder passes over characters that do not belong there; a sealed text has one spelling.
  return bytes.toString('base64url') === text ? openBytes(key, bytes, context) : null;
}
