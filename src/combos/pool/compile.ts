import type { ComboRecord, ComboTarget } from '../combo-schema.ts';
import type { Skip } from '../trace.ts';
import { candidateOf } from './candidate.ts';
import type { ConnectionIndex, Route } from './connection-index.ts';
import { type Candidate, candidatesOf, type Member, type Pool } from './pool.ts';

/** How deep combos may stand in one another. */
export const MAX_DEPTH = 5;

/** The combos of a snapshot, made ready for requests. */
export interface Combos {
  byName: ReadonlyMap<string, Pool>;
  /** What `auto` means. */
  active: Pool | null;
  /** As they are stored, in the order of their names. */
  records: readonly ComboRecord[];
}

/**
 * Turns stored combos into pools, so that a request finds connections instead of names. What leads nowhere, or back to
 * where it came from, is left out and named in `missing`.
 */
export function compileCombos(records: readonly ComboRecord[], connected: ConnectionIndex): Combos {
  const stored = new Map(records.map((record) => [record.name, record]));
  const candidates = new Map<string, Candidate>();
  const made = new Map<string, Pool>();
  /** Combos that are being made: one of them as a target of another leads back. */
  const open = new Set<string>();

  const candidate = (route: Route, model: string): Candidate => {
    const key = `${route.connection.id}/${model}`;
    const existing = candidates.get(key);
    if (existing !== undefined) return existing;
    const fresh = candidateOf(route, model, connected);
    candidates.set(key, fresh);
    return fresh;
  };

  const poolOf = (record: ComboRecord): Pool => {
    const existing = made.get(record.name);
    if (existing !== undefined) return existing;
    open.add(record.name);
    const members: Member[] = [];
    const missing: Skip[] = [];
    const seen = new Set<unknown>();
    const add = (target: ComboTarget, resolved: readonly Member[] | string) => {
      if (typeof resolved === 'string') missing.push(unavailable(target, resolved));
      else
        for (const member of resolved) {
          const what = member.kind === 'model' ? member.candidate : member.pool;
          if (!seen.has(what)) members.push(member);
          seen.add(what);
        }
    };
    for (const target of record.targets) {
      const inner = stored.get(target.target);
      add(target, inner === undefined ? models(target) : innerCombo(inner, target));
    }
    open.delete(record.name);
    const pool = finished(record, members, missing);
    made.set(record.name, pool);
    return pool;
  };

  const innerCombo = (inner: ComboRecord, { weight }: ComboTarget): Member[] | string => {
    if (open.has(inner.name)) return `The combo "${inner.name}" contains itself`;
    const pool = poolOf(inner);
    if (pool.depth >= MAX_DEPTH) return `Combos stand in one another more than ${MAX_DEPTH} deep`;
    if (pool.members.length === 0) return `The combo "${inner.name}" has no target that can be asked`;
    return [{ kind: 'combo', pool, weight }];
  };

  const models = (target: ComboTarget): Member[] | string => {
    const routes = routesOf(target, connected);
    if (typeof routes === 'string') return routes;
    const model = target.target.slice(target.target.indexOf('/') + 1);
    // The connections of a provider share the weight of their target.
    const weight = target.weight / routes.length;
    return routes.map((route) => ({ kind: 'model', candidate: candidate(route, model), weight }));
  };

  const byName = new Map(records.map((record) => [record.name, poolOf(record)]));
  const active = records.find((record) => record.active);
  return {
    byName,
    active: active === undefined ? null : (byName.get(active.name) ?? null),
    records: [...records].sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function finished(record: ComboRecord, members: readonly Member[], missing: readonly Skip[]): Pool {
  const { id, name, options, strategy } = record;
  const depths = members.map((member) => (member.kind === 'combo' ? member.pool.depth : 0));
  return {
    id,
    name,
    strategy,
    options,
    members,
    missing,
    candidates: candidatesOf(members),
    byFormat: new Map(),
    depth: 1 + Math.max(0, ...depths),
  };
}

/** The connections that a target without a combo's name means; a sentence when there are none. */
function routesOf(
  { target }: Pick<ComboTarget, 'target'>,
  { byName, byProvider, isProvider }: Pick<ConnectionIndex, 'byName' | 'byProvider' | 'isProvider'>,
): readonly Route[] | string {
  const slash = target.indexOf('/');
  if (slash <= 0 || slash === target.length - 1) return `There is no combo "${target}"`;
  const prefix = target.slice(0, slash);
  const named = byName.get(prefix);
  if (named !== undefined) return [named];
  const ofProvider = byProvider.get(prefix);
  if (ofProvider !== undefined) return ofProvider;
  return isProvider(prefix)
    ? `The provider "${prefix}" has no active connection`
    : `There is no active connection "${prefix}"`;
}

function unavailable({ target }: ComboTarget, detail: string): Skip {
  const slash = target.indexOf('/');
  const connection = slash > 0 ? target.slice(0, slash) : target;
  const model = slash > 0 ? target.slice(slash + 1) : '';
  return { connectionId: '', connection, provider: '', model, reason: 'unavailable', detail };
}
