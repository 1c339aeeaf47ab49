import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { journalFolder } from '../../ledger/journal.ts';
import { GatewayError } from '../../lib/error.ts';
import { openOutbox, outboxPath } from '../../store/postgres/outbox.ts';

/**
 * Refuses while records wait on the disk that a gateway has left, because it was killed or its server was away: they belong to
 * the database as it is now.
 * @param then what the records are written for, as the end of the message: `so that they are moved too`
 * @throws GatewayError `conflict` that names the files
 */
export function refuseWaitingRecords(dataDir: string, then: string): void {
  const folder = journalFolder(dataDir);
  const places = hasRecords(folder) ? [folder] : [];
  const outbox = outboxPath(dataDir);
  if (existsSync(outbox) && rowsWaiting(dataDir) > 0) places.push(outbox);
  if (places.length === 0) return;
  throw new GatewayError(
    'conflict',
    `Records of requests wait in ${places.join(' and ')}. Start the gateway once with the database that it had and stop it, ${then}`,
  );
}

function hasRecords(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).some((file) => statSync(join(folder, file)).size > 0);
}

function rowsWaiting(dataDir: string): number {
  const outbox = openOutbox(dataDir);
  try {
    return outbox.waiting();
  } finally {
    outbox.close();
  }
}
