import type { StoredHealthState } from '../../health/account.ts';
import type { HealthState } from '../../health/health-state.ts';
import type { Emitter } from '../types/emitter.ts';

/** A connection as events name it; null when it is gone. */
export type NamedConnection = (id: string) => { name: string; provider: string } | null;

type Trouble = 'down' | 'ratelimited' | 'circuit';

/** Reasons of `health/faults.ts` that say: come back later. */
const limits: ReadonlySet<string> = new Set(['rate limit', 'quota used up', 'no credit left']);

export interface HealthEvents {
  changed(one: StoredHealthState): void;
  /** Takes note of what was in trouble when the gateway last ran, and was told of then. */
  remember(kept: readonly StoredHealthState[]): void;
}

/**
 * Tells of changes of the health of connections and their models: one event for each change, however many requests fail
 * meanwhile. A pause that is over is no change; the first answer after it is.
 */
export function createHealthEvents(emitter: Emitter, connectionOf: NamedConnection): HealthEvents {
  const troubles = new Map<string, Trouble>();

  const tell = (trouble: Trouble, begins: boolean, one: StoredHealthState) => {
    const name = nameOf(trouble, begins);
    if (!emitter.wants(name)) return;
    const { connectionId, model, healthState } = one;
    const connection = connectionOf(connectionId);
    const reason = healthState?.reason ?? null;
    const until =
      healthState !== null && 'until' in healthState ? new Date(healthState.until).toISOString() : null;
    if (name === 'circuit.opened' || name === 'circuit.closed') {
      const circuit = `${connection?.name ?? connectionId}/${model ?? ''}`;
      emitter.emit(name, { subject: circuit, data: { kind: 'model', name: circuit, reason, until } });
      return;
    }
    emitter.emit(name, {
      subject: connectionId,
      data: {
        connection_id: connectionId,
        connection: connection?.name ?? null,
        provider: connection?.provider ?? null,
        model,
        reason,
        until,
      },
    });
  };

  const changed = (one: StoredHealthState) => {
    const key = keyOf(one);
    const before = troubles.get(key) ?? null;
    // A request finds out whether it is over.
    if (one.healthState?.state === 'probing') return;
    const after = one.healthState === null ? null : troubleOf(one, one.healthState);
    if (before === after) return;
    if (after === null) troubles.delete(key);
    else troubles.set(key, after);
    // From one trouble of a connection to another nothing recovers.
    if (before !== null && (after === null || before === 'circuit'))
      tell(before, false, { ...one, healthState: null });
    if (after !== null) tell(after, true, one);
  };
  return {
    changed,
    remember(kept) {
      for (const one of kept)
        if (one.healthState !== null) troubles.set(keyOf(one), troubleOf(one, one.healthState));
    },
  };
}

function nameOf(trouble: Trouble, begins: boolean) {
  switch (trouble) {
    case 'circuit':
      return begins ? 'circuit.opened' : 'circuit.closed';
    case 'down':
      return begins ? 'provider.down' : 'provider.recovered';
    case 'ratelimited':
      return begins ? 'provider.ratelimited' : 'provider.recovered';
  }
}

function keyOf({ connectionId, model }: StoredHealthState): string {
  return JSON.stringify([connectionId, model]);
}

function troubleOf({ model }: StoredHealthState, { reason, state }: HealthState): Trouble {
  if (state === 'exhausted' || limits.has(reason)) return 'ratelimited';
  return model === null ? 'down' : 'circuit';
}
