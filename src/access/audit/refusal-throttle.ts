import type { AuditEntry } from './schema.ts';

export interface RefusalThrottle {
  /** Whether to record the entry now. Others are counted; `onRest` gets their number at the end of the minute. */
  allows(entry: AuditEntry): boolean;
  /** Reports everything that was counted so far. */
  finish(): void;
}

interface RefusalCount {
  entry: AuditEntry;
  count: number;
  /** When its count ends, in milliseconds since the epoch. */
  until: number;
}

/** Refusals of one kind from one address that are recorded one by one in a minute. */
const SHOWN = 20;
const WINDOW_MS = 60_000;
/**
 * The number of kinds that are counted separately. Of the refusals beyond, those with one reason are counted together.
 */
const MAX_KINDS = 1000;

/**
 * Keeps refused requests from filling the disk: a client needs no credential to be refused. Only
 * entries without an actor are counted; what a user does is always recorded.
 * @param onRest gets the last of the entries that were only counted, with their number in `after.repeated`
 */
export function createRefusalThrottle(
  now: () => number,
  onRest: (entry: AuditEntry) => void,
): RefusalThrottle {
  const kinds = new Map<string, RefusalCount>();
  let timer: NodeJS.Timeout | null = null;

  const close = (name: string, { entry, count }: RefusalCount) => {
    kinds.delete(name);
    if (count > SHOWN) onRest({ ...entry, request_id: null, after: { repeated: count - SHOWN } });
  };
  const sweep = () => {
    for (const [name, counted] of kinds) if (counted.until <= now()) close(name, counted);
    if (kinds.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };
  return {
    allows(entry) {
      if (entry.outcome !== 'denied' || entry.actor.via !== 'none') return true;
      timer ??= setInterval(sweep, WINDOW_MS).unref();
      const full = kinds.size >= MAX_KINDS;
      const wide = `${entry.action} ${entry.reason}`;
      const narrow = `${wide} ${entry.address}`;
      const name = full && !kinds.has(narrow) ? wide : narrow;
      const kind = kinds.get(name);
      if (kind !== undefined && kind.until <= now()) close(name, kind);
      const counted = kinds.get(name) ?? { entry, count: 0, until: now() + WINDOW_MS };
      counted.count += 1;
      counted.entry = name === wide ? { ...entry, address: null } : entry;
      kinds.set(name, counted);
      return counted.count <= SHOWN;
    },
    finish() {
      for (const [name, counted] of kinds) close(name, counted);
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
