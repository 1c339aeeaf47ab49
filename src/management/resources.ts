import { keysResource } from '../access/keys/resource.ts';
import { keyStore } from '../access/store.ts';
import { withKeyLimits } from '../budgets/key-limits.ts';
import type { Limits } from '../budgets/limits.ts';
import { budgetsResource } from '../budgets/resource.ts';
import { type CacheInput, cacheResource } from '../cache/resource.ts';
import { modelsResource } from '../catalog/models-resource.ts';
import { providersResource } from '../catalog/providers-resource.ts';
import { catalogResource } from '../catalog/resource.ts';
import { aliasesResource } from '../combos/aliases/resource.ts';
import type { aliasStore } from '../combos/aliases/store.ts';
import { combosResource } from '../combos/resource.ts';
import { factsOfName, listedNames } from '../combos/routing/listed.ts';
import type { comboStore } from '../combos/store.ts';
import { type Config, readVariable, setVariables } from '../config.ts';
import { discoveriesResource } from '../connections/discoveries-resource.ts';
import {
  type ConnectionHealth,
  type ConnectionsInput,
  connectionsResource,
} from '../connections/resource.ts';
import type { connectionStore } from '../connections/store.ts';
import { ready } from '../health/account.ts';
import type { Accounts } from '../health/accounts.ts';
import { rowOfCondition } from '../health/condition-row.ts';
import { type BalanceSource, quotaResource } from '../health/quota-resource.ts';
import type { Action, Resource } from '../http/resource.ts';
import { requestCountsResource } from '../ledger/requests/counts-resource.ts';
import { requestsResource } from '../ledger/requests/requests-resource.ts';
import { runningRequestsResource } from '../ledger/requests/running-resource.ts';
import { toolRunsResource } from '../ledger/requests/runs-resource.ts';
import type { RunningRequest } from '../ledger/schema.ts';
import { usageResource } from '../ledger/usage-resource.ts';
import { settingsResource } from '../settings/resource.ts';
import { simulationsResource } from '../simulation/resource.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Store } from '../store/database.ts';

export interface ResourcesInput {
  store: Pick<Store, 'db' | 'kind' | 'reading'>;
  config: Config;
  keys: ReturnType<typeof keyStore>;
  connections: ReturnType<typeof connectionStore>;
  combos: ReturnType<typeof comboStore>;
  aliases: ReturnType<typeof aliasStore>;
  /** What people log in with, and the tokens that come of it. */
  login: Omit<ConnectionsInput, 'connections' | 'health'>;
  /** What is counted of the budgets at this moment. */
  limits: Pick<Limits, 'counter'>;
  answers: CacheInput['answers'];
  /** What requests see at this moment. */
  snapshot(): Snapshot;
  /** Takes what was changed over into the snapshot. */
  reload(): Promise<unknown>;
  /** The requests that are not answered yet. */
  running(): Promise<readonly RunningRequest[]>;
  accounts: Accounts;
  balances: BalanceSource;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What the gateway has for its callers, as collections of the management API. */
export function gatewayResources(input: ResourcesInput): Resource[] {
  const { accounts, aliases, combos, config, connections, keys, limits, now, reload, snapshot, store } =
    input;
  // A page of millions of requests can take seconds.
  const ledger = { db: store.reading, kind: store.kind, apart: true };
  const health = connectionHealth(accounts);
  return [
    effective(withKeyLimits(keysResource({ keys, now, reading: keyStore(ledger) }), store, now), reload),
    effective(connectionsResource({ connections, health, ...input.login }), reload),
    effective(
      discoveriesResource({
        connections,
        setVariables: (names) => setVariables(names),
        readVariable: (name) => readVariable(name),
        listening: input.login.listening ?? (() => null),
      }),
      reload,
    ),
    effective(combosResource({ combos, routes: () => snapshot().routes }), reload),
    simulationsResource({
      store: ledger,
      routes: () => snapshot().routes,
      catalog: () => snapshot().catalog,
      now,
    }),
    effective(aliasesResource({ aliases }), reload),
    providersResource({ connections: connections.list }),
    modelsResource({
      names: (at) =>
        listedNames(snapshot().routes).map((name) => ({
          id: name.id,
          kind: name.kind,
          ...factsOfName(name, at),
        })),
      offers: () => snapshot().routes.ordered,
      catalog: () => snapshot().catalog,
      now,
    }),
    effective(catalogResource({ catalog: () => snapshot().catalog, dataDir: config.dataDir, now }), reload),
    requestsResource(ledger),
    runningRequestsResource(input.running),
    requestCountsResource({ store: ledger, now }),
    toolRunsResource(ledger),
    usageResource({ store: ledger, now }),
    quotaResource({ accounts, balances: input.balances, connections: connections.list }),
    settingsResource({ config }),
    cacheResource({ answers: input.answers }),
    effective(budgetsResource({ store, limits, now }), reload),
  ];
}

function connectionHealth({ reset, conditionsOf }: Accounts): ConnectionHealth {
  return {
    reset,
    of(connectionId) {
      const conditions = conditionsOf(connectionId);
      const own = conditions.find(({ model }) => model === null)?.condition ?? ready;
      return {
        condition: rowOfCondition(own),
        model_conditions: conditions.flatMap(({ condition, model }) =>
          model === null ? [] : [{ model, ...rowOfCondition(condition) }],
        ),
      };
    },
  };
}

/** The resource, each change of which holds for requests before it is answered: a key that was taken away opens nothing. */
function effective(resource: Resource, reload: () => Promise<unknown>): Resource {
  const { actions = {}, create, remove, update } = resource;
  const after =
    <Arguments extends unknown[], Result>(run: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments): Promise<Result> => {
      const result = await run(...args);
      // The change is made; a reload that fails is retried and reported where changes are polled.
      await reload().catch(() => {});
      return result;
    };
  const act = (action: Action): Action => ({ ...action, run: after(action.run) });
  return {
    ...resource,
    ...(create === undefined ? {} : { create: { ...create, run: after(create.run) } }),
    ...(update === undefined ? {} : { update: { ...update, run: after(update.run) } }),
    ...(remove === undefined ? {} : { remove: { ...remove, run: after(remove.run) } }),
    actions: Object.fromEntries(Object.entries(actions).map(([name, action]) => [name, act(action)])),
  };
}
