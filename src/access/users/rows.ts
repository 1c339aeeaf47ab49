import type { Selectable } from 'kysely';
import type { Store } from '../../store/database.ts';
import type { UserTable } from '../../store/tables.ts';
import type { UserRecord } from './schema.ts';

/** Reads all users, oldest first. */
export async function readUsers({ db }: Pick<Store, 'db'>): Promise<UserRecord[]> {
  const rows = await db.selectFrom('users').selectAll().orderBy('created_at').orderBy('id').execute();
  return rows.map(recordOf);
}

/** A row of the table as the rest of the gateway sees it. */
export function recordOf(row: Selectable<UserTable>): UserRecord {
  return {
    id: row.id,
    guid: row.guid ?? row.id,
    name: row.name,
    displayName: row.display_name,
    role: row.role,
    password: row.password,
    disabled: row.disabled === 1,
    credentialVersion: row.credential_version,
    roleVersion: row.role_version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    passwordChangedAt: row.password_changed_at,
    lastLoginAt: row.last_login_at,
  };
}
