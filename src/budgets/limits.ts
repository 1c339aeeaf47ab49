import type { Shared } from './claim.ts';
import { type Counter, clearSpent, createCounter, fits, NANO, spendIn } from './counter.ts';
import { type Asked, createHold, type Hold, type HoldContext, type Used, type Way } from './hold.ts';
import type { BudgetRecord, BudgetScope } from './schema.ts';

/** What was used in a part of a window, with what is not known counted as nothing. */
export interface UsedThen {
  /** Any moment of the part, in milliseconds since the epoch. */
  at: number;
  usd: number;
  /** Input and output. */
  tokens: number;
  requests: number;
  /** Requests that used something whose cost is not known. */
  unpriced: number;
}

/** Which requests to sum up: those of a subject that began from `since` on and had ended by `before`. */
export interface UsedQuery extends Pick<BudgetRecord, 'scope' | 'subject'> {
  since: number;
  before: number;
  /** Length of the parts; they begin at its multiples. */
  stepMs: number;
}

export interface LimitsInput extends Pick<HoldContext, 'nameOf' | 'notify' | 'now'> {
  /** Sums over requests of the past. */
  used(query: UsedQuery): Promise<readonly UsedThen[]>;
  shared: Shared | null;
}

/** Budgets and limits as they stand at this moment, in memory. */
export interface Limits {
  /** What one request holds of the budgets; null where none concerns it. */
  hold(asked: Asked): Hold | null;
  /**
   * Counts what a request turned out to have used beside what was counted at its end.
   * @param began milliseconds since the epoch: the window that it is counted in
   */
  countMore(asked: Asked, way: Way | null, began: number, more: Used): void;
  /** Whether a connection's own limits leave room for one more request. */
  hasRoom(connectionId: string): boolean;
  /** Takes over what is stored. A budget that is new counts what was used in its window before. */
  configure(budgets: readonly BudgetRecord[]): Promise<void>;
  /** The counter of a budget; null when it is not in force. */
  counter(id: string): Counter | null;
}

type Index = ReadonlyMap<string, readonly Counter[]>;

const none: readonly Counter[] = [];

/** The limits of one gateway. */
export function createLimits({ used, ...input }: LimitsInput): Limits {
  let counters: ReadonlyMap<string, Counter> = new Map();
  let index: Index = new Map();
  /** Whether any budget is about connections, or about combos: only the way that a request goes tells whether it is its own. */
  let byWay = { connections: false, combos: false };
  const empty = new Set<Counter>();

  const applying = ({ comboId, keyId }: Asked, way: Way | null): Counter[] => {
    const found = [...(index.get('global') ?? none), ...(index.get(`key:${keyId}`) ?? none)];
    if (comboId !== null) found.push(...(index.get(`combo:${comboId}`) ?? none));
    if (way === null) return found;
    for (const inner of way.innerCombos) found.push(...(index.get(`combo:${inner}`) ?? none));
    found.push(...(index.get(`connection:${way.connectionId}`) ?? none));
    return found;
  };
  const context: HoldContext = { ...input, applying };
  const replace = (budgets: readonly BudgetRecord[]) => {
    const next = new Map<string, Counter>();
    for (const budget of budgets) {
      const counter = counters.get(budget.id) ?? createCounter(budget);
      if (!counters.has(budget.id)) empty.add(counter);
      if (counter.budget.resetAt !== budget.resetAt) {
        clearSpent(counter);
        input.shared?.clear(counter);
      }
      counter.budget = budget;
      next.set(budget.id, counter);
    }
    counters = next;
    index = indexOf(next.values());
    const has = (scope: BudgetScope) => [...index.keys()].some((place) => place.startsWith(`${scope}:`));
    byWay = { connections: has('connection'), combos: has('combo') };
  };

  return {
    counter: (id) => counters.get(id) ?? null,
    hold(asked) {
      if (index.size === 0) return null;
      const mayConcern = byWay.connections || (byWay.combos && asked.comboId !== null);
      return mayConcern || applying(asked, null).length > 0 ? createHold(context, asked) : null;
    },
    countMore(asked, way, began, more) {
      const spent = applying(asked, way).flatMap((counter) => {
        const amount = began < (counter.budget.resetAt ?? 0) ? 0 : amountOf(counter, more);
        return amount > 0 ? [{ counter, bucket: counter.window.bucketAt(began), amount, unpriced: 0 }] : [];
      });
      for (const spending of spent) spendIn(spending.counter, spending.bucket, spending);
      input.shared?.settle([], spent);
    },
    hasRoom(connectionId) {
      const at = input.now();
      return (index.get(`connection:${connectionId}`) ?? none).every((counter) => fits(counter, 1, at));
    },
    async configure(budgets) {
      replace(budgets);
      const before = input.now();
      for (const counter of empty) {
        const query = pastOf(counter, before);
        if (query !== null) for (const then of await used(query)) count(counter, then);
        empty.delete(counter);
      }
    },
  };
}

/** What a counter that begins at `before` has to count of the time until then. */
function pastOf({ budget, window }: Counter, before: number): UsedQuery | null {
  if (budget.metric === 'concurrency') return null;
  const since = Math.max(window.from(before), budget.resetAt ?? 0);
  return { scope: budget.scope, subject: budget.subject, since, before, stepMs: window.stepMs };
}

function count(counter: Counter, then: UsedThen): void {
  const { metric } = counter.budget;
  const amount =
    metric === 'usd' ? Math.round(then.usd * NANO) : metric === 'tokens' ? then.tokens : then.requests;
  const unpriced = metric === 'usd' ? then.unpriced : 0;
  spendIn(counter, counter.window.bucketAt(then.at), { amount, unpriced });
}

/** The request itself was counted before. */
function amountOf({ budget }: Counter, { tokens, usd }: Used): number {
  if (budget.metric === 'usd') return Math.round((usd ?? 0) * NANO);
  return budget.metric === 'tokens' ? Math.round(tokens) : 0;
}

function indexOf(counters: Iterable<Counter>): Index {
  const index = new Map<string, Counter[]>();
  for (const counter of counters) {
    const { scope, subject } = counter.budget;
    const place = subject === null ? scope : `${scope}:${subject}`;
    const list = index.get(place);
    if (list === undefined) index.set(place, [counter]);
    else list.push(counter);
  }
  return index;
}
