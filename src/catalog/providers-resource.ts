import type { Resource, Row } from '../http/resource.ts';
import { allProviders, findProvider } from '../providers/index.ts';
import { isBuiltIn, type Provider, type ProviderAuth } from '../providers/provider.ts';
import { providerRow } from './row-schema.ts';

/** What is looked at of a connection. */
export interface ConnectionOfProvider {
  provider: string;
  name: string;
  active: boolean;
}

export interface ProvidersInput {
  connections(): Promise<readonly ConnectionOfProvider[]>;
}

/** The catalogue of providers, connected or not. */
export function providersResource({ connections }: ProvidersInput): Resource {
  return {
    name: 'providers',
    title: 'Providers',
    summary: 'The providers that can be connected: the catalog of this version.',
    record: providerRow,
    read: 'providers:read',
    async list() {
      const existing = await connections();
      return allProviders().map((provider) => rowOf(provider, existing));
    },
    async find(id) {
      const provider = findProvider(id);
      return provider === undefined ? null : rowOf(provider, await connections());
    },
  };
}

function rowOf(provider: Provider, connections: readonly ConnectionOfProvider[]): Row {
  const own = connections.filter((connection) => connection.provider === provider.id);
  const builtIn = isBuiltIn(provider);
  return {
    id: provider.id,
    name: provider.name,
    category: provider.category,
    formats: Object.keys(provider.formats),
    base_url: builtIn ? null : provider.baseUrl,
    needs_base_url: provider.baseUrl === null,
    base_url_of: provider.baseUrlOf ?? null,
    auth: authRow(provider.auth),
    needs_key: provider.auth.kind !== 'none' && provider.auth.optional !== true,
    key_variables: provider.keyVariables,
    local_port: provider.localPort ?? null,
    free: provider.unpriced === 'free',
    free_tier: provider.freeTier ?? null,
    suggested_model: provider.suggestedModel,
    website: provider.website,
    documentation: provider.documentation,
    connected: builtIn || own.some(({ active }) => active),
    connections: own.map(({ name }) => name),
  };
}

/** How a key travels there, as it is shown. */
export function authRow(auth: ProviderAuth): { kind: ProviderAuth['kind']; header: string | null } {
  switch (auth.kind) {
    case 'bearer':
      return { kind: 'bearer', header: 'authorization' };
    case 'header':
      return { kind: 'header', header: auth.name };
    case 'none':
      return { kind: 'none', header: null };
  }
}
