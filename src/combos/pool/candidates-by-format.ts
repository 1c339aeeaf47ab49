import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Provider } from '../../providers/provider.ts';
import { answeredFormat, type Target } from '../target.ts';
import type { Branch, Candidate, CandidatesByFormat, FormatCandidate, Pool } from './pool.ts';

export type { CandidatesByFormat, FormatCandidate } from './pool.ts';

import type { Skip } from '../trace.ts';

/** What a pool is for requests of `format`: worked out once for a combo, since it is the same for all of them. */
export function candidatesByFormat(pool: Pool, format: WireFormat): CandidatesByFormat {
  const existing = pool.byFormat?.get(format);
  if (existing !== undefined) return existing;
  const candidates = make(pool, format);
  pool.byFormat?.set(format, candidates);
  return candidates;
}

function make(pool: Pool, format: WireFormat): CandidatesByFormat {
  const formats = new Map<Provider, WireFormat | null>();
  const skipped: Skip[] = [];
  const branches: Branch[] = [];
  for (const member of pool.members) {
    if (member.kind === 'combo') {
      const inner = candidatesByFormat(member.pool, format);
      skipped.push(...inner.skipped);
      if (inner.places.length > 0) branches.push({ place: null, inner, weight: member.weight });
      continue;
    }
    const { candidate, weight } = member;
    const { provider } = candidate;
    const only = candidate.facts?.format ?? null;
    let answers = only === null ? formats.get(provider) : answeredFormat(provider, format, only);
    if (answers === undefined) {
      answers = answeredFormat(provider, format);
      formats.set(provider, answers);
    }
    if (answers === null) skipped.push(unspoken(candidate, format));
    else branches.push({ place: placeOf(candidate, answers, weight), inner: null });
  }
  const flat = branches.every(({ inner }) => inner === null);
  const places = distinct(branches);
  return {
    pool,
    places: [...places.values()],
    branches: flat ? null : branches,
    skipped: once(skipped),
    placeOf: flat ? null : (candidate) => places.get(candidate) ?? null,
  };
}

function placeOf(candidate: Candidate, format: WireFormat, weight: number): FormatCandidate {
  const { connection, facts, model, provider } = candidate;
  const target: Target = { connection, provider, model, format };
  if (facts?.deprecated === true) target.deprecated = true;
  if (facts !== null && facts.outputLimit !== null) target.outputLimit = facts.outputLimit;
  return { connectionId: connection.id, model, weight, candidate, target };
}

/** Every candidate once, by the first way that leads to it; a pool without inner combos has none twice. */
function distinct(branches: readonly Branch[]): ReadonlyMap<Candidate, FormatCandidate> {
  const places = new Map<Candidate, FormatCandidate>();
  for (const { inner, place } of branches) {
    if (inner === null) {
      if (!places.has(place.candidate)) places.set(place.candidate, place);
      continue;
    }
    for (const one of inner.places)
      if (!places.has(one.candidate)) places.set(one.candidate, within(inner.pool, one));
  }
  return places;
}

/** A place of an inner combo, seen from the outer one. */
function within({ id }: Pool, place: FormatCandidate): FormatCandidate {
  const { innerCombos = [] } = place.target;
  return { ...place, target: { ...place.target, innerCombos: [id, ...innerCombos] } };
}

function once(skipped: readonly Skip[]): Skip[] {
  return [...new Map(skipped.map((skip) => [`${skip.connectionId}/${skip.model}`, skip])).values()];
}

function unspoken(candidate: Candidate, format: WireFormat): Skip {
  const { formats, name } = candidate.provider;
  const detail = `${name} speaks ${Object.keys(formats).join(', ')}, not ${format}`;
  return { ...candidate.name, reason: 'format', detail };
}
