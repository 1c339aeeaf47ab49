import {
  type AccountState,
  type AttemptTarget,
  conditionOf,
  evictOldest,
  type HealthConnection,
  hasRecovered,
  limitsOf,
  newAccount,
  noteLimits,
  ready,
  type StoredHealthState,
  worseStateOf,
} from './account.ts';
import { type HealthState, isOver } from './health-state.ts';
import type { Condition, HealthView } from './health-view.ts';
import { type HealthHint, healthStateOfHint, hintOf } from './hints.ts';
import type { RateLimitStatus } from './limits.ts';
import { HealthAttempt, type Running } from './running.ts';

/** Whether a request may go to a target at this moment. */
export type Availability =
  | { may: 'go' }
  /** Only when nothing else is left: it is a guess that this would fail. */
  | { may: 'last'; condition: Condition }
  /** The upstream itself said until when. */
  | { may: 'wait'; condition: Condition; until: number };

/** Everything that is known of the accounts. In memory; `onChange` is called with every change. */
export interface Accounts extends HealthView {
  availability(connectionId: string, model: string): Availability;
  begin(target: AttemptTarget): Running;
  /** Notes which connections there are: what was held against another credential, or a connection that is gone, is forgotten. */
  adopt(connections: readonly HealthConnection[]): void;
  /** Forgets what is held against an account and its models. False when there was nothing. */
  reset(connectionId: string): boolean;
  /** Takes over what another gateway found out, unless this one has a state that keeps requests away already. */
  applyHint(hint: HealthHint): void;
  /** Conditions that are not `ready`, the account's own first. */
  conditionsOf(connectionId: string): { model: string | null; condition: Condition }[];
  limitsOf(connectionId: string): RateLimitStatus[];
  /** Takes over another process's state of an account or a model, and calls `onChange` with it. */
  take(changed: StoredHealthState): void;
  /** The same of limits that its upstream reported. */
  takeLimits(connectionId: string, limits: readonly RateLimitStatus[]): void;
  /** The health states that this gateway found out itself, for a process of it that starts. */
  ownStates(): StoredHealthState[];
  /** What other gateways found out, for the same. */
  receivedHints(): HealthHint[];
}

export interface AccountsInput {
  /** Milliseconds since the epoch. */
  now(): number;
  onChange(stored: StoredHealthState): void;
  /** Called with limits that an upstream reported. Default: nothing is called. */
  onLimits?(connectionId: string, limits: readonly RateLimitStatus[]): void;
  /** What was kept when the gateway last ran. */
  storedStates?: readonly StoredHealthState[];
}

const go: Availability = { may: 'go' };

export function createAccounts(input: AccountsInput): Accounts {
  const { onChange, storedStates = [], onLimits = () => {}, now } = input;
  const accounts = new Map<string, AccountState>();
  const accountOf = (id: string): AccountState => {
    const existing = accounts.get(id);
    if (existing !== undefined) return existing;
    const account = newAccount(id);
    accounts.set(id, account);
    return account;
  };
  /** What was not found out here. */
  const fromHints = new WeakSet<HealthState>();
  const isFromHint = ({ healthState }: StoredHealthState): boolean =>
    healthState !== null && fromHints.has(healthState);
  const all = () => [...accounts.values()].flatMap(storedHealthStates);
  for (const one of storedStates) restore(accountOf(one.connectionId), one);
  const forget = (account: AccountState): boolean => {
    const states = clearHealthStates(account);
    for (const one of states) onChange(one);
    return states.length > 0;
  };

  return {
    conditionOf(connectionId, model) {
      const account = accounts.get(connectionId);
      const worse = account === undefined ? null : worseStateOf(account, model, now());
      return worse === null ? ready : conditionOf(worse, now());
    },
    inFlight: (connectionId) => accounts.get(connectionId)?.load.inFlight ?? 0,
    recentUse: (connectionId) => accounts.get(connectionId)?.load.recentUse(now()) ?? 0,
    latencyMs: (connectionId, model) => accounts.get(connectionId)?.latencies.get(model)?.ms ?? null,
    latencyAgeMs(connectionId, model) {
      const at = accounts.get(connectionId)?.latencies.get(model)?.at;
      return at === undefined ? null : Math.max(0, now() - at);
    },
    headroom(connectionId) {
      const shares = limitsOf(accounts.get(connectionId), now()).flatMap(({ left }) => left ?? []);
      return shares.length === 0 ? null : Math.min(...shares);
    },
    availability(connectionId, model) {
      const account = accounts.get(connectionId);
      if (account === undefined || (account.own === null && account.models.size === 0)) return go;
      const at = now();
      const worse = worseStateOf(account, model, at);
      if (worse === null || isOver(worse, at)) return go;
      const condition = conditionOf(worse, at);
      if ('namedByUpstream' in worse && worse.namedByUpstream)
        return { may: 'wait', condition, until: worse.until };
      return { may: 'last', condition };
    },
    begin: (target) =>
      new HealthAttempt({ account: accountOf(target.connection.id), target, onChange, onLimits, now }),
    adopt(connections) {
      const connectionById = new Map(connections.map((connection) => [connection.id, connection]));
      for (const account of accounts.values()) {
        const connection = connectionById.get(account.id);
        if (connection === undefined) {
          forget(account);
          if (account.load.inFlight === 0) accounts.delete(account.id);
        } else if (hasRecovered(account, connection)) forget(account);
      }
    },
    reset(connectionId) {
      const account = accounts.get(connectionId);
      return account === undefined ? false : forget(account);
    },
    applyHint(hint) {
      const { connectionId, model } = hint;
      const account = accountOf(connectionId);
      const held = (model === null ? account.own : account.models.get(model)) ?? null;
      const healthState = healthStateOfHint(hint, now());
      if (
        healthState === null ? held === null || !fromHints.has(held) : held !== null && !isOver(held, now())
      )
        return;
      if (healthState !== null) fromHints.add(healthState);
      if (model === null) setOwn(account, healthState, null);
      else if (healthState === null) account.models.delete(model);
      else {
        evictOldest(account.models);
        account.models.set(model, healthState);
      }
    },
    conditionsOf(connectionId) {
      const account = accounts.get(connectionId);
      if (account === undefined) return [];
      const all: [string | null, HealthState | null][] = [[null, account.own], ...account.models];
      return all.flatMap(([model, healthState]) => {
        const condition = healthState === null ? ready : conditionOf(healthState, now());
        return condition.state === 'ready' ? [] : [{ model, condition }];
      });
    },
    limitsOf: (connectionId) => limitsOf(accounts.get(connectionId), now()),
    take(entry) {
      const account = accountOf(entry.connectionId);
      if (entry.healthState !== null) restore(account, entry);
      else if (entry.model !== null) account.models.delete(entry.model);
      else setOwn(account, null, null);
      onChange(entry);
    },
    takeLimits(connectionId, limits) {
      noteLimits(accountOf(connectionId), limits);
      onLimits(connectionId, limits);
    },
    ownStates: () => all().filter((one) => !isFromHint(one)),
    receivedHints: () => all().flatMap((one) => (isFromHint(one) ? (hintOf(one, now()) ?? []) : [])),
  };
}

function storedHealthStates({
  fingerprint,
  id: connectionId,
  models,
  own,
}: AccountState): StoredHealthState[] {
  const ofModels = [...models].map(([model, healthState]) => ({
    connectionId,
    model,
    healthState,
    fingerprint: null,
  }));
  return own === null
    ? ofModels
    : [{ connectionId, model: null, healthState: own, fingerprint }, ...ofModels];
}

function restore(account: AccountState, { fingerprint, model, healthState }: StoredHealthState): void {
  if (healthState === null) return;
  if (model !== null) account.models.set(model, healthState);
  else setOwn(account, healthState, fingerprint);
}

function setOwn(
  account: AccountState,
  healthState: HealthState | null,
  fingerprint: AccountState['fingerprint'],
): void {
  account.own = healthState;
  account.fingerprint = fingerprint;
}

/** Clears what is held against an account, and says what that was. */
function clearHealthStates(account: AccountState): StoredHealthState[] {
  const cleared = { connectionId: account.id, healthState: null, fingerprint: null };
  const removed: StoredHealthState[] = [...account.models.keys()].map((model) => ({ ...cleared, model }));
  if (account.own !== null) removed.push({ ...cleared, model: null });
  setOwn(account, null, null);
  account.models.clear();
  return removed;
}
