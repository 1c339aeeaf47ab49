import { type RawBuilder, sql } from 'kysely';
import type { Store } from '../../store/database.ts';

/** A column of bytes as a query reads it: a server sends bytes as hexadecimal digits, twice as many, which take long to read. */
export function blobColumn(kind: Store['kind'] | undefined, column: string): RawBuilder<string | Uint8Array> {
  return kind === 'postgres' ? sql`encode(${sql.ref(column)}, 'base64')` : sql`${sql.ref(column)}`;
}

/** The bytes of what `blobColumn` has read. */
export function bytesOf(blob: string | Uint8Array): Uint8Array {
  return typeof blob === 'string' ? Buffer.from(blob, 'base64') : blob;
}
