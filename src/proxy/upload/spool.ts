import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { GatewayError } from '../../lib/error.ts';

/** Kept in memory up to here; beyond, in a file. */
const MEMORY_BYTES = 262_144;
const READ_BYTES = 65_536;

/**
 * Bytes that are put by until they can be passed on: a few in memory, more in a file that only this process can read.
 * The file has no name any more once it is open, so that nothing is left of it whatever happens.
 */
export class Spool {
  readonly #folder: string;
  #pieces: Buffer[] = [];
  #bytes = 0;
  #file: FileHandle | null = null;
  #closed = false;

  /** @param folder is made when it is needed */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores more; nothing once it is closed. @throws GatewayError `internal_error` */
  async write(bytes: Buffer): Promise<void> {
    if (this.#closed) return;
    this.#bytes += bytes.length;
    if (this.#file === null && this.#bytes <= MEMORY_BYTES) {
      this.#pieces.push(bytes);
      return;
    }
    try {
      this.#file ??= await this.#create();
      const file = this.#file;
      for (const piece of [...this.#pieces, bytes]) if (!this.#closed) await writeAll(file, piece);
      this.#pieces = [];
      if (this.#closed) await this.close();
    } catch (cause) {
      if (!this.#closed) throw unusable(cause);
    }
  }

  /** Everything that was written, once, in its order. */
  async *contents(): AsyncGenerator<Buffer> {
    const pieces = this.#pieces;
    this.#pieces = [];
    yield* pieces;
    let position = 0;
    while (this.#file !== null && !this.#closed) {
      const { buffer, bytesRead } = await this.#read(this.#file, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  /** Lets go of everything. May be called more than once, and while it is written or read. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#pieces = [];
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => {});
  }

  async #read(file: FileHandle, position: number) {
    try {
      return await file.read(Buffer.allocUnsafe(READ_BYTES), 0, READ_BYTES, position);
    } catch (cause) {
      throw unusable(cause);
    }
  }

  async #create(): Promise<FileHandle> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, randomUUID());
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return file;
  }
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written);
    written += bytesWritten;
  }
}

function unusable(cause: unknown): GatewayError {
  const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
  const message = `The gateway could not put the upload by on its disk (${code})`;
  return new GatewayError('internal_error', message, { cause });
}
