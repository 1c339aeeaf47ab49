import { recentRequests } from '../ledger/report.ts';
import { failedAttempts } from '../ledger/traces.ts';
import type { Store } from '../store/database.ts';
import type { PastRequest } from './past-request.ts';

/** A request of the ledger, and what it asked for. */
export interface LedgerRequest extends PastRequest {
  requestedModel: string | null;
}

/**
 * The newest requests of the ledger as a replay takes them, oldest first.
 * @param query `since` in milliseconds since the epoch, `limit` how many at most
 */
export async function pastRequests(
  store: Pick<Store, 'db' | 'kind'>,
  query: { since: number; limit: number },
): Promise<LedgerRequest[]> {
  if (query.limit === 0) return [];
  const entries = await recentRequests(store, query);
  const failed = await failedAttempts(store, entries[0]?.startedAt ?? query.since);
  return entries.map((entry) => ({ ...entry, failedAt: failed.get(entry.id) ?? null }));
}
