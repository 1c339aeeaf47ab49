import { crc32 } from 'node:zlib';
import type { Segments } from '../log/segments.ts';
import type { ObjectStore } from './object-store.ts';

const PROGRESS_MS = 5_000;
/** Longer than any gateway goes on that was replaced. */
const CLAIM_KEPT_MS = 7 * 86_400_000;

export interface ObjectSegmentsInput {
  store: ObjectStore;
  /** What the keys of this log begin with. */
  prefix: string;
  /** Tells this process from every other. */
  owner: string;
  now: () => number;
}

/** Another gateway has the log now. */
export class TakenOverError extends Error {}

/**
 * Segments as objects, one for each write. Whoever opens the log claims the next number, and
 * whoever had it finds that number taken at its next write, and stops. So no two write at the same time, however slow one of them is.
 */
export function objectSegments({ now, owner, prefix, store }: ObjectSegmentsInput): Segments {
  const keyOf = (segment: number) => `${prefix}/segments/${String(segment).padStart(12, '0')}`;
  /** Claims of others, which may go only when those surely write no more, by their numbers. */
  const claims = new Map<number, number>();
  /** What was written at the next number, and may or may not be there. */
  let uncertain: Buffer[] = [];
  let last = 0;
  let takenOver: TakenOverError | null = null;

  const numbers = async (): Promise<number[]> => {
    const keys = await store.list(`${prefix}/segments/`);
    return keys.flatMap((key) => {
      const [, digits] = /\/(\d{12})$/.exec(key) ?? [];
      return digits === undefined ? [] : [Number.parseInt(digits, 10)];
    });
  };
  return {
    progressEveryMs: PROGRESS_MS,
    async open(after) {
      const claim = Buffer.from(JSON.stringify({ owner, claimed_at: now() }));
      last = Math.max(after, ...(await numbers()));
      do last += 1;
      while ((await store.create(keyOf(last), claim)) === 'exists');
      // Others may have written up to the claim.
      return (await numbers()).filter((number) => number < last);
    },
    async read(segment) {
      const bytes = await store.get(keyOf(segment));
      // Whoever had the log before may still send what is in it, and remove it.
      if (bytes === null) return Buffer.alloc(0);
      const claimedAt = claimIn(bytes);
      if (claimedAt === null) return bytes;
      claims.set(segment, claimedAt);
      return Buffer.alloc(0);
    },
    async write(bytes) {
      if (takenOver !== null) throw takenOver;
      for (;;) {
        const key = keyOf(last + 1);
        uncertain.push(bytes);
        const outcome = await store.create(key, bytes);
        const present = outcome === 'created' ? bytes : await store.get(key);
        const ours = present !== null && uncertain.some((one) => one.equals(present));
        if (!ours) {
          takenOver = new TakenOverError(
            'Another gateway has taken over this storage: give each gateway a prefix of its own',
          );
          throw takenOver;
        }
        uncertain = [];
        last += 1;
        if (present.equals(bytes)) return last;
      }
    },
    async remove(segment) {
      const claimedAt = claims.get(segment);
      if (claimedAt === undefined || now() - claimedAt > CLAIM_KEPT_MS) await store.remove(keyOf(segment));
    },
    setAside: (segment, bytes) =>
      store.put(`${prefix}/damaged/${segment}-${crc32(bytes).toString(16)}`, bytes),
    readProgress: async () => (await store.get(`${prefix}/progress.json`))?.toString() ?? null,
    async writeProgress(text) {
      if (takenOver === null) await store.put(`${prefix}/progress.json`, Buffer.from(text));
    },
    close: store.close,
  };
}

/** When a claim was made; null for what is none. */
function claimIn(bytes: Buffer): number | null {
  if (!bytes.subarray(0, 1).equals(Buffer.from('{'))) return null;
  try {
    const claim: unknown = JSON.parse(bytes.toString());
    const at = typeof claim === 'object' && claim !== null && 'claimed_at' in claim ? claim.claimed_at : null;
    return typeof at === 'number' ? at : null;
  } catch {
    return null;
  }
}
