import type { ConcurrencyLimit } from '../config/config.ts';
import type { Limit } from './limit.ts';

/** Who is refused hears of room by `onRoom`; this is for those who do not listen. */
const ASK_AGAIN_MS = 1_000;

/** At most so many calls of this process at a time. A maximum of 0 lets nothing pass. */
export function createConcurrencyLimit({ max, name }: ConcurrencyLimit, onRoom: () => void): Limit {
  let inFlight = 0;
  let refused = 0;
  const release = () => {
    inFlight -= 1;
  };
  const done = () => {
    release();
    onRoom();
  };
  return {
    kind: 'concurrency-limit',
    ask() {
      if (inFlight < max) {
        inFlight += 1;
        return { kind: 'permit', permit: { done, cancel: release } };
      }
      refused += 1;
      return { kind: 'refused', retryAfterMs: ASK_AGAIN_MS };
    },
    status: () => ({ kind: 'concurrency-limit', name, max, inFlight, refused, scope: 'local' }),
  };
}
