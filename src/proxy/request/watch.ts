import { createIndexedSet, type Slotted } from '../../lib/indexed-set.ts';

/** Beat of all deadlines, in milliseconds; every timeout is exact to about this much. */
const BEAT_MS = 100;

export interface Watched extends Slotted {
  tick(elapsedMs: number): void;
}

export interface Watch<Member extends Watched> {
  add(watched: Member): void;
  remove(watched: Member): void;
  members(): Member[];
}

/**
 * One timer for every open request. A timer each would have to be pushed back with every chunk; here a chunk
 * only resets a number.
 */
export function createWatch<Member extends Watched>(
  now: () => number = performance.now.bind(performance),
): Watch<Member> {
  const roster = createIndexedSet<Member>();
  let timer: NodeJS.Timeout | null = null;
  let last = 0;
  const beat = () => {
    // A stopped process or a blocked loop must not look like a silent upstream: one beat counts as two at most.
    const elapsed = Math.min(now() - last, 2 * BEAT_MS);
    last = now();
    for (const member of roster.members()) member.tick(elapsed);
  };
  return {
    members: roster.members,
    add(watched) {
      roster.add(watched);
      if (timer !== null) return;
      last = now();
      timer = setInterval(beat, BEAT_MS).unref();
    },
    remove(watched) {
      roster.remove(watched);
      if (roster.size > 0 || timer === null) return;
      clearInterval(timer);
      timer = null;
    },
  };
}
