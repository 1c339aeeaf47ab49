import type { Channel } from '../channels/channel.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { DeadLetters as Strategy } from '../config/config.ts';
import { withReason } from './dead-letter.ts';
import type { LetterFacts } from './letter-calls.ts';
import type { DeadLetters, LetterPlace } from './store.ts';

/** What the copies take that are kept of letters whose store is a channel. */
const COPIES_BYTES = 67_108_864;

/** `full`: not kept, and it has to be; `dropped`: not kept, as the strategy wants it. */
export type LetterOutcome = 'kept' | 'dropped' | 'full';

/** The dead letters of one trigger, by its strategy. */
export interface TriggerLetters {
  /** @throws Error when the storage or the channel does not work */
  keep(event: CloudEvent, facts: LetterFacts, delivery: string): Promise<LetterOutcome>;
  /** Whether the event of a message is a dead letter already. */
  has(channel: string, delivery: string): Promise<boolean>;
  /** What the replayed letters come from. */
  replays: Channel;
  onRoom(listener: () => void): () => void;
}

export interface TriggerLettersInput {
  readonly trigger: string;
  readonly strategy: Strategy;
  readonly store: DeadLetters;
  /** The channel that the strategy names; null when it names a storage. */
  readonly channel: Channel | null;
}

export function createTriggerLetters(input: TriggerLettersInput): TriggerLetters {
  const { channel, store, strategy, trigger } = input;
  const place = placeOf(strategy);
  const { storage } = 'storage' in strategy.store ? strategy.store : { storage: null };
  return {
    async keep(event, facts, delivery) {
      const maxBytes = storage?.bytes ?? COPIES_BYTES;
      const letter = { ...facts, event, delivery, place, maxBytes, makeRoom: storage === null };
      const added = await store.add(letter);
      if (channel === null) {
        if (added.kind === 'added') return 'kept';
        return storage?.whenFull === 'drop' ? 'dropped' : 'full';
      }
      if (added.kind === 'added' && added.copied) return 'kept';
      await channel.publish(withReason(event, facts));
      if (added.kind === 'added') await store.markCopied(letter);
      return 'kept';
    },
    has: (channelId, delivery) => store.has(place, trigger, channelId, delivery),
    replays: store.replays(place, trigger),
    onRoom: store.onRoom,
  };
}

function placeOf({ store }: Strategy): LetterPlace {
  if (store.kind === 'channel') return store.channel.scheme === 'memory' ? 'memory' : 'local';
  return store.storage.type;
}
