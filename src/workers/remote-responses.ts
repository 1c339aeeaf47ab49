import type { ResponsePlaces } from '../responses/places.ts';
import type { ResponseMemory, SizedResponse } from '../responses/stored.ts';
import type { Channel } from './channel.ts';
import type { OwnerQuestions, WorkerEvent } from './message.ts';
import { responseOf, responseText } from './response-text.ts';

interface Owner extends Pick<Channel<WorkerEvent, OwnerQuestions>, 'ask'> {
  tell(event: WorkerEvent): unknown;
}

/** Stored responses of a worker: the owner keeps them all, so that each worker finds what another one has answered. */
export function remoteResponses(owner: Owner): Pick<ResponseMemory, 'get' | 'put'> {
  return {
    put: (stored) => void owner.tell({ kind: 'response', text: responseText(stored) }),
    async get(id, keyId) {
      const found = await owner.ask('response', { id, keyId });
      return found === null || found === 'unreadable' ? found : responseOf<SizedResponse>(found.text);
    },
  };
}

/** The same of where responses are that their providers keep. */
export function remotePlaces(owner: Owner): Pick<ResponsePlaces, 'find' | 'note'> {
  return {
    note: (place) => void owner.tell({ kind: 'place', place }),
    find: (id, keyId) => owner.ask('place', { id, keyId }),
  };
}
