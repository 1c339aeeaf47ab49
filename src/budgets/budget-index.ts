import type { Counter } from './counter.ts';
import type { ChargedRequest, ChargePath } from './reservation.ts';
import type { BudgetRecord, BudgetScope } from './schema.ts';

/** Which budgets a request is counted by. */
export interface BudgetIndex {
  /** All counters of a request, on its way to a target; null while no target is chosen. */
  applying(asked: ChargedRequest, path: ChargePath | null): Counter[];
  /** Whether a budget concerns a request, or may do so once a target is chosen. */
  mayConcern(asked: ChargedRequest): boolean;
  /** The same of budgets in USD. */
  isPriced(asked: ChargedRequest): boolean;
  /** The counters of a connection's own limits. */
  ofConnection(connectionId: string): readonly Counter[];
}

const none: readonly Counter[] = [];

export function indexOf(counters: Iterable<Counter>): BudgetIndex {
  const all = [...counters];
  const index = Map.groupBy(all, ({ budget }) => placeOf(budget));
  const scopes = new Set(all.map(({ budget }) => scopeOf(budget)));
  const pricedScopes = new Set(all.filter(isUsd).map(({ budget }) => scopeOf(budget)));
  const applying = ({ comboId, keyId, tags = [] }: ChargedRequest, path: ChargePath | null): Counter[] => {
    const candidates = [...(index.get('global') ?? none), ...(index.get(`key:${keyId}`) ?? none)];
    if (scopes.has('tag')) for (const tag of tags) candidates.push(...(index.get(`tag:${tag}`) ?? none));
    if (comboId !== null) candidates.push(...(index.get(`combo:${comboId}`) ?? none));
    if (path === null) return candidates;
    for (const inner of path.innerCombos) candidates.push(...(index.get(`combo:${inner}`) ?? none));
    candidates.push(...(index.get(`connection:${path.connectionId}`) ?? none));
    return candidates;
  };
  return {
    applying,
    mayConcern(asked) {
      if (index.size === 0) return false;
      return mayBeMet(scopes, asked) || applying(asked, null).length > 0;
    },
    isPriced(asked) {
      if (pricedScopes.size === 0) return false;
      return mayBeMet(pricedScopes, asked) || applying(asked, null).some(isUsd);
    },
    ofConnection: (connectionId) => index.get(`connection:${connectionId}`) ?? none,
  };
}

/** Only the way that a request goes tells whether a budget of a connection, or of a combo within its own, is met. */
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

/** Under what a budget is found for a request. */
function placeOf(budget: BudgetRecord): string {
  const tag = tagOf(budget);
  if (tag !== null) return `tag:${tag}`;
  const { scope, subject } = budget;
  return subject === null ? scope : `${scope}:${subject}`;
}

/** The tag of the requests that a budget counts; null where it is not about a team, an owner or a tag. */
export function tagOf({ scope, subject }: Pick<BudgetRecord, 'scope' | 'subject'>): string | null {
  if (scope === 'tag') return subject;
  return scope === 'team' || scope === 'owner' ? `${scope}=${subject}` : null;
}
