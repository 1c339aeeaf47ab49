import type { Abilities } from '../../catalog/abilities.ts';
import type { ModelInfo } from '../../catalog/model-info.ts';
import type { ModelPrice } from '../../catalog/price.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { ComboOptions, StrategyName } from '../combo-schema.ts';
import type { Choice } from '../strategies/strategy.ts';
import type { Target } from '../target.ts';
import type { Skip, TargetName } from '../trace.ts';

/** A model's entry in a provider's catalogue. */
export type ModelFacts = Pick<ModelInfo, 'contextWindow' | 'outputLimit' | 'deprecated' | 'format'>;

/** One model at one connection, before it is known in which format it will be asked. */
export interface Candidate extends Pick<Target, 'connection' | 'provider' | 'model'> {
  facts: ModelFacts | null;
  abilities(): Abilities;
  name: TargetName;
  /** What it costs at this moment, in milliseconds since the epoch; null when no price is known. */
  priceAt(time: number): ModelPrice | null;
}

export type Member =
  | { kind: 'model'; candidate: Candidate; weight: number }
  | { kind: 'combo'; pool: Pool; weight: number };

/** What a requested id stands for: a combo that is ready to be used, or the connections that have a model. */
export interface Pool {
  /** The combo's id; empty for what is none. Names its turn. */
  id: string;
  /** Null for what is no combo. */
  name: string | null;
  strategy: StrategyName;
  options: ComboOptions;
  /** In the order in which they are preferred. */
  members: readonly Member[];
  /** Targets that cannot be asked as things are, e.g. of a connection that was removed. */
  missing: readonly Skip[];
  /** Every candidate once, those of inner combos in their places. */
  candidates: readonly Candidate[];
  /** What was worked out of it for each format; null for what is not kept. */
  byFormat: Map<WireFormat, CandidatesByFormat> | null;
  /** 1 for models alone, one more for each combo in another. */
  depth: number;
}

/** A candidate in the format in which it would be asked. */
export interface FormatCandidate extends Choice {
  candidate: Candidate;
  target: Target;
}

export type Branch =
  | { place: FormatCandidate; inner: null }
  | { place: null; inner: CandidatesByFormat; weight: number };

/** A pool for requests of one format. */
export interface CandidatesByFormat {
  pool: Pool;
  /** Every candidate once that can be asked, those of inner combos in their places. */
  places: readonly FormatCandidate[];
  /** The members of the pool; null when all are single models, and `places` has them. */
  branches: readonly Branch[] | null;
  /** The place that a candidate of an inner combo has in this one; null where there are no inner combos. */
  placeOf: ((candidate: Candidate) => FormatCandidate | null) | null;
  /** Candidates that nothing leads to from this format. */
  skipped: readonly Skip[];
}

/** Every candidate below `members` once, in their order. */
export function candidatesOf(members: readonly Member[]): Candidate[] {
  const all = new Set<Candidate>();
  for (const member of members) {
    if (member.kind === 'model') all.add(member.candidate);
    else for (const candidate of member.pool.candidates) all.add(candidate);
  }
  return [...all];
}

/** The pool without the candidates that do not fit; null when none is left. */
export function narrowed(pool: Pool, fits: (candidate: Candidate) => boolean): Pool | null {
  if (!pool.candidates.some(fits)) return null;
  const members = pool.members.flatMap((member): Member[] => {
    if (member.kind === 'model') return fits(member.candidate) ? [member] : [];
    const inner = narrowed(member.pool, fits);
    return inner === null ? [] : [{ ...member, pool: inner }];
  });
  return { ...pool, members, missing: [], candidates: candidatesOf(members), byFormat: null };
}
