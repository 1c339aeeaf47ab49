import { iso, type Part, type PartStatus } from './part.ts';
import type { Check } from './schema.ts';

export interface Health {
  status: Check['status'];
  checked_at: string;
  checks: Check[];
}

/** Looks at parts, and remembers for a moment what was seen, so that asking often costs nothing. */
export interface HealthBoard {
  /** @param fresh looks now in any case */
  of(part: Part, fresh?: boolean): Health;
}

const KEPT_MS = 1000;

interface CachedHealth {
  at: number;
  /** What was seen says nothing of another state than this. */
  state: PartStatus['state'];
  health: Health;
}

/** From good to bad: a part is as well as the worst of its checks. */
const ranks: readonly Check['status'][] = ['pass', 'unknown', 'warn', 'fail'];

export function createHealthBoard(now: () => number): HealthBoard {
  const seen = new Map<string, CachedHealth>();
  return {
    of(part, fresh = false) {
      // What a connection says of itself comes from its record, which is read anew each time.
      if (part.domain !== undefined) return look(part, now());
      const last = seen.get(part.key);
      const { state } = part.status();
      const age = now() - (last?.at ?? 0);
      if (last?.state === state && !fresh && age >= 0 && age < KEPT_MS) return last.health;
      const health = look(part, now());
      seen.set(part.key, { at: now(), state, health });
      return health;
    },
  };
}

function look(part: Part, now: number): Health {
  const checks = part.checks();
  const worst = Math.max(-1, ...checks.map(({ status }) => ranks.indexOf(status)));
  return { status: ranks[worst] ?? 'unknown', checked_at: iso(now), checks };
}
