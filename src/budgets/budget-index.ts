import type { Counter } from './counter.ts';
import type { ChargedRequest, ChargePath } from './reservation.ts';
import type { BudgetRecord, BudgetScope } from './schema.ts';

/** Which budgets a request is counted by. */
export interface BudgetIndex {
  /** All counters of a request, on its way to a target; null while no target is chosen. */
  applying(request: ChargedRequest, path: ChargePath | null): Counter[];
  /** Whether a budget concerns a request, or may do so once a target is chosen. */
  mayConcern(request: ChargedRequest): boolean;
  /** The same of budgets in USD. */
  isPriced(request: ChargedRequest): boolean;
  /** The counters of a connection's own limits. */
  ofConnection(connectionId: string): readonly Counter[];
}

const none: readonly Counter[] = [];

/** Counters by what they are about, in a map for each scope: a request looks for its key as it is, without a text made for it. */
type CountersBySubject = ReadonlyMap<string | null, readonly Counter[]>;

const noCounters: CountersBySubject = new Map();

export function indexOf(counters: Iterable<Counter>): BudgetIndex {
  const all = [...counters];
  const scopes = new Set(all.map(({ budget }) => scopeOf(budget)));
  const pricedScopes = new Set(all.filter(isUsd).map(({ budget }) => scopeOf(budget)));
  const index = new Map<BudgetScope, CountersBySubject>(
    [...scopes].map((scope) => [
      scope,
      Map.groupBy(
        all.filter(({ budget }) => scopeOf(budget) === scope),
        ({ budget }) => tagOf(budget) ?? budget.subject,
      ),
    ]),
  );
  const global = index.get('global')?.get(null) ?? none;
  const ofScope = (scope: BudgetScope) => index.get(scope) ?? noCounters;
  const [ofKeys, ofTags] = [ofScope('key'), ofScope('tag')];
  const [ofCombos, ofConnections] = [ofScope('combo'), ofScope('connection')];
  const applying = ({ comboId, keyId, tags = [] }: ChargedRequest, path: ChargePath | null): Counter[] => {
    const candidates = [...global];
    const add = (some: readonly Counter[] | undefined) => {
      if (some !== undefined) candidates.push(...some);
    };
    add(ofKeys.get(keyId));
    if (ofTags.size > 0) for (const tag of tags) add(ofTags.get(tag));
    if (comboId !== null) add(ofCombos.get(comboId));
    if (path === null) return candidates;
    for (const inner of path.innerCombos) add(ofCombos.get(inner));
    add(ofConnections.get(path.connectionId));
    return candidates;
  };
  /** The same as whether there are some, without a list of them. */
  const isConcerned = ({ comboId, keyId, tags = [] }: ChargedRequest): boolean =>
    global.length > 0 ||
    ofKeys.has(keyId) ||
    (ofTags.size > 0 && tags.some((tag) => ofTags.has(tag))) ||
    (comboId !== null && ofCombos.has(comboId));
  return {
    applying,
    mayConcern: (request) => all.length > 0 && (mayBeMet(scopes, request) || isConcerned(request)),
    isPriced: (request) =>
      pricedScopes.size > 0 &&
      (mayBeMet(pricedScopes, request) || (isConcerned(request) && applying(request, null).some(isUsd))),
    ofConnection: (connectionId) => ofConnections.get(connectionId) ?? none,
  };
}

/** Only the target of a request decides whether a budget of a connection, or of a combo within its own, is met. */
function mayBeMet(scopes: ReadonlySet<BudgetScope>, { comboId }: ChargedRequest): boolean {
  return scopes.has('connection') || (scopes.has('combo') && comboId !== null);
}

function isUsd({ budget }: Counter): boolean {
  return budget.metric === 'usd';
}

/** Teams and owners are tags of their requests. */
function scopeOf(budget: BudgetRecord): BudgetScope {
  return tagOf(budget) === null ? budget.scope : 'tag';
}

/** The tag of the requests that a budget counts; null where it is not about a team, an owner or a tag. */
export function tagOf({ scope, subject }: Pick<BudgetRecord, 'scope' | 'subject'>): string | null {
  if (scope === 'tag') return subject;
  return scope === 'team' || scope === 'owner' ? `${scope}=${subject}` : null;
}
