import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import { open, seal } from '../connections/credentials/seal.ts';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import type { AlertTable } from '../store/tables.ts';
import type { AlertRecord, OpenAlert } from './schema.ts';
import { type AlertTarget, alertTarget } from './target-schema.ts';

export interface NewAlert {
  readonly target: AlertTarget;
  readonly name: string | null;
  readonly on: readonly string[];
  readonly where: string | null;
  readonly digestMs: number;
  readonly byApi: boolean;
}

/** What changes of an alert; the rest stays. */
export interface AlertPatch {
  readonly target?: AlertTarget;
  readonly name?: string;
  readonly on?: readonly string[];
  readonly where?: string | null;
  readonly digestMs?: number;
  readonly paused?: boolean;
  /** Set with a target: who set it up. */
  readonly byApi?: boolean;
}

const SECRET_BYTES = 32;

/** The alerts of a store. `sealingKey` opens and seals where they go. */
export function alertStore({ db }: Pick<Store, 'db'>, sealingKey: Buffer, now: () => number = Date.now) {
  const rows = () => db.selectFrom('alerts').selectAll().orderBy('created_at').orderBy('id').execute();
  const list = async (): Promise<OpenAlert[]> => (await rows()).map((row) => opened(row, sealingKey));
  const find = async (idOrName: string): Promise<OpenAlert | null> => {
    const all = await list();
    return all.find(({ id }) => id === idOrName) ?? all.find(({ name }) => name === idOrName) ?? null;
  };
  return {
    /** The oldest first. */
    list,
    find,

    /** @throws GatewayError `conflict` for a name that another alert has */
    async add({ byApi, digestMs, name, on, target, where }: NewAlert): Promise<OpenAlert> {
      const at = now();
      const id = newId('alt', at);
      const secret =
        target.kind === 'webhook' ? `whsec_${randomBytes(SECRET_BYTES).toString('base64')}` : null;
      const row: Selectable<AlertTable> = {
        id,
        name: name ?? freeName(target.kind, await rows()),
        kind: target.kind,
        target: seal(sealingKey, JSON.stringify(target), id),
        secret: secret === null ? null : seal(sealingKey, secret, id),
        events: JSON.stringify(on),
        condition: where,
        digest_ms: digestMs,
        paused: 0,
        by_api: byApi ? 1 : 0,
        created_at: at,
        updated_at: at,
        active_since: at,
      };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('alerts')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .executeTakeFirst();
      if (numInsertedOrUpdatedRows === 0n) throw nameTaken(row.name);
      return opened(row, sealingKey);
    },

    /** False when there is none. @throws GatewayError `conflict` for a name that another alert has */
    async update(id: string, patch: AlertPatch): Promise<boolean> {
      const { byApi, digestMs, name, on, paused, target, where } = patch;
      const at = now();
      const other = name === undefined ? undefined : (await rows()).find((row) => row.name === name);
      if (other !== undefined && other.id !== id) throw nameTaken(other.name);
      const { numUpdatedRows } = await db
        .updateTable('alerts')
        .set({
          updated_at: at,
          ...(name === undefined ? {} : { name }),
          ...(target === undefined ? {} : { target: seal(sealingKey, JSON.stringify(target), id) }),
          ...(byApi === undefined ? {} : { by_api: byApi ? 1 : 0 }),
          ...(on === undefined ? {} : { events: JSON.stringify(on) }),
          ...(where === undefined ? {} : { condition: where }),
          ...(digestMs === undefined ? {} : { digest_ms: digestMs }),
          ...(paused === undefined ? {} : { paused: paused ? 1 : 0 }),
          ...(paused === false ? { active_since: at } : {}),
        })
        .where('id', '=', id)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    /** False when there was none. */
    async remove(id: string): Promise<boolean> {
      const { numDeletedRows } = await db.deleteFrom('alerts').where('id', '=', id).executeTakeFirst();
      return numDeletedRows > 0n;
    },
  };
}

export type AlertStore = ReturnType<typeof alertStore>;

function nameTaken(name: string): GatewayError {
  return new GatewayError('conflict', `An alert named "${name}" exists already: choose another name`, {
    param: 'name',
  });
}

/** `slack`, `slack-2` … */
function freeName(kind: string, rows: readonly { name: string }[]): string {
  const names = new Set(rows.map(({ name }) => name));
  let name = kind;
  for (let number = 2; names.has(name); number += 1) name = `${kind}-${number}`;
  return name;
}

function opened(row: Selectable<AlertTable>, sealingKey: Buffer): OpenAlert {
  const target = open(sealingKey, row.target, row.id);
  return {
    ...recordOf(row),
    target: target === null ? null : (alertTarget.safeParse(JSON.parse(target)).data ?? null),
    secret: row.secret === null ? null : open(sealingKey, row.secret, row.id),
  };
}

function recordOf(row: Selectable<AlertTable>): AlertRecord {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    on: JSON.parse(row.events),
    where: row.condition,
    digestMs: row.digest_ms,
    paused: row.paused === 1,
    byApi: row.by_api === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    activeSince: row.active_since,
  };
}
