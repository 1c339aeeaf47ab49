import type { ValueKind } from '../command.ts';
import type { Context } from '../context.ts';
import type { Candidate } from './candidates.ts';

type Names = (context: Context) => Promise<readonly Candidate[]>;

/** Names of this installation, read from its database. Where there is none yet, there are none. */
export const namesOf: Readonly<Record<ValueKind, Names>> = {
  key: async (context) => {
    const store = await context.existingStore();
    if (store === null) return [];
    const { keyStore } = await import('../../access/store.ts');
    return (await keyStore(store).list()).map(({ name, prefix }) => ({ value: name, summary: prefix }));
  },
  connection: async (context) =>
    (await connections(context)).map(({ name, provider }) => ({ value: name, summary: provider })),
  combo: async (context) => {
    const store = await context.existingStore();
    if (store === null) return [];
    const { comboStore } = await import('../../combos/store.ts');
    return (await comboStore(store).list()).map(({ name, strategy }) => ({ value: name, summary: strategy }));
  },
  alias: async (context) => {
    const store = await context.existingStore();
    if (store === null) return [];
    const { aliasStore } = await import('../../combos/aliases/store.ts');
    return (await aliasStore(store).list()).map(({ name, target }) => ({ value: name, summary: target }));
  },
  user: async (context) => {
    const store = await context.existingStore();
    if (store === null) return [];
    const { userStore } = await import('../../access/users/users.ts');
    return (await userStore(store).list()).map(({ name, role }) => ({ value: name, summary: role }));
  },
  provider: async () => {
    const { allProviders } = await import('../../providers/index.ts');
    return allProviders().map(({ id, name }) => ({ value: id, summary: name }));
  },
  model: async (context) => {
    const models = (await connections(context)).flatMap(({ models, name, provider }) =>
      (models ?? []).map((model) => ({ value: `${name}/${model}`, summary: provider })),
    );
    return [
      { value: 'auto', summary: 'the active combo' },
      ...(await namesOf.combo(context)),
      ...(await namesOf.alias(context)),
      ...models,
      { value: 'demo/echo', summary: 'demo' },
      { value: 'demo/tools', summary: 'demo' },
    ];
  },
};

/** What is stored of the connections but their credentials, which no completion needs. */
async function connections(context: Context) {
  const store = await context.existingStore();
  if (store === null) return [];
  const rows = await store.db
    .selectFrom('connections')
    .select(['name', 'provider', 'models'])
    .orderBy('name')
    .execute();
  return rows.map(({ models, name, provider }) => ({
    name,
    provider,
    models: models === null ? null : (JSON.parse(models) as string[]),
  }));
}
