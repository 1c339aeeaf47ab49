import type { HealthView } from '../../health/health-view.ts';
import type { CandidatesByFormat, FormatCandidate } from '../pool/candidates-by-format.ts';
import type { Candidate } from '../pool/pool.ts';
import { strategies } from '../strategies/index.ts';
import type { StrategyContext } from '../strategies/strategy.ts';

export interface OrderInput {
  healthView: HealthView;
  random(): number;
  /** How often the combo of this id was asked before. */
  turnOf(comboId: string): number;
  /** USD that the request would cost there, about; null when no price is known. */
  costOf(candidate: Candidate): number | null;
}

/** An inner combo in its place among others: the target that it would try first, and all of them. */
interface Group extends FormatCandidate {
  all: readonly FormatCandidate[] | null;
}

/** What is `ready` of a pool, in the order of its strategy and of those of its inner combos. */
export function ordered(
  byFormat: CandidatesByFormat,
  ready: readonly FormatCandidate[],
  input: OrderInput,
): readonly FormatCandidate[] {
  if (ready.length < 2) return ready;
  if (byFormat.branches === null) return sorted(byFormat, ready, input);
  const left = new Set(ready.map(({ candidate }) => candidate));
  const { placeOf } = byFormat;
  return orderedGroups(byFormat, left, input, new Set()).map((place) => placeOf?.(place.candidate) ?? place);
}

function sorted<P extends FormatCandidate>(
  { pool }: CandidatesByFormat,
  places: readonly P[],
  input: OrderInput,
): readonly P[] {
  if (places.length < 2) return places;
  const { healthView, random } = input;
  const moment: StrategyContext<P> = {
    healthView: healthView,
    random,
    requestCount: () => input.turnOf(pool.id),
    costOf: ({ candidate }) => input.costOf(candidate),
  };
  return strategies[pool.strategy].order(places, moment);
}

/**
 * @param left candidates that have no place yet; each gets one
 * @param walked pools that were ordered already: a second time they have nothing new
 */
function orderedGroups(
  byFormat: CandidatesByFormat,
  left: Set<Candidate>,
  input: OrderInput,
  walked: Set<CandidatesByFormat>,
): readonly FormatCandidate[] {
  walked.add(byFormat);
  const groups: Group[] = [];
  const branches = byFormat.branches ?? byFormat.places.map((place) => ({ place, inner: null }));
  for (const branch of branches) {
    if (branch.inner === null) {
      if (left.delete(branch.place.candidate)) groups.push({ ...branch.place, all: null });
    } else if (!walked.has(branch.inner)) {
      const all = orderedGroups(branch.inner, left, input, walked);
      if (all[0] !== undefined) groups.push({ ...all[0], weight: branch.weight, all });
    }
  }
  return sorted(byFormat, groups, input).flatMap((group) => group.all ?? [group]);
}
