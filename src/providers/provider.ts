import type { Dialect } from '../codecs/model/dialect.ts';
import type { WireFormat } from '../codecs/wire-format.ts';
import type { FaultRow } from './fault.ts';

/** Where a provider belongs in `providers available --category`. */
export type ProviderCategory = 'api-key' | 'cloud' | 'local' | 'generic' | 'demo' | 'agent';

/** How the upstream credential travels. `none` means that the provider asks for no key. */
export type ProviderAuth =
  | { kind: 'bearer'; optional?: boolean }
  | { kind: 'header'; name: string; optional?: boolean }
  | { kind: 'none' };

/** A credential that is more than a key, entered as a JSON document. */
export type AccountKind = 'service-account' | 'client-credentials' | 'aws-keys';

/** Which of them a provider takes beside a key, and what each is good for there. */
export interface Accounts {
  /** Google: a signed statement is exchanged for an access token of this scope. */
  'service-account'?: { scope: string };
  /** OAuth 2.0: the application's own token. `{tenant_id}` is put in. */
  'client-credentials'?: { tokenUrl: string; scope?: string };
  /** AWS: each request is signed (Signature Version 4) for this service. */
  'aws-keys'?: { service: string };
}

/** What of a login at the provider is always the same there (RFC 6749). A connection may say otherwise. */
export interface LoginDefaults {
  issuer?: string;
  scopes?: readonly string[];
  /** Sent to the page where people log in, e.g. so that it gives a refresh token. */
  parameters?: Readonly<Record<string, string>>;
}

/** How a format departs here from the way in which its vendor is asked: what the body says there stands in the path. */
export interface ModelInPath {
  /** Behind the path of the format, `{model}` replaced. */
  whole: string;
  stream: string;
  /** Members of the body that have no place here. */
  without: readonly string[];
  /** Headers of the client that mean nothing here. */
  withoutHeaders?: readonly string[];
  /** Members that every body has. */
  members?: Readonly<Record<string, string>>;
  /** What the header `anthropic-beta` names goes into this field, as a list of those that are known here. */
  betas?: { member: string; supported: readonly string[] };
}

/**
 * A GET that returns how much money an account has left, and where in its answer: JSON pointers (RFC 6901) to a number,
 * or to a text that holds one.
 */
export interface BalanceSource {
  /** Path below `baseUrl`. */
  path: string;
  /** To a list with one entry for each currency; the other pointers begin at an entry then. */
  each?: string;
  remaining: string;
  /** Of how much that is left; null there means that there is no limit. */
  limit?: string;
  /** ISO 4217, or where the answer says it. */
  currency: string | { at: string };
}

/** What its documentation says that tokens cost in a service tier, against the usual price. */
export interface TierPrice {
  factor: number;
  /** Ids in lower case that it holds for; all where it is left out. */
  models?: RegExp;
  /** Where that is said and when it was read: `openai.com 2026-11-23`. */
  source: string;
}

/** One who answers model requests. Data only: what differs between providers stands here, never in code. */
export interface Provider {
  id: string;
  name: string;
  category: ProviderCategory;
  /** Where accounts and keys are made. */
  website: string;
  /** The reference of its API. */
  documentation: string;
  /** Root of the API, without a trailing slash; null when each connection must name its own. */
  baseUrl: string | null;
  auth: ProviderAuth;
  /** Auth for one format where it differs from `auth` (an Anthropic surface that requires `x-api-key`). */
  formatAuth?: Partial<Record<WireFormat, ProviderAuth>>;
  accounts?: Accounts;
  login?: LoginDefaults;
  /**
   * The base URL where the connection names none, with `{name}` for a field of a credential that is a JSON document, or
   * for a parameter that is given when the connection is made.
   */
  baseUrlOf?: string;
  /** Path below `baseUrl` for each wire format that the provider speaks, `/v1` included. */
  formats: Partial<Record<WireFormat, string>>;
  /** The formats in which it counts the tokens of a request ahead (`codecs/usage/counting.ts`). */
  counts?: readonly WireFormat[];
  /**
   * How it compacts conversations of the responses format: `endpoint` below the path of the format (`/compact`),
   * `item` for the input item `compaction_trigger`. Elsewhere the gateway does it.
   */
  compacts?: readonly ('endpoint' | 'item')[];
  modelInPath?: Partial<Record<WireFormat, ModelInPath>>;
  /** Put behind every path, unless the base URL has a query. */
  query?: string;
  /** Which of its formats others are translated into, where that is not the usual one: the one in which it says most. */
  preferred?: WireFormat;
  /** It keeps answers of the responses format for `previous_response_id`. Those of others are kept by the gateway. */
  keepsResponses?: true;
  /** How it departs from the formats it speaks; what is not said is as in `plainDialect`. */
  dialect?: Partial<Dialect>;
  /** Path below `baseUrl` that lists models (`{data:[{id}]}`), or null. A GET there also proves the credential. */
  modelsPath: string | null;
  /** Where it reports how much money is left, if it does. */
  balance?: BalanceSource;
  /** Headers sent with every request unless the client sent them. */
  headers?: Readonly<Record<string, string>>;
  /**
   * `all`: the client's own headers go along, for the vendor whose format and betas they belong to.
   * `standard`: only content negotiation, for others, so that no client identity leaks to a third party.
   */
  forwardHeaders: 'all' | 'standard';
  /** Environment variables that commonly hold a key for it, most usual first. */
  keyVariables: readonly string[];
  /** Well-known port on loopback of a local server. */
  localPort?: number;
  /** Page that says what may be used there without paying. */
  freeTier?: string;
  /** Its id in the data set models.dev; absent where that does not have it. */
  modelsDev?: string;
  /**
   * `false`: what the data set lists is not offered by itself. Some of it is reached in another way than this, or requests
   * name deployments whose names their owners choose.
   */
  offersCatalog?: false;
  /** It sells models that others make, at prices that change with theirs. */
  resells?: true;
  /**
   * Prices of 0 in the data set are meant: a free service, or a plan that is paid by the month. Elsewhere they may as well
   * stand for a price by another unit, and count as unknown unless the model's own name says that it is free.
   */
  zeroIsFree?: true;
  /** Id of its rows in the price table; null when its models cost nothing here (local servers, demo). */
  prices: string | null;
  /** `free`: known to cost nothing. `unknown`: no price is known unless the table or an override has one. */
  unpriced: 'free' | 'unknown';
  /** What service tiers cost for which the data set has no price. Of each the first row that fits counts. */
  tiers?: Readonly<Record<string, readonly TierPrice[]>>;
  /** What its errors mean where that is another than usual (`health/faults.ts`). */
  faults?: readonly FaultRow[];
  /** Its rate limits are counted for each model of an account by itself. */
  limitsPerModel?: true;
  /** A model to try first, for `setup` and `providers test`. */
  suggestedModel: string | null;
}

/** Whether the gateway itself answers for a provider: no connection to it is made, and none is needed. */
export function isBuiltIn({ category }: Pick<Provider, 'category'>): boolean {
  return category === 'demo' || category === 'agent';
}
