import type { Catalog } from '../catalog/catalog.ts';
import { costOf } from '../catalog/cost.ts';
import { codecs } from '../codecs/index.ts';
import { candidatesByFormat, type FormatCandidate } from '../combos/pool/candidates-by-format.ts';
import type { Candidate, Pool } from '../combos/pool/pool.ts';
import { ordered } from '../combos/routing/order.ts';
import { inputTokens } from '../ledger/buckets.ts';
import type { PastRequest } from './past-request.ts';
import type { ReplayInput, ReplayTarget } from './replay.ts';

/**
 * The order in which a combo would have tried its targets for past requests. Of what a request needs only its format
 * and its length are known afterwards; whether it had tools or images is not in the ledger.
 */
export function comboOrder(pool: Pool, catalog: Pick<Catalog, 'priceOf'>): ReplayInput['order'] {
  const turns = new Map<string, number>();
  const turnOf = (id: string): number => {
    const turn = turns.get(id) ?? 0;
    turns.set(id, turn + 1);
    return turn;
  };
  const targets = new Map<Candidate, ReplayTarget>();
  const targetOf = (candidate: Candidate): ReplayTarget => {
    const target = targets.get(candidate);
    if (target !== undefined) return target;
    const costAt: ReplayTarget['costOf'] = (usage, at) => {
      const price = catalog.priceOf(candidate.provider, candidate.model, at);
      return price === null ? null : costOf(price, usage);
    };
    const fresh = { ...candidate.name, costOf: costAt };
    targets.set(candidate, fresh);
    return fresh;
  };
  return (request, { healthView, random }) => {
    const { startedAt, usage } = request;
    const format = codecs.find((codec) => codec.format === request.format)?.format;
    if (format === undefined) return [];
    const byFormat = candidatesByFormat(pool, format);
    const costAt = (candidate: Candidate) =>
      usage === null ? null : targetOf(candidate).costOf(usage, startedAt);
    const order = ordered(byFormat, fitting(byFormat.places, request), {
      healthView: healthView,
      random,
      turnOf,
      costOf: costAt,
    });
    return order.map(({ candidate }) => targetOf(candidate));
  };
}

/** Those that are known to read as much as a request sent, or not known to read less. */
function fitting(places: readonly FormatCandidate[], { usage }: PastRequest): readonly FormatCandidate[] {
  if (usage === null) return places;
  const tokens = inputTokens(usage);
  const able = places.filter(({ candidate }) => tokens <= (candidate.facts?.contextWindow ?? tokens));
  return able.length > 0 ? able : places;
}
