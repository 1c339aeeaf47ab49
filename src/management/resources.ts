import { keysResource } from '../access/keys-resource.ts';
import type { keyStore } from '../access/store.ts';
import { modelsResource } from '../catalog/models-resource.ts';
import { providersResource } from '../catalog/providers-resource.ts';
import type { Config } from '../config.ts';
import { connectionsResource } from '../connections/resource.ts';
import type { connectionStore } from '../connections/store.ts';
import type { Action, Resource } from '../http/resource.ts';
import { requestsResource } from '../ledger/requests-resource.ts';
import { usageResource } from '../ledger/usage-resource.ts';
import { settingsResource } from '../settings/resource.ts';
import type { Snapshot } from '../snapshot.ts';
import type { Store } from '../store/database.ts';

export interface ResourcesInput {
  store: Pick<Store, 'db'>;
  config: Config;
  keys: ReturnType<typeof keyStore>;
  connections: ReturnType<typeof connectionStore>;
  /** What requests see at this moment. */
  snapshot(): Snapshot;
  /** Takes changed keys and connections over into the snapshot. */
  reload(): Promise<unknown>;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What the gateway has for its callers, as collections of the management API. */
export function gatewayResources(input: ResourcesInput): Resource[] {
  const { config, connections, keys, now, reload, snapshot, store } = input;
  return [
    effective(keysResource({ keys, now }), reload),
    effective(connectionsResource({ connections }), reload),
    providersResource({ connections: connections.list }),
    modelsResource({ offers: () => snapshot().routes.ordered, catalog: snapshot().catalog, now }),
    requestsResource(store),
    usageResource({ store, now }),
    settingsResource({ config }),
  ];
}

/** The resource, each change of which holds for requests before it is answered: a key that was taken away opens nothing. */
function effective(resource: Resource, reload: () => Promise<unknown>): Resource {
  const { actions = {}, create, remove, update } = resource;
  const after =
    <Arguments extends unknown[], Result>(run: (...given: Arguments) => Promise<Result>) =>
    async (...given: Arguments): Promise<Result> => {
      const result = await run(...given);
      // The change is made; a reload that fails is tried again, and told of, by whoever looks for changes.
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
