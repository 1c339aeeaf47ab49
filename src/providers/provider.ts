import type { Dialect } from '../codecs/dialect.ts';
import type { WireFormat } from '../codecs/model.ts';

/** Where a provider belongs in `providers available --category`. */
export type ProviderCategory = 'api-key' | 'local' | 'generic' | 'demo';

/** How the upstream credential travels. `none` means that the provider asks for no key. */
export type ProviderAuth =
  | { kind: 'bearer'; optional?: boolean }
  | { kind: 'header'; name: string; optional?: boolean }
  | { kind: 'none' };

/** One who answers model requests. Data only: what differs between providers stands here, never in code. */
export interface Provider {
  id: string;
  name: string;
  category: ProviderCategory;
  website: string;
  /** Root of the API, without a trailing slash; null when each connection must name its own. */
  baseUrl: string | null;
  auth: ProviderAuth;
  /** Auth for one format where it differs from `auth` (an Anthropic surface that wants `x-api-key`). */
  formatAuth?: Partial<Record<WireFormat, ProviderAuth>>;
  /** Path below `baseUrl` for each wire format that the provider speaks, `/v1` included. */
  formats: Partial<Record<WireFormat, string>>;
  /** The formats in which it counts the tokens of a request ahead (`codecs/counting.ts`). */
  counts?: readonly WireFormat[];
  /**
   * How it compacts conversations of the responses format: `endpoint` below the path of the format (`/compact`),
   * `item` for the input item `compaction_trigger`. Elsewhere the gateway does it.
   */
  compacts?: readonly ('endpoint' | 'item')[];
  /** Which of its formats others are translated into, where that is not the usual one: the one in which it says most. */
  preferred?: WireFormat;
  /** It keeps answers of the responses format for `previous_response_id`. Those of others are kept by the gateway. */
  keepsResponses?: true;
  /** How it departs from the formats it speaks; what is not said is as in `plainDialect`. */
  dialect?: Partial<Dialect>;
  /** Path below `baseUrl` that lists models (`{data:[{id}]}`), or null. A GET there also proves the credential. */
  modelsPath: string | null;
  /** Headers sent with every request unless the caller sent them. */
  headers?: Readonly<Record<string, string>>;
  /**
   * `all`: the caller's own headers go along, for the vendor whose format and betas they belong to.
   * `standard`: only content negotiation, for others, so that no client identity leaks to a third party.
   */
  forwardHeaders: 'all' | 'standard';
  /** Environment variables that commonly hold a key for it, most usual first. */
  keyVariables: readonly string[];
  /** Well-known port on loopback of a local server. */
  localPort?: number;
  /** Id of its rows in the price table; null when its models cost nothing here (local servers, demo). */
  prices: string | null;
  /** `free`: known to cost nothing. `unknown`: no price is known unless the table or an override has one. */
  unpriced: 'free' | 'unknown';
  /** A model to try first, for `setup` and `providers test`. */
  suggestedModel: string | null;
}
