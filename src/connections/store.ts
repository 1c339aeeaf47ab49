import type { Selectable, Updateable } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import type { ConnectionTable } from '../store/tables.ts';
import { seal } from './credentials/seal.ts';
import { connectionName } from './name-schema.ts';
import { refuseTakenName } from './names.ts';
import { openRow, recordOf } from './open-row.ts';
import { renameReferences } from './rename.ts';
import type { ConnectionRecord, OpenConnection } from './schema.ts';
import type { ConnectionTest } from './testing/test-connection.ts';

export type AuthType = ConnectionRecord['authType'];

export interface NewConnection {
  provider: string;
  name: string;
  baseUrl: string | null;
  /** Null for a provider that asks for none. */
  apiKey: string | null;
  /** What kind of credential it is, where it is more than a key. */
  authType?: AuthType;
  defaultModel: string | null;
  /** Default 0. */
  priority?: number;
  /** Default true. */
  active?: boolean;
  /** Default true. */
  cacheMarks?: boolean;
  billing?: ConnectionRecord['billing'];
}

export interface ConnectionPatch {
  name?: string;
  baseUrl?: string | null;
  /** Null takes the stored one away. */
  apiKey?: string | null;
  authType?: AuthType;
  defaultModel?: string | null;
  active?: boolean;
  priority?: number;
  cacheMarks?: boolean;
  billing?: ConnectionRecord['billing'];
}

/** The connections of a store. `sealingKey` opens and seals their credentials. */
export function connectionStore({ db }: Pick<Store, 'db'>, sealingKey: Buffer, now: () => number = Date.now) {
  const rows = () => db.selectFrom('connections').selectAll().orderBy('created_at').orderBy('id').execute();
  const opened = (row: Selectable<ConnectionTable>) => openRow(row, sealingKey);
  const findOpen = async (idOrName: string): Promise<OpenConnection | null> => {
    const all = await rows();
    const row = all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName);
    return row === undefined ? null : opened(row);
  };

  return {
    findOpen,

    /** @throws GatewayError for a bad or taken name */
    async add(input: NewConnection): Promise<ConnectionRecord> {
      const name = checkedName(input.name);
      const row = newRow({ ...input, name }, sealingKey, now());
      await db.transaction().execute(async (trx) => {
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto('connections')
          .values(row)
          .onConflict((conflict) => conflict.column('name').doNothing())
          .executeTakeFirst();
        if (numInsertedOrUpdatedRows === 0n) throw nameTaken(name);
        await refuseTakenName(trx, name, { kind: 'connection', id: row.id, provider: row.provider });
      });
      return recordOf(opened(row));
    },

    /** All connections, oldest first. */
    async list(): Promise<ConnectionRecord[]> {
      return (await rows()).map((row) => recordOf(opened(row)));
    },

    /** The same with their credentials. One that cannot be opened has none and the status `needs-re-entry`. */
    async listOpen(): Promise<OpenConnection[]> {
      return (await rows()).map(opened);
    },

    async find(idOrName: string): Promise<ConnectionRecord | null> {
      const connection = await findOpen(idOrName);
      return connection === null ? null : recordOf(connection);
    },

    /** Changes a connection. A new name is carried over into what names it. @throws GatewayError for a bad or taken name */
    async update(id: string, patch: ConnectionPatch): Promise<void> {
      const change = changeOf(id, patch, sealingKey);
      if (patch.name !== undefined) return renamed(db, id, patch.name, change);
      if (Object.keys(change).length === 0) return;
      await db.updateTable('connections').set(change).where('id', '=', id).execute();
    },

    /** Removes a connection by id. False when there was none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('connections').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },

    /** The connections that have a stored credential, and whether the key opens it. */
    async listSealed(): Promise<{ id: string; provider: string; name: string; decrypts: boolean }[]> {
      return (await rows())
        .filter(({ credential }) => credential !== null)
        .map((row) => ({
          id: row.id,
          provider: row.provider,
          name: row.name,
          decrypts: opened(row).credential !== null,
        }));
    },

    /** Removes all stored credentials. The connections stay, and need them again. */
    async clearCredentials(): Promise<void> {
      await db
        .updateTable('connections')
        .set({ credential: null })
        .where('credential', 'is not', null)
        .execute();
    },

    /** Keeps the outcome of a test. The models listed earlier stay when this test listed none. */
    async saveTest(id: string, test: ConnectionTest): Promise<void> {
      await db.updateTable('connections').set(testChange(test, now())).where('id', '=', id).execute();
    },

    /** Keeps the models that were listed in the background, or why there were none; an earlier list stays then. */
    async saveModels(id: string, came: readonly string[] | { error: string }): Promise<void> {
      const time = now();
      const change =
        'error' in came ? { models_tried_at: time, models_error: came.error } : listed(came, time);
      await db.updateTable('connections').set(change).where('id', '=', id).execute();
    },
  };
}

/** Changes a connection and its name, in one go with all that names it. @throws GatewayError for a bad or taken name */
async function renamed(
  db: Store['db'],
  id: string,
  newName: string,
  change: Updateable<ConnectionTable>,
): Promise<void> {
  const to = checkedName(newName);
  await db.transaction().execute(async (trx) => {
    // Written first: from then on no other process writes until the end of the transaction.
    await trx.updateTable('connections').set({ id }).where('id', '=', id).execute();
    const before = trx.selectFrom('connections').select(['name', 'provider']).where('id', '=', id);
    const row = await before.executeTakeFirst();
    if (row === undefined) return;
    const { name: from, provider } = row;
    if (from !== to) await refuseTakenName(trx, to, { kind: 'connection', id, provider });
    await trx
      .updateTable('connections')
      .set({ ...change, name: to })
      .where('id', '=', id)
      .execute();
    if (from !== to) await renameReferences(trx, { provider, from, to });
  });
}

/** The name as it is stored. @throws GatewayError */
function checkedName(name: string): string {
  const checked = connectionName.safeParse(name);
  if (!checked.success) throw badName(checked.error.issues[0]?.message ?? 'the name is not valid');
  return checked.data;
}

function nameTaken(name: string): GatewayError {
  return badName(`a connection named "${name}" exists already: choose another name`);
}

function newRow(
  {
    active = true,
    apiKey,
    authType = 'api-key',
    baseUrl,
    billing = 'metered',
    cacheMarks = true,
    defaultModel,
    name,
    priority = 0,
    provider,
  }: NewConnection,
  sealingKey: Buffer,
  time: number,
): Selectable<ConnectionTable> {
  const id = newId('con', time);
  return {
    id,
    provider,
    name,
    auth_type: apiKey === null ? 'none' : authType,
    base_url: baseUrl,
    credential: apiKey === null ? null : seal(sealingKey, apiKey, id),
    default_model: defaultModel,
    active: active ? 1 : 0,
    priority,
    prompt_cache_marks: cacheMarks ? 1 : 0,
    billing,
    models: null,
    models_at: null,
    models_tried_at: null,
    models_error: null,
    status: 'untested',
    last_error: null,
    last_tested_at: null,
    created_at: time,
  };
}

/** What a patch changes, apart from the name. Another credential or address makes the last test void. */
function changeOf(id: string, patch: ConnectionPatch, sealingKey: Buffer): Updateable<ConnectionTable> {
  const change: Updateable<ConnectionTable> = {};
  if (patch.baseUrl !== undefined) change.base_url = patch.baseUrl;
  if (patch.defaultModel !== undefined) change.default_model = patch.defaultModel;
  if (patch.active !== undefined) change.active = patch.active ? 1 : 0;
  if (patch.priority !== undefined) change.priority = patch.priority;
  if (patch.cacheMarks !== undefined) change.prompt_cache_marks = patch.cacheMarks ? 1 : 0;
  if (patch.billing !== undefined) change.billing = patch.billing;
  if (patch.apiKey !== undefined) {
    change.credential = patch.apiKey === null ? null : seal(sealingKey, patch.apiKey, id);
    change.auth_type = patch.apiKey === null ? 'none' : (patch.authType ?? 'api-key');
  }
  if (patch.apiKey !== undefined || patch.baseUrl !== undefined) {
    change.status = 'untested';
    change.last_error = null;
    // Another server or account may have other models.
    change.models_tried_at = null;
    change.models_error = null;
  }
  return change;
}

function testChange(test: ConnectionTest, time: number): Updateable<ConnectionTable> {
  return {
    status: test.valid ? 'ok' : 'failed',
    last_error: test.error,
    last_tested_at: time,
    ...(test.models === null ? {} : listed(test.models, time)),
  };
}

function listed(models: readonly string[], time: number): Updateable<ConnectionTable> {
  return { models: JSON.stringify(models), models_at: time, models_tried_at: time, models_error: null };
}

function badName(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'name' });
}
