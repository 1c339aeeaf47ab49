import { GatewayError } from '../lib/error.ts';
import type { Store } from './database.ts';

/** A gateway that said so lately is running. */
const SEEN_MS = 60_000;

/**
 * Refuses while gateways run on a database that they share.
 * @param db the database, or a transaction on it
 * @param place where it is, for the message
 * @param now milliseconds since the epoch
 * @throws GatewayError `conflict` that names them
 */
export async function refuseRunningNodes(db: Store['db'], place: string, now: number): Promise<void> {
  const running = await db
    .selectFrom('nodes')
    .select(['host', 'url'])
    .where('seen_at', '>', now - SEEN_MS)
    .execute();
  if (running.length === 0) return;
  const names = running.map(({ host, url }) => `${host} (${url})`).join(', ');
  throw new GatewayError(
    'conflict',
    `Gateways run on the database ${place}: ${names}. Stop them first; a gateway that crashed disappears from this list after a minute`,
  );
}
