import { createHash } from 'node:crypto';
import type { Store } from '../database.ts';
import { endMove, type MoveSource } from './move.ts';
import { carriedRow, rowsAfter, writeRows } from './rows.ts';
import { canonical, type MovedTable, movedTables, type StoredRow } from './tables.ts';

export interface CopyInput {
  /** It must not change meanwhile: a snapshot. */
  from: MoveSource;
  /** New and empty. Nobody else knows it. */
  to: Store;
  /** Told now and then how many rows were read so far, from `from` and then once more from `to`. */
  progress(rows: number): void;
}

/**
 * Copies the state of one store into another, and then compares what is there with what was read. Unlike `moveStore` it reads
 * the source once, and cannot be gone on with.
 * @throws Error for a table that is not there as it was read
 */
export async function copyStore({ from, progress, to }: CopyInput): Promise<void> {
  let rows = 0;
  const count = (more: number) => {
    rows += more;
    progress(rows);
  };
  for (const table of movedTables) {
    const [read, written] = [createTableDigest(), createTableDigest()];
    for await (const batch of batchesOf(table, from)) {
      const carried = batch.map((row) => carriedRow(table, row, from, to)).filter((row) => row !== null);
      read.add(carried);
      await writeRows(table, to, carried);
      count(batch.length);
    }
    for await (const batch of batchesOf(table, to)) {
      written.add(batch);
      count(batch.length);
    }
    if (read.value() !== written.value()) throw new Error(`the table ${table.name} was not copied as it is`);
  }
  await endMove(to, await from.latestRevision());
}

async function* batchesOf(table: MovedTable, store: Pick<Store, 'db'>): AsyncGenerator<StoredRow[]> {
  for (let after: StoredRow | null = null; ; ) {
    const rows: StoredRow[] = await rowsAfter(table, store, after);
    after = rows.at(-1) ?? null;
    if (after === null) return;
    yield rows;
  }
}

const DIGEST_BYTES = 32;

/** A digest of rows of which no two are equal, whatever their order: rows may be called otherwise where they were copied to. */
function createTableDigest() {
  const sum = Buffer.alloc(DIGEST_BYTES);
  let rows = 0;
  return {
    add(batch: readonly StoredRow[]): void {
      for (const row of batch) {
        const digest = createHash('sha256').update(canonical(row)).digest();
        for (let index = 0; index < DIGEST_BYTES; index += 1)
          sum[index] = (sum[index] ?? 0) ^ (digest[index] ?? 0);
      }
      rows += batch.length;
    },
    value: () => `${rows} ${sum.toString('hex')}`,
  };
}
