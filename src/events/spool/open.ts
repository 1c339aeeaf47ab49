import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Source, Storage } from '../config/config.ts';
import { createMemorySpool } from './memory.ts';
import type { ObjectsInput } from './objects/open-objects.ts';
import type { Spool } from './spool.ts';
import { storageOf } from './storage.ts';

export interface SpoolPlaces extends ObjectsInput {
  /** Where storages of the type LFS have their folders. */
  localFolder: string;
  /** Where those of the type DFS are, `s3://…`, `postgres://…` or `file:///…`; null: nowhere. */
  distributedUrl: string | null;
}

const MOST_SEGMENT_BYTES = 1_048_576;
/** More than `events.db` wants to have free when it takes an event. */
const MIN_FREE_BYTES = 50_331_648;

/** Room comes back by whole segments, so that a small storage has small ones. */
export const segmentBytesOf = (storageBytes: number): number =>
  Math.min(MOST_SEGMENT_BYTES, Math.ceil(storageBytes / 16));

/** Null for a synchronous source without a storage. @throws Error when it cannot be opened */
export async function openSpool(source: Source, places: SpoolPlaces): Promise<Spool | null> {
  const storage = storageOf(source);
  if (storage === null) return null;
  switch (storage.type) {
    case 'memory':
      return createMemorySpool(storage);
    case 'local':
      return openLocal(source.id, storage, places);
    case 'distributed':
      return openDistributed(source.id, storage, places);
  }
}

async function openLocal(
  sourceId: string,
  storage: Storage,
  { localFolder, log }: SpoolPlaces,
): Promise<Spool> {
  const { openLogSpool } = await import('./log/log-spool.ts');
  const { localSegments } = await import('./log/local-segments.ts');
  const folder = join(localFolder, folderName(sourceId));
  const segments = localSegments({
    folder,
    segmentBytes: segmentBytesOf(storage.bytes),
    minFreeBytes: MIN_FREE_BYTES,
  });
  return openLogSpool({ storage, segments, sourceId, log });
}

async function openDistributed(sourceId: string, wanted: Storage, places: SpoolPlaces): Promise<Spool> {
  const { distributedUrl, log, now } = places;
  if (distributedUrl === null) throw new Error('Storage of the type DFS needs EVENTS_DFS_URL');
  const { openLogSpool } = await import('./log/log-spool.ts');
  const { objectSegments } = await import('./objects/object-segments.ts');
  const { openObjects } = await import('./objects/open-objects.ts');
  const { createLateSpool } = await import('./late-spool.ts');
  const store = await openObjects(distributedUrl, places);
  const segments = () => objectSegments({ store, prefix: folderName(sourceId), owner: randomUUID(), now });
  return createLateSpool(
    wanted,
    (storage) => openLogSpool({ storage, segments: segments(), sourceId, log }),
    log,
  );
}

/** What people recognize of the id, and a part of its hash, for not every character may stand in a name. */
function folderName(sourceId: string): string {
  const readable = sourceId.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 40);
  const hash = createHash('sha256').update(sourceId).digest('hex').slice(0, 12);
  return `${readable}-${hash}`;
}
