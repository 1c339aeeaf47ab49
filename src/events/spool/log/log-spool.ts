import { describe, type Log } from '../../../lib/log.ts';
import type { CloudEvent } from '../../cloudevents/event.ts';
import type { Storage } from '../../config/config.ts';
import { createRoom } from '../room.ts';
import type { Spool, SpooledEvent, SpoolResult } from '../spool.ts';
import { encodeRecord } from './record.ts';
import { createSegmentIndex } from './segment-index.ts';
import { NoSpace, type Segments } from './segments.ts';

/** What goes into one write: so much, or what came while the one before it was under way. */
const MOST_WRITTEN_BYTES = 1_048_576;
/** How soon a full disk is tried again. */
const NO_SPACE_MS = 1_000;

export interface LogSpoolInput {
  storage: Storage;
  segments: Segments;
  /** For the log: the source. */
  sourceId: string;
  log: Log;
}

interface Pending {
  readonly bytes: Buffer;
  readonly event: CloudEvent;
  readonly channels: readonly string[];
  /** When it waits no longer, by `performance.now`. */
  readonly until: number;
  settle(kept: SpoolResult): void;
}

/**
 * A storage that lasts: a log in segments. What was accepted is in it until every channel has it. What is done is noted from time to
 * time, so that after a crash some events go out again.
 * @throws when the segments cannot be opened
 */
export async function openLogSpool({ log, segments, sourceId, storage }: LogSpoolInput): Promise<Spool> {
  let { whenFull } = storage;
  const problemOf = (what: string) => (error: unknown) => {
    log.error({ source: sourceId, error: describe(error) }, what);
  };
  const index = await createSegmentIndex({ segments, log, sourceId });
  const room = createRoom(storage, index.bytes());
  const listeners = new Set<() => void>();
  let pending: Pending[] = [];
  let writing: Promise<void> | null = null;
  let wakeWriter = () => {};
  let waitingForSpace = false;
  /** By `performance.now`. */
  let fullUntil = 0;
  let closed = false;
  let problem: string | null = null;
  let noted = index.progress();
  const noteProgress = async () => {
    const progress = index.progress();
    if (progress === noted) return;
    noted = progress;
    await segments.writeProgress(progress).catch(problemOf('the progress of a storage was not noted'));
  };
  const progressTimer = setInterval(() => void noteProgress(), segments.progressEveryMs);
  progressTimer.unref();

  const removeDrained = () => {
    const drained = index.takeDrained();
    for (const { bytes, number } of drained) {
      segments.remove(number).catch(problemOf('a segment of a storage was not removed'));
      room.giveBack(bytes);
    }
    if (drained.length === 0) return;
    fullUntil = 0;
    wakeWriter();
  };
  const writeBatch = async (batch: readonly Pending[]): Promise<void> => {
    try {
      const segment = await segments.write(Buffer.concat(batch.map(({ bytes }) => bytes)));
      problem = null;
      index.added(segment, batch);
      for (const one of batch) one.settle('kept');
      for (const listener of listeners) listener();
    } catch (error) {
      const before = problem;
      problem = error instanceof NoSpace ? 'there is no space left' : String(error);
      if (error instanceof NoSpace) fullUntil = performance.now() + NO_SPACE_MS;
      if (problem !== before)
        log.error({ source: sourceId, error: describe(error) }, 'a storage of events cannot be written');
      const stay = error instanceof NoSpace && whenFull === 'block' && !closed ? batch.filter(hasTime) : [];
      for (const one of batch) {
        if (stay.includes(one)) continue;
        room.giveBack(one.bytes.length);
        one.settle(error instanceof NoSpace ? (whenFull === 'drop' ? 'dropped' : 'full') : 'unavailable');
      }
      pending = [...stay, ...pending];
      if (stay.length > 0) await spaceOrTime();
    }
  };
  /** Until a segment was removed, or it is worth trying again. */
  const spaceOrTime = async () => {
    waitingForSpace = true;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, NO_SPACE_MS);
      wakeWriter = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    waitingForSpace = false;
  };
  const write = async () => {
    while (pending.length > 0) {
      await writeBatch(pending.splice(0, countUpTo(pending, MOST_WRITTEN_BYTES)));
      removeDrained();
    }
    writing = null;
  };

  return {
    durable: true,
    async add(event, channels, waitMs) {
      if (closed) return 'unavailable';
      // A full disk is not asked for every event.
      if (whenFull === 'drop' && performance.now() < fullUntil) return 'dropped';
      const until = performance.now() + waitMs;
      const bytes = encodeRecord(event, channels);
      const outcome = await room.take(bytes.length, waitMs);
      if (outcome !== 'kept') return outcome;
      return new Promise<SpoolResult>((settle) => {
        pending.push({ bytes, event, channels, until, settle });
        writing ??= write();
      });
    },
    next: (channel, limit): Promise<readonly SpooledEvent[]> => index.next(channel, limit),
    done(channel, sequences) {
      index.done(channel, sequences);
      // A segment that is being written to must not go.
      if (writing === null || waitingForSpace) removeDrained();
    },
    waiting: index.waiting,
    resize(next) {
      whenFull = next.whenFull;
      room.resize(next);
    },
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    status: () => ({
      events: index.events(),
      bytes: room.used(),
      maxBytes: room.size(),
      damaged: index.damaged(),
      problem,
    }),
    async close() {
      if (closed) return;
      closed = true;
      clearInterval(progressTimer);
      room.close();
      wakeWriter();
      await writing;
      await noteProgress();
      await segments.close();
    },
  };
}

const hasTime = ({ until }: Pending): boolean => performance.now() < until;

/** How many of the first ones have at most so many bytes together; at least one. */
function countUpTo(pending: readonly Pending[], mostBytes: number): number {
  let bytes = 0;
  let count = 0;
  for (const one of pending) {
    bytes += one.bytes.length;
    if (count > 0 && bytes > mostBytes) break;
    count += 1;
  }
  return count;
}
