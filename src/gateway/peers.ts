import { labelledKey, type StorageKey } from '../connections/credentials/seal.ts';
import type { Accounts } from '../health/accounts.ts';
import { createSteadyClock } from '../lib/time/clock.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { Live } from '../management/live/live.ts';
import { openPeerGateways, type PeerGateways } from '../services/peer-gateways.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Store } from '../store/database.ts';
import type { OpenInput } from './open-input.ts';
import { connectionIn } from './snapshot-lookups.ts';
import type { WorkerPool } from './worker-pool.ts';

export interface PeersInput extends Pick<OpenInput, 'config' | 'onClose'> {
  store: Store;
  sealing: StorageKey;
  schedule: Schedule;
  live: Live;
  accounts: Pick<Accounts, 'applyHint'>;
  snapshot(): Snapshot;
  pool: WorkerPool;
}

/** The other gateways of the same database, as far as Redis reaches them; null where there can be none. */
export async function openPeers(input: PeersInput): Promise<PeerGateways | null> {
  const { accounts, config, live, onClose, pool, schedule, sealing, snapshot, store } = input;
  if (store.kind !== 'postgres' || config.redis === null) return null;
  const refresh = () => void store.latestRevision().catch(() => {});
  const peers = await openPeerGateways({
    url: config.redis.url,
    node: store.node,
    // All gateways of a database have this key, and no other has.
    group: labelledKey(sealing, 'modelgate/neighbours/v1').toString('base64url').slice(0, 22),
    schedule,
    steady: createSteadyClock(),
    watching: () => live.watching() > 0,
    onSettings: (revision) => (revision === null || revision > store.revision()) && refresh(),
    onRequest: (row) => live.publish('requests', () => row),
    onAccount(hint) {
      if (connectionIn(snapshot(), hint.connectionId) === null) return;
      accounts.applyHint(hint);
      pool.workers?.tell({ kind: 'hint', hint });
    },
  });
  onClose('messages between gateways', peers.close);
  return peers;
}
