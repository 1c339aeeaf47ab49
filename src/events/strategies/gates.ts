import type { EventConfig } from '../config/config.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import type { Clock } from './clock.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { createGate, type Gate, type OpenGate } from './gate.ts';
import type { GlobalLimits } from './global/global-limits.ts';
import type { BreakerState, Limit } from './limit.ts';
import { createRateLimit } from './rate-limit.ts';
import { limitsOn, type ResourceLimit } from './resources.ts';

export interface GatesInput {
  readonly clock: Clock;
  /** Holds limits of MODE_GLOBAL together with other gateways; null: there is no store for that, and each holds them by itself. */
  readonly global: GlobalLimits | null;
  /** Told of each change of a circuit breaker. */
  onBreaker(resource: string, state: BreakerState): void;
}

/** The gates of all resources. */
export interface Gates {
  /** Puts a configuration in force. Limits that are as before keep what they have counted. */
  apply(config: Pick<EventConfig, 'sources' | 'triggers'>): void;
  /**
   * The gate of a resource, the same one for as long as this lives: `source:ID`, `trigger:ID`, `channel:ID` or `ingestResource`.
   * @param part of the resource, which is counted by itself: one of the channels of a source
   */
  of(resource: string, part?: string): Gate;
}

interface Entry {
  readonly resource: string;
  /** The resource, and the part of it. */
  readonly name: string;
  readonly gate: OpenGate;
  /** By what the configuration says. */
  limits: ReadonlyMap<string, Limit>;
}

export function createGates({ clock, global, onBreaker }: GatesInput): Gates {
  const entries = new Map<string, Entry>();
  let config: Pick<EventConfig, 'sources' | 'triggers'> = { sources: new Map(), triggers: new Map() };

  const limitFor = ({ gate, name }: Entry, { kind, limit, owner }: ResourceLimit): Limit => {
    const onRoom = gate.roomMade;
    switch (kind) {
      case 'rate-limit':
        return limit.scope === 'global' && global !== null
          ? global.rateLimit(limit, sharedName(limit.name, owner, name))
          : createRateLimit(limit, clock.now);
      case 'concurrency-limit':
        return limit.scope === 'global' && global !== null
          ? global.concurrencyLimit(limit, sharedName(limit.name, owner, name), onRoom)
          : createConcurrencyLimit(limit, onRoom);
      case 'circuit-breaker':
        return createCircuitBreaker({
          breaker: limit,
          now: clock.now,
          onRoom,
          onChange: (state) => onBreaker(name, state),
        });
    }
  };
  const configure = (entry: Entry) => {
    const limits = new Map<string, Limit>();
    const fallbacks = new Map<Limit, string>();
    for (const wanted of limitsOn(entry.resource, config)) {
      const { fallback, ...counted } = wanted;
      const key = JSON.stringify(counted);
      const limit = entry.limits.get(key) ?? limitFor(entry, wanted);
      limits.set(key, limit);
      if (fallback !== null) fallbacks.set(limit, fallback);
    }
    entry.limits = limits;
    entry.gate.use([...limits.values()], fallbacks);
  };
  return {
    apply(next) {
      config = next;
      for (const entry of entries.values()) configure(entry);
    },
    of(resource, part) {
      const name = part === undefined ? resource : `${resource} to channel ${part}`;
      const existing = entries.get(name);
      if (existing !== undefined) return existing.gate;
      const entry: Entry = { resource, name, gate: createGate(clock), limits: new Map() };
      entries.set(name, entry);
      configure(entry);
      return entry.gate;
    },
  };
}

/** What several gateways know a limit by: its name, or that of its owner; each resource is counted by itself. */
const sharedName = (name: string, owner: string, resource: string): string =>
  JSON.stringify([name === '' ? owner : name, resource]);
