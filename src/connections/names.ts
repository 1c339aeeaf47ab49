import type { Kysely } from 'kysely';
import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';
import type { Tables } from '../store/tables.ts';

/** What has a name that a model can be asked for by. */
export type NameOwner = 'connection' | 'combo' | 'alias';

/** Names with a meaning of their own, in lower case. */
const reserved: Readonly<Record<string, string>> = {
  auto: '"auto" always means the active combo',
  claude: 'every model is also listed below "claude/"',
};

/**
 * Refuses a name that another connection, combo, alias or provider has: a model id, a key's list of models and a combo's
 * targets must each mean one thing. A connection may be called like its own provider.
 * @param db the transaction that has written the name already, so that no other process takes it meanwhile
 * @param own what has the name in that transaction
 * @throws GatewayError `invalid_request` for `name`
 */
export async function refuseTakenName(
  db: Kysely<Tables>,
  name: string,
  own: { kind: NameOwner; id: string; provider?: string },
): Promise<void> {
  const rule = reserved[name.toLowerCase()];
  if (rule !== undefined) throw bad(`${rule}: choose another name`);
  const provider = findProvider(name);
  if (provider !== undefined && provider.id !== own.provider)
    throw bad(
      `"${name}" is the provider ${provider.name}: choose another name, for "${name}/…" means its models`,
    );
  const owner = await ownerOf(db, name, own);
  if (owner !== null)
    throw bad(
      `${owner === 'alias' ? 'an' : 'a'} ${owner} named "${name}" exists already: choose another name`,
    );
}

async function ownerOf(
  db: Kysely<Tables>,
  name: string,
  own: { kind: NameOwner; id: string },
): Promise<NameOwner | null> {
  for (const [kind, table] of Object.entries(tables) as [NameOwner, (typeof tables)[NameOwner]][]) {
    const { id } =
      (await db
        .selectFrom(table)
        .select('id')
        .where('name', '=', name)
        .where('id', '!=', own.kind === kind ? own.id : '')
        .executeTakeFirst()) ?? {};
    if (id !== undefined) return kind;
  }
  return null;
}

const tables = { connection: 'connections', combo: 'combos', alias: 'aliases' } as const;

function bad(message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param: 'name' });
}
