import { readFileSync } from 'node:fs';
import type { WireFormat } from '../codecs/wire-format.ts';
import type { Provider, ProviderAuth, ProviderCategory } from './provider.ts';

/** A provider of the data set models.dev, as `scripts/build-catalog.ts` writes it. What is usual is left out. */
export interface DirectoryEntry {
  id: string;
  name: string;
  /** Absent: `api-key`. */
  category?: ProviderCategory;
  website: string;
  documentation: string;
  /** Absent where `baseUrlOf` says how it is made of parameters. */
  baseUrl?: string;
  baseUrlOf?: string;
  /** Id of a provider with a file of its own whose API this is, at another address; what the entry has not is as there. */
  like?: string;
  /** Absent: a bearer token. */
  auth?: ProviderAuth;
  formatAuth?: Partial<Record<WireFormat, ProviderAuth>>;
  formats?: Partial<Record<WireFormat, string>>;
  modelsPath?: string | null;
  keyVariables: string[];
  localPort?: number;
  unpriced?: 'free';
  freeTier?: string;
  zeroIsFree?: true;
  /** Its id in the data set, where that is another. */
  modelsDev?: string;
}

let read: readonly DirectoryEntry[] | null = null;

/** The entries of `directory.gen.json`, read when the first is needed: about 35 KB. */
export function directoryEntries(): readonly DirectoryEntry[] {
  read ??= JSON.parse(
    readFileSync(new URL('./directory.gen.json', import.meta.url), 'utf8'),
  ) as DirectoryEntry[];
  return read;
}

/**
 * A provider of the directory with all its fields.
 * @param like the provider whose API it has, where the entry names one
 */
export function providerOfEntry(entry: DirectoryEntry, like: Provider | undefined): Provider {
  const { id, name, baseUrl = null, baseUrlOf, website, documentation, keyVariables } = entry;
  const identity = {
    id,
    name,
    website,
    documentation,
    baseUrl,
    keyVariables,
    modelsDev: entry.modelsDev ?? id,
    ...(entry.zeroIsFree === true && { zeroIsFree: true as const }),
    ...(entry.freeTier !== undefined && { freeTier: entry.freeTier }),
  };
  const { formats = like?.formats ?? {}, modelsPath = null } = entry;
  const address = {
    formats,
    ...(baseUrlOf !== undefined && { baseUrlOf }),
    ...(entry.formatAuth !== undefined && { formatAuth: entry.formatAuth }),
    ...(formats['anthropic-messages'] !== undefined && { headers: { 'anthropic-version': '2023-06-01' } }),
  };
  if (like !== undefined) {
    // Prices, balances and free tiers belong to the account, which is another one here.
    const { balance: _, freeTier: __, ...api } = like;
    return { ...api, ...identity, ...address, prices: null, suggestedModel: null };
  }
  return {
    ...identity,
    ...address,
    category: entry.category ?? 'api-key',
    auth: entry.auth ?? { kind: 'bearer' },
    modelsPath,
    ...(entry.localPort !== undefined && { localPort: entry.localPort }),
    // As for any other server of the chat format: what is refused is learned.
    dialect: { reasoningField: 'reasoning_content', cacheFields: true },
    forwardHeaders: 'standard',
    prices: null,
    unpriced: entry.unpriced ?? 'unknown',
    suggestedModel: null,
  };
}
