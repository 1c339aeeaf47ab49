import type { Sql } from 'postgres';
import type { Store, Value } from '../database.ts';
import { storable } from '../storable.ts';
import type { Tables } from '../tables.ts';
import { isRowFault } from './failure.ts';
import { ledgerPartitions, type Partitions } from './partitions.ts';

export interface Batch {
  table: keyof Tables;
  columns: readonly string[];
  rows: readonly (readonly Value[])[];
}

/** Tables whose rows take the place of those with the same primary key, which is named here. */
const replaced: Readonly<Partial<Record<keyof Tables, readonly string[]>>> = {
  standings: ['connection_id', 'model'],
  budget_tallies: ['key'],
};

export interface Inserter {
  /**
   * Writes rows, each once however often it comes. Those that cannot be stored are told to `onRefused`.
   * @throws what postgres.js throws, when nothing was written
   */
  insert(batch: Batch, onRefused: NonNullable<Parameters<Store['insertMany']>[3]>): Promise<void>;
}

export function createInserter(sql: () => Sql): Inserter {
  const partitions = ledgerPartitions(sql);
  const write = (batch: Batch) => sql().unsafe(statementOf(batch), [documentOf(batch)], { prepare: true });
  return {
    async insert(batch, onRefused) {
      if (batch.rows.length === 0) return;
      await cover(partitions, batch);
      try {
        await write(batch);
      } catch (error) {
        if (!isRowFault(error)) throw error;
        partitions.forget();
        // Each by itself, so that the sound ones are written.
        for (const row of batch.rows) {
          try {
            await cover(partitions, { ...batch, rows: [row] });
            await write({ ...batch, rows: [row] });
          } catch (refusal) {
            if (!isRowFault(refusal)) throw refusal;
            onRefused(refusal);
          }
        }
      }
    },
  };
}

async function cover(partitions: Partitions, { columns, rows, table }: Batch): Promise<void> {
  if (table !== 'requests') return;
  const at = columns.indexOf('started_at');
  await partitions.cover(rows.map((row) => row[at]).filter((time) => typeof time === 'number'));
}

/** One statement for any number of rows: they come as one JSON document. */
function statementOf({ columns, table }: Batch): string {
  const names = columns.map((column) => `"${column}"`).join();
  const key = replaced[table];
  const set = columns.map((column) => `"${column}" = excluded."${column}"`).join();
  const conflict = key === undefined ? 'do nothing' : `(${key.join()}) do update set ${set}`;
  return `insert into ${table} (${names}) select ${names} from json_populate_recordset(null::${table}, $1::text::json)
    on conflict ${conflict}`;
}

function documentOf({ columns, rows, table }: Batch): string {
  const documents = rows.map((row) =>
    Object.fromEntries(columns.map((column, index) => [column, jsonValue(row[index] ?? null)])),
  );
  const key = replaced[table];
  // One statement changes a row once: of several for one place the last counts.
  const unique =
    key === undefined
      ? documents
      : [...new Map(documents.map((row) => [JSON.stringify(key.map((name) => row[name])), row])).values()];
  return JSON.stringify(unique);
}

function jsonValue(value: Value): string | number | null {
  if (typeof value === 'string') return storable(value);
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`;
  return value;
}
