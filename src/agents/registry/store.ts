import type { Selectable } from 'kysely';
import type { Store } from '../../store/database.ts';
import type { AgentTable } from '../../store/tables.ts';
import { type AgentSettingValues, agentSettings, type CustomAgent, customAgent } from './stored-schema.ts';

/** What was decided about an agent. Times in milliseconds since the epoch. */
export interface AgentRecord {
  id: string;
  enabled: boolean;
  /** Those that were decided. */
  settings: Partial<AgentSettingValues>;
  /** Null for an agent of the catalogue. */
  custom: CustomAgent | null;
  /** Whether it was added through the management API: then only allowed programs are run. */
  byApi: boolean;
  createdAt: number;
  updatedAt: number;
}

export interface AgentStore {
  /** By id. */
  list(): Promise<AgentRecord[]>;
  find(id: string): Promise<AgentRecord | null>;
  /** Writes one, in the place of another of this id. */
  put(record: AgentRecord): Promise<void>;
  /** Writes one where there is none. False when there is one of this id. */
  add(record: AgentRecord): Promise<boolean>;
  /** False when there was none. */
  remove(id: string): Promise<boolean>;
}

export function agentStore({ db }: Pick<Store, 'db'>): AgentStore {
  const insert = (record: AgentRecord) => db.insertInto('agents').values(rowOf(record));
  return {
    async list() {
      return (await db.selectFrom('agents').selectAll().orderBy('id').execute()).map(recordOf);
    },
    async find(id) {
      const row = await db.selectFrom('agents').selectAll().where('id', '=', id).executeTakeFirst();
      return row === undefined ? null : recordOf(row);
    },
    async put(record) {
      const { created_at: _, id: __, ...change } = rowOf(record);
      await insert(record)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(change))
        .execute();
    },
    async add(record) {
      const { numInsertedOrUpdatedRows } = await insert(record)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .executeTakeFirst();
      return (numInsertedOrUpdatedRows ?? 0n) > 0n;
    },
    async remove(id) {
      const { numDeletedRows } = await db.deleteFrom('agents').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

function rowOf({ byApi, createdAt, custom, enabled, id, settings, updatedAt }: AgentRecord) {
  return {
    id,
    enabled: enabled ? 1 : 0,
    settings: JSON.stringify(settings),
    custom: custom === null ? null : JSON.stringify(custom),
    by_api: byApi ? 1 : 0,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

function recordOf(row: Selectable<AgentTable>): AgentRecord {
  return {
    id: row.id,
    enabled: row.enabled === 1,
    settings: agentSettings.partial().parse(JSON.parse(row.settings)),
    custom: row.custom === null ? null : customAgent.parse(JSON.parse(row.custom)),
    byApi: row.by_api === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
