import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Store } from '../store/database.ts';
import { ownIds } from '../store/node-name.ts';
import type { ServiceTable } from '../store/tables.ts';
import type { ServiceOptions } from './schema.ts';

/** What is kept of a service. Times in milliseconds since the epoch. */
export interface ServiceRecord {
  key: string;
  guid: string;
  desired: 'running' | 'stopped';
  options: ServiceOptions;
  labels: Record<string, string>;
  /** Counts its changes, from 1. */
  revision: number;
  createdAt: number;
  updatedAt: number;
}

export type ServicePatch = Partial<Pick<ServiceRecord, 'desired' | 'labels' | 'options'>>;

/** The records of services. Only the gateway writes them, so that memory has them all. */
export interface ServiceRecords {
  /** The record of a part; one is made at the first sight of it. */
  of(key: string): Promise<ServiceRecord>;
  /** Like `of`, for one that was seen before; null otherwise. */
  cached(key: string): ServiceRecord | null;
  update(key: string, patch: ServicePatch): Promise<ServiceRecord>;
}

export async function openServiceRecords(
  { db, node }: Pick<Store, 'db' | 'node'>,
  now: () => number,
): Promise<ServiceRecords> {
  const ids = ownIds({ node });
  const rows = await db.selectFrom('services').selectAll().execute();
  const records = new Map(
    rows.flatMap((row) => {
      const key = ids.own(row.id);
      return key === null ? [] : [[key, { ...recordOf(row), key }] as const];
    }),
  );
  const of = async (key: string): Promise<ServiceRecord> => {
    const existing = records.get(key);
    if (existing !== undefined) return existing;
    const time = now();
    const record: ServiceRecord = {
      key,
      guid: randomUUID(),
      desired: 'running',
      options: {},
      labels: {},
      revision: 1,
      createdAt: time,
      updatedAt: time,
    };
    records.set(key, record);
    try {
      await db
        .insertInto('services')
        .values({ ...rowOf(record), id: ids.stored(key) })
        .execute();
    } catch (error) {
      records.delete(key);
      throw error;
    }
    return record;
  };
  return {
    of,
    cached: (key) => records.get(key) ?? null,
    async update(key, patch) {
      const before = await of(key);
      const record = { ...before, ...patch, revision: before.revision + 1, updatedAt: now() };
      const { id, ...change } = rowOf(record);
      await db.updateTable('services').set(change).where('id', '=', ids.stored(id)).execute();
      records.set(key, record);
      return record;
    },
  };
}

function rowOf(record: ServiceRecord): Selectable<ServiceTable> {
  return {
    id: record.key,
    guid: record.guid,
    desired_state: record.desired,
    options: JSON.stringify(record.options),
    labels: JSON.stringify(record.labels),
    revision: record.revision,
    created_at: record.createdAt,
    updated_at: record.updatedAt,
  };
}

function recordOf(row: Selectable<ServiceTable>): ServiceRecord {
  return {
    key: row.id,
    guid: row.guid,
    desired: row.desired_state,
    options: JSON.parse(row.options),
    labels: JSON.parse(row.labels),
    revision: row.revision,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
