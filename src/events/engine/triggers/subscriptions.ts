import type { ChannelPool } from '../channel-pool.ts';

/** For how long a channel collects events for a trigger that was removed, so that none is missing when it comes back. */
export const REMOVED_TRIGGER_MS = 600_000;

/** Channels by key, with the ids of the triggers that receive from each. */
export type Subscribers = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Ends subscriptions that nobody uses any more, and closes channels that no configuration names: not at once, but when a trigger
 * or a channel has been away for as long as `removedMs`. What a gateway finds at its start counts from the start.
 */
export interface Subscriptions {
  update(used: Subscribers): void;
  close(): void;
}

export interface SubscriptionsInput {
  channels: ChannelPool;
  removedMs: number;
  /** Called when triggers or channels are away for good, with what is still used or may come back, `[channel key, trigger]`. */
  onExpired(kept: readonly (readonly [key: string, trigger: string])[]): Promise<void>;
  /** Runs work while no configuration is being applied. */
  inTurn(work: () => Promise<void>): void;
}

export function createSubscriptions({
  channels,
  inTurn,
  onExpired,
  removedMs,
}: SubscriptionsInput): Subscriptions {
  let used: Subscribers = new Map();
  let generation = 0;
  /** Channel and trigger, or a channel alone → the generation in which it was removed. */
  const removed = new Map<string, number>();
  const timers = new Set<NodeJS.Timeout>();

  const expire = async (expired: number) => {
    for (const [key, since] of removed) if (since === expired) removed.delete(key);
    const pairs = [...pairsOf(used), ...removed.keys()].map(pairOf);
    await onExpired(pairs.flatMap(([key, trigger]) => (trigger === null ? [] : [[key, trigger] as const])));
    // A message queue that is gone for good keeps no other channel open.
    const failures: unknown[] = [];
    for (const [key, channel] of channels.opened()) {
      const away = [...removed.keys()].map(pairOf).filter(([other]) => other === key);
      const triggers = away.flatMap(([, trigger]) => (trigger === null ? [] : [trigger]));
      await channel
        .endOtherSubscriptions(new Set([...(used.get(key) ?? []), ...triggers]))
        .catch((error: unknown) => failures.push(error));
    }
    const kept = [...removed.keys()].map((text) => pairOf(text)[0]);
    await channels.closeOthers(new Set([...used.keys(), ...kept]));
    if (failures.length > 0) throw failures[0];
  };
  const expireLater = () => {
    generation += 1;
    const own = generation;
    const timer = setTimeout(() => {
      timers.delete(timer);
      inTurn(() => expire(own));
    }, removedMs);
    timer.unref();
    timers.add(timer);
    return own;
  };
  return {
    update(next) {
      const before = pairsOf(used);
      const now = pairsOf(next);
      const removedPairs = [...before].filter((pair) => !now.has(pair));
      const added = [...next.keys()].some((key) => !used.has(key));
      used = next;
      for (const pair of now) removed.delete(pair);
      if (removedPairs.length === 0 && !added) return;
      const since = expireLater();
      for (const pair of removedPairs) removed.set(pair, since);
    },
    close() {
      for (const timer of timers) clearTimeout(timer);
    },
  };
}

function pairsOf(subscribers: Subscribers): Set<string> {
  const pairs = new Set<string>();
  for (const [key, triggers] of subscribers) {
    pairs.add(JSON.stringify([key, null]));
    for (const trigger of triggers) pairs.add(JSON.stringify([key, trigger]));
  }
  return pairs;
}

function pairOf(text: string): [key: string, trigger: string | null] {
  return JSON.parse(text);
}
