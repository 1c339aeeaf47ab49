import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../sqlite.ts';
import type { Tables } from '../tables.ts';
import type { Batch } from './insert.ts';

/** How many bytes wait on the local disk at most: some hundred thousand requests. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Rows that wait in a file of the data directory until the server answers again; also over a restart. */
export interface Outbox {
  /** False when there is no room. @throws the file's error, e.g. for a full disk */
  put(batch: Batch): boolean;
  /** The oldest batch; null when none waits. It stays until it is removed. */
  first(): { id: number; batch: Batch } | null;
  remove(id: number): void;
  /** How many rows wait. */
  waiting(): number;
  close(): void;
}

/** Where the rows wait. */
export function outboxPath(dataDir: string): string {
  return join(dataDir, 'outbox.db');
}

/** @param maxBytes of all that waits together */
export function openOutbox(dataDir: string, maxBytes: number = MAX_BYTES): Outbox {
  const path = outboxPath(dataDir);
  let database: DatabaseSync | null = null;
  let rows = 0;
  let bytes = 0;
  const open = (): DatabaseSync => {
    if (database !== null) return database;
    // Made empty first, so that it never exists with wider permissions.
    writeFileSync(path, '', { mode: 0o600, flag: 'a' });
    const opened = openDatabase(path);
    opened.exec(
      'create table if not exists batches (id integer primary key autoincrement, name text not null, columns text not null, rows text not null, count integer not null)',
    );
    for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
    const found = opened
      .prepare('select coalesce(sum(count), 0) as rows, coalesce(sum(length(rows)), 0) as bytes from batches')
      .get();
    rows = Number(found?.['rows']);
    bytes = Number(found?.['bytes']);
    database = opened;
    return opened;
  };
  // What an earlier run has left is sent by this one.
  if (existsSync(path)) open();
  return {
    put({ columns, rows: values, table }) {
      const text = JSON.stringify(values, asText);
      if (bytes + text.length > maxBytes) return false;
      open()
        .prepare('insert into batches (name, columns, rows, count) values (?, ?, ?, ?)')
        .run(table, JSON.stringify(columns), text, values.length);
      rows += values.length;
      bytes += text.length;
      return true;
    },
    first() {
      if (rows === 0) return null;
      const row = open().prepare('select * from batches order by id limit 1').get();
      if (row === undefined) return null;
      const values = JSON.parse(String(row['rows']), fromText) as Batch['rows'];
      const columns = JSON.parse(String(row['columns'])) as string[];
      return { id: Number(row['id']), batch: { table: row['name'] as keyof Tables, columns, rows: values } };
    },
    remove(id) {
      const row = open()
        .prepare('delete from batches where id = ? returning count, length(rows) as bytes')
        .get(id);
      rows -= Number(row?.['count'] ?? 0);
      bytes -= Number(row?.['bytes'] ?? 0);
    },
    waiting: () => rows,
    close() {
      database?.close();
      database = null;
    },
  };
}

/** Bytes, which JSON has not. */
function asText(_: string, value: unknown): unknown {
  // A Buffer has become this before.
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  return isBuffer(value) ? { base64: Buffer.from(value.data).toString('base64') } : value;
}

function isBuffer(value: unknown): value is { type: 'Buffer'; data: number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}

function fromText(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('base64' in value)) return value;
  return Buffer.from(String(value.base64), 'base64');
}
