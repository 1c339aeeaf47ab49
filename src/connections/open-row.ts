import type { Selectable } from 'kysely';
import type { ConnectionTable } from '../store/tables.ts';
import { storedAccount } from './accounts/account.ts';
import type { Account, OAuthAccount } from './accounts/schema.ts';
import { open } from './credentials/seal.ts';
import { notLoggedIn } from './oauth/refresh.ts';
import type { ConnectionRecord, LoginRow, OpenConnection } from './schema.ts';

/** A stored connection with its credential. One that cannot be opened has none and the status `needs-re-entry`. */
export function openRow(row: Selectable<ConnectionTable>, key: Buffer): OpenConnection {
  const text = row.credential === null ? null : open(key, row.credential, row.id);
  const account = text === null || row.auth_type === 'api-key' ? null : storedAccount(row.auth_type, text);
  const credential = row.auth_type === 'api-key' || account !== null ? text : null;
  const why = whyUnusable(row, credential, account);
  return {
    id: row.id,
    provider: row.provider,
    name: row.name,
    authType: row.auth_type,
    baseUrl: row.base_url,
    defaultModel: row.default_model,
    active: row.active === 1,
    priority: row.priority,
    cacheMarks: row.prompt_cache_marks === 1,
    billing: row.billing,
    models: row.models === null ? null : JSON.parse(row.models),
    modelsAt: row.models_at,
    modelsTriedAt: row.models_tried_at,
    modelsError: row.models_error,
    status: why === null ? row.status : 'needs-re-entry',
    lastError: why ?? row.last_error,
    lastTestedAt: row.last_tested_at,
    createdAt: row.created_at,
    credential,
    ...(account === null ? {} : { account }),
  };
}

/** What the owner has to do before anything can be sent; null for nothing. */
function whyUnusable(
  { auth_type, last_error, name }: Selectable<ConnectionTable>,
  credential: string | null,
  account: Account | null,
): string | null {
  if (auth_type === 'none') return null;
  if (credential === null)
    return 'The stored credential cannot be decrypted with the current key: enter it again';
  if (account?.kind === 'oauth' && account.grant === null) return last_error ?? notLoggedIn(name);
  return null;
}

/** The same without anything secret. */
export function recordOf({ account, credential: _, ...record }: OpenConnection): ConnectionRecord {
  return account?.kind === 'oauth' ? { ...record, login: loginOf(account) } : record;
}

function loginOf({ client, grant }: OAuthAccount): LoginRow {
  const expiresAt = grant?.expiresAt ?? null;
  return {
    issuer: client.issuer,
    authorization_url: client.authorizationUrl,
    token_url: client.tokenUrl,
    device_url: client.deviceUrl,
    client_id: client.clientId,
    has_client_secret: client.clientSecret !== null,
    scopes: client.scopes,
    audience: client.audience,
    redirect_uri: client.redirectUri,
    logged_in: grant !== null,
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}
