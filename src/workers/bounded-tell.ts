import type { WorkerEvent } from './message.ts';
import type { OwnerChannel } from './owner-channel.ts';

/** What may wait in a worker for an owner that does not read, in bytes, about. */
const MAX_BYTES = 32 * 1024 * 1024;
/** For what is nowhere else. */
const FULL = 4;

export interface BoundedTell {
  /** Tells the owner something, unless too much waits and it may be left out. @returns whether it is on its way */
  tell(event: WorkerEvent): boolean;
  /** The same for what is nowhere else: it is left out only where several times as much waits. */
  tellUnlessFull(event: WorkerEvent): boolean;
  /** Whether too much waits, so that more would be left out. */
  isFull(): boolean;
  /** How much was left out since the start. */
  untold(): number;
}

/** Bounds the memory of a worker whose owner stands still, be it stopped or busy. What budgets and accounts need is always told. */
export function boundedTell(
  owner: Pick<OwnerChannel, 'tell' | 'waiting'>,
  maxBytes: number = MAX_BYTES,
): BoundedTell {
  let untold = 0;
  const tellBelow = (bytes: number, event: WorkerEvent): boolean => {
    if (owner.waiting() >= bytes && mayBeLeftOut(event)) {
      untold += countOf(event);
      return false;
    }
    owner.tell(event);
    return true;
  };
  return {
    tell: (event) => tellBelow(maxBytes, event),
    tellUnlessFull: (event) => tellBelow(maxBytes * FULL, event),
    isFull: () => owner.waiting() >= maxBytes,
    untold: () => untold,
  };
}

/** How many records an event has. */
function countOf(event: WorkerEvent): number {
  switch (event.kind) {
    case 'finished':
      return event.finished.count;
    case 'access-logged':
      return event.count;
    default:
      return 1;
  }
}

function mayBeLeftOut({ kind }: WorkerEvent): boolean {
  switch (kind) {
    // Its row is in the journal, but for some seconds after a fault of the disk.
    case 'finished':
    case 'access-logged':
    case 'logged':
    case 'response':
    case 'place':
    case 'session':
      return true;
    case 'health-state':
    case 'limits':
    case 'settled':
    // It is small, and is not told while too much waits.
    case 'counted':
      return false;
    // It is told anew four times a second.
    case 'load':
      return true;
  }
}
