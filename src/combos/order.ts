import type { HealthView } from '../health/health-view.ts';
import type { CandidatesByFormat, Place } from './candidates-by-format.ts';
import type { Candidate } from './pool.ts';
import { strategies } from './strategies/index.ts';
import type { Moment } from './strategies/strategy.ts';

export interface OrderInput {
  healthView: HealthView;
  random(): number;
  /** How often the combo of this id was asked before. */
  turnOf(comboId: string): number;
  /** USD that the request would cost there, about; null when no price is known. */
  costOf(candidate: Candidate): number | null;
}

/** An inner combo in its place among others: the target that it would try first, and all of them. */
interface Group extends Place {
  all: readonly Place[] | null;
}

/** What is `ready` of a pool, in the order of its strategy and of those of its inner combos. */
export function ordered(
  spoken: CandidatesByFormat,
  ready: readonly Place[],
  input: OrderInput,
): readonly Place[] {
  if (ready.length < 2) return ready;
  if (spoken.branches === null) return sorted(spoken, ready, input);
  const left = new Set(ready.map(({ candidate }) => candidate));
  const { placeOf } = spoken;
  return orderedGroups(spoken, left, input, new Set()).map((place) => placeOf?.(place.candidate) ?? place);
}

function sorted<P extends Place>(
  { pool }: CandidatesByFormat,
  places: readonly P[],
  input: OrderInput,
): readonly P[] {
  if (places.length < 2) return places;
  const { healthView, random } = input;
  const moment: Moment<P> = {
    healthView: healthView,
    random,
    turn: () => input.turnOf(pool.id),
    costOf: ({ candidate }) => input.costOf(candidate),
  };
  return strategies[pool.strategy].order(places, moment);
}

/**
 * @param left candidates that have no place yet; each gets one
 * @param walked pools that were ordered already: a second time they have nothing new
 */
function orderedGroups(
  spoken: CandidatesByFormat,
  left: Set<Candidate>,
  input: OrderInput,
  walked: Set<CandidatesByFormat>,
): readonly Place[] {
  walked.add(spoken);
  const groups: Group[] = [];
  const branches = spoken.branches ?? spoken.places.map((place) => ({ place, inner: null }));
  for (const branch of branches) {
    if (branch.inner === null) {
      if (left.delete(branch.place.candidate)) groups.push({ ...branch.place, all: null });
    } else if (!walked.has(branch.inner)) {
      const all = orderedGroups(branch.inner, left, input, walked);
      if (all[0] !== undefined) groups.push({ ...all[0], weight: branch.weight, all });
    }
  }
  return sorted(spoken, groups, input).flatMap((group) => group.all ?? [group]);
}
