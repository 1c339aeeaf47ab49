import { createIndexedSet, type IndexedMember } from '../../lib/indexed-set.ts';

/** Beat of all deadlines, in milliseconds; every timeout is exact to about this much. */
const BEAT_MS = 100;

export interface WatchedMember extends IndexedMember {
  tick(elapsedMs: number): void;
}

export interface Watch<Member extends WatchedMember> {
  add(member: Member): void;
  remove(member: Member): void;
  members(): Member[];
}

/**
 * One timer for every open request. A timer each would have to be pushed back with every chunk; here a chunk
 * only resets a number.
 */
export function createWatch<Member extends WatchedMember>(
  now: () => number = performance.now.bind(performance),
): Watch<Member> {
  const watched = createIndexedSet<Member>();
  let timer: NodeJS.Timeout | null = null;
  let last = 0;
  const beat = () => {
    // A stopped process or a blocked loop must not look like a silent upstream: one beat counts as two at most.
    const elapsed = Math.min(now() - last, 2 * BEAT_MS);
    last = now();
    for (const member of watched.members()) member.tick(elapsed);
  };
  return {
    members: watched.members,
    add(member) {
      watched.add(member);
      if (timer !== null) return;
      last = now();
      timer = setInterval(beat, BEAT_MS).unref();
    },
    remove(member) {
      watched.remove(member);
      if (watched.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    },
  };
}
