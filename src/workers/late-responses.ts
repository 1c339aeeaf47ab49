import type { ResponsePlaces } from '../responses/places.ts';
import type { ResponseMemory } from '../responses/stored.ts';

/**
 * Stored responses of the owner: what is not found may have been answered by a worker a moment ago, and still be on its way
 * here. So a client that has an answer finds it, and nobody else waits.
 * @param flush resolves once everything that the workers have told has arrived
 */
export function lateResponses(memory: ResponseMemory, flush: () => Promise<void>): ResponseMemory {
  return {
    ...memory,
    async get(id, keyId) {
      const stored = await memory.get(id, keyId);
      if (stored !== null) return stored;
      await flush();
      return memory.get(id, keyId);
    },
  };
}

/** The same of where responses are that their providers keep. */
export function latePlaces(places: ResponsePlaces, flush: () => Promise<void>): ResponsePlaces {
  return {
    ...places,
    async find(id, keyId) {
      const place = await places.find(id, keyId);
      if (place !== null) return place;
      await flush();
      return places.find(id, keyId);
    },
  };
}
