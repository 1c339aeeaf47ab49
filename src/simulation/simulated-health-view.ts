import type { HealthView } from '../health/health-view.ts';
import type { History } from './history.ts';

const MINUTE_MS = 60_000;

/** The accounts in a replay: always ready, and as busy as the replay has made them. */
export interface SimulatedHealthView {
  healthView: HealthView;
  /** Goes on to a later time, in milliseconds since the epoch. */
  moveTo(at: number): void;
  /** A request goes to a connection and keeps it busy for so many milliseconds. */
  begin(connectionId: string, at: number, durationMs: number): void;
}

interface Busy {
  startTimes: number[];
  ends: number[];
}

/** Latencies of `history` are known from the first request on; quotas are not known. */
export function simulatedHealthView(history: History): SimulatedHealthView {
  const busy = new Map<string, Busy>();
  let now = 0;
  return {
    moveTo(at) {
      now = at;
    },
    begin(connectionId, at, durationMs) {
      const work = busy.get(connectionId) ?? { startTimes: [], ends: [] };
      busy.set(connectionId, work);
      work.startTimes = [...work.startTimes.filter((begun) => begun > at - MINUTE_MS), at];
      work.ends = [...work.ends.filter((end) => end > at), at + durationMs];
    },
    healthView: {
      conditionOf: () => ({ state: 'ready' }),
      inFlight: (id) => busy.get(id)?.ends.filter((end) => end > now).length ?? 0,
      recentUse: (id) => busy.get(id)?.startTimes.filter((begun) => begun > now - MINUTE_MS).length ?? 0,
      latencyMs: (connectionId, model) => history.of({ connectionId, provider: '', model })?.ttftMs ?? null,
      // What the history says is true throughout, so that nothing needs to be measured again.
      latencyAgeMs: (connectionId, model) =>
        history.of({ connectionId, provider: '', model })?.ttftMs === undefined ? null : 0,
      headroom: () => null,
    },
  };
}
