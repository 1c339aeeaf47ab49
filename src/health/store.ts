import type { Selectable } from 'kysely';
import type { Store } from '../store/database.ts';
import type { StandingTable } from '../store/tables.ts';
import { createWriter } from '../store/writer.ts';
import type { StoredHealthState } from './account.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import type { HealthState } from './health-state.ts';

type Row = Selectable<StandingTable>;

/** One array, for the writer batches rows by it. */
const columns: readonly (keyof Row)[] = [
  'connection_id',
  'model',
  'state',
  'reason',
  'since',
  'until',
  'told',
  'failures',
  'fingerprint',
];

export interface AccountsStore {
  accounts: Accounts;
  /** What was kept when it was opened. */
  storedStates: readonly StoredHealthState[];
  /** Writes what waits. */
  close(): Promise<void>;
}

/**
 * The accounts as they were when the gateway last ran. What has ended meanwhile is forgotten; what changes is written in
 * the background.
 */
export async function openAccounts(
  store: Pick<Store, 'db' | 'insertMany'>,
  now: () => number,
  onError: (error: unknown, lost: number) => void,
  onChange: (changed: StoredHealthState) => void = () => {},
): Promise<AccountsStore> {
  await store.db
    .deleteFrom('standings')
    .where((where) => where.or([where('state', '=', 'ready'), where('until', '<=', now())]))
    .execute();
  const rows = await store.db.selectFrom('standings').selectAll().execute();
  const writer = createWriter(store, { onError });
  const healthStates = rows.map(storedStateOf);
  const accounts = createAccounts({
    now,
    storedStates: healthStates,
    onChange(changed) {
      onChange(changed);
      const row = rowOf(changed, now());
      writer.push(
        'standings',
        columns,
        columns.map((column) => row[column]),
      );
    },
  });
  return { accounts, storedStates: healthStates, close: writer.stop };
}

function rowOf({ connectionId, fingerprint, model, healthState }: StoredHealthState, now: number): Row {
  const about = { connection_id: connectionId, model: model ?? '', fingerprint };
  if (healthState === null)
    return { ...about, state: 'ready', reason: '', since: now, until: null, told: 0, failures: 0 };
  const { failures, reason, since, state } = healthState;
  const timed = 'until' in healthState;
  return {
    ...about,
    state,
    reason,
    since,
    failures,
    until: timed ? Math.ceil(healthState.until) : null,
    told: timed && healthState.namedByUpstream ? 1 : 0,
  };
}

function storedStateOf(row: Row): StoredHealthState {
  const { connection_id: connectionId, fingerprint, model } = row;
  return {
    connectionId,
    model: model === '' ? null : model,
    fingerprint,
    healthState: healthStateOfHint(row),
  };
}

function healthStateOfHint({
  failures,
  reason,
  since,
  state,
  told: namedByUpstream,
  until,
}: Row): HealthState | null {
  const base = { failures, reason, since };
  switch (state) {
    case 'ready':
      return null;
    case 'cooling':
    case 'exhausted':
      return until === null ? null : { ...base, state, until, namedByUpstream: namedByUpstream === 1 };
    case 'probing':
    case 'needs-attention':
      return { ...base, state };
  }
}
