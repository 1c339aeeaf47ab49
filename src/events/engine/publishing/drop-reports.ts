import type { Log } from '../../../lib/log.ts';
import type { Clock } from '../../strategies/clock.ts';
import type { Emitter } from '../../types/emitter.ts';

/** How often drops at one place are told of. */
const TOLD_MS = 60_000;

/** Tells of events that are dropped: of the first at once, and of all that follow in the next minute together. */
export interface DropReports {
  /** @param where the id of the source or trigger that dropped an event */
  add(where: string, reason: string): void;
  /** Tells what is not told yet. */
  close(): void;
}

export interface DropReportsInput {
  clock: Clock;
  emitter: Pick<Emitter, 'emit'>;
  log: Pick<Log, 'error'>;
}

interface Place {
  /** Drops that nobody was told of. */
  untold: number;
  /** Of the last of them. */
  reason: string;
  stop(): void;
}

export function createDropReports({ clock, emitter, log }: DropReportsInput): DropReports {
  const places = new Map<string, Place>();
  const tell = (where: string, count: number, reason: string) => {
    log.error({ where, dropped: count, reason }, 'events are dropped');
    emitter.emit('event.dropped', { subject: where, data: { where, count, reason } });
  };
  const later = (where: string) =>
    clock.after(TOLD_MS, () => {
      const place = places.get(where);
      if (place === undefined) return;
      if (place.untold === 0) {
        places.delete(where);
        return;
      }
      tell(where, place.untold, place.reason);
      place.untold = 0;
      place.stop = later(where);
    });
  return {
    add(where, reason) {
      const place = places.get(where);
      if (place !== undefined) {
        place.untold += 1;
        place.reason = reason;
        return;
      }
      places.set(where, { untold: 0, reason, stop: later(where) });
      tell(where, 1, reason);
    },
    close() {
      for (const [where, { reason, stop, untold }] of places) {
        stop();
        if (untold > 0) tell(where, untold, reason);
      }
      places.clear();
    },
  };
}
