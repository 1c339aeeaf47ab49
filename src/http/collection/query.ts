import { GatewayError } from '../../lib/error.ts';
import type { ListQuery } from '../resource.ts';
import { type Attributes, kindAt } from './attributes.ts';
import { parseFilters, unknownAttribute } from './filter.ts';

/** Which rows of a collection a caller requested, and how. */
export interface Listing {
  query: ListQuery;
  /** Whether a filter was given. */
  filtered: boolean;
  /** Whole members instead of their hrefs. */
  expand: boolean;
  /** Only these attributes, beside `id` and `href`; null for all. */
  attributes: readonly string[] | null;
  /** No members at all, only counts and links. */
  hide: boolean;
  /** The parameters as they were given, for links to other pages. */
  params: URLSearchParams;
}

/** The most members of a page, and their number by default. */
const MAX_LIMIT = 1_000;

/** Attributes that the engine adds to every member. */
const added: ReadonlySet<string> = new Set(['href', 'actions']);

const parameters: ReadonlySet<string> = new Set([
  'limit',
  'offset',
  'sort_by',
  'sort_order',
  'sort_options',
  'attributes',
  'expand',
  'hide',
  'filter[]',
  'filter',
  'dry_run',
]);
const repeatable: ReadonlySet<string> = new Set(['filter[]', 'filter']);

/**
 * Reads the query of a collection.
 * @param attributes what the caller may name
 * @param filters what a filter may name beside them
 * @throws GatewayError `invalid_request` with the parameter at fault
 */
export function parseListQuery(
  params: URLSearchParams,
  attributes: Attributes,
  filters: Attributes = new Map(),
): Listing {
  checkParameters(params, parameters);
  const filterTexts = [...params.getAll('filter[]'), ...params.getAll('filter')];
  const groups = parseFilters(filterTexts, new Map([...filters, ...attributes]));
  const limit = wholeNumber(params, 'limit') ?? MAX_LIMIT;
  if (limit === 0) throw wrong('limit', '"limit" is at least 1');
  return {
    query: {
      groups,
      sort: sortOf(params, attributes),
      ignoreCase: wordsOf(params, 'sort_options', ['ignore_case']).length > 0,
      limit: Math.min(limit, MAX_LIMIT),
      offset: wholeNumber(params, 'offset') ?? 0,
    },
    filtered: groups.length > 0,
    expand: wordsOf(params, 'expand', ['resources']).length > 0,
    attributes: attributesIn(params, attributes),
    hide: wordsOf(params, 'hide', ['resources']).length > 0,
    params,
  };
}

/**
 * The attributes that `attributes=` names; null where it names none.
 * @throws GatewayError `invalid_request` for one that does not exist or is not the caller's to see
 */
export function attributesIn(params: URLSearchParams, attributes: Attributes): readonly string[] | null {
  const names = listIn(params, 'attributes');
  for (const name of names) {
    if (!attributes.has(name) && !added.has(name)) throw unknownAttribute(name, 'attributes');
  }
  return names.length === 0 ? null : names;
}

/**
 * Refuses unknown parameters: with `dry_run` misspelled, the request would be carried out.
 * @throws GatewayError `invalid_request`
 */
export function checkParameters(params: URLSearchParams, names: ReadonlySet<string>): void {
  for (const name of params.keys()) {
    if (!names.has(name)) throw wrong(name.slice(0, 60), `There is no parameter "${name.slice(0, 60)}" here`);
    if (!repeatable.has(name) && params.getAll(name).length > 1)
      throw wrong(name, `"${name}" is given more than once`);
  }
  const dryRun = params.get('dry_run') ?? 'false';
  if (dryRun !== 'true' && dryRun !== 'false') throw wrong('dry_run', '"dry_run" is true or false');
}

function sortOf(params: URLSearchParams, attributes: Attributes): ListQuery['sort'] {
  const names = listIn(params, 'sort_by');
  const orders = listIn(params, 'sort_order').map((order) => {
    if (order === 'asc' || order === 'ascending') return false;
    if (order === 'desc' || order === 'descending') return true;
    throw wrong('sort_order', '"sort_order" is asc or desc');
  });
  if (orders.length > 1 && orders.length !== names.length)
    throw wrong('sort_order', '"sort_order" is one word for all of "sort_by", or one for each');
  if (orders.length > 0 && names.length === 0) throw wrong('sort_order', '"sort_order" goes with "sort_by"');
  return names.map((attribute, index) => {
    const kind = kindAt(attributes, attribute);
    if (kind === undefined) throw unknownAttribute(attribute, 'sort_by');
    if (kind === 'object' || kind === 'map' || kind === 'list')
      throw wrong('sort_by', `"${attribute}" has no order to sort by`);
    return { attribute, descending: (orders.length > 1 ? orders[index] : orders[0]) === true };
  });
}

function wholeNumber(params: URLSearchParams, name: string): number | null {
  const text = params.get(name);
  if (text === null) return null;
  if (!/^\d{1,15}$/.test(text)) throw wrong(name, `"${name}" is a whole number, in digits`);
  return Number(text);
}

function wordsOf(params: URLSearchParams, name: string, allowed: readonly string[]): string[] {
  const words = listIn(params, name);
  for (const word of words) {
    if (!allowed.includes(word)) throw wrong(name, `"${name}" can be ${allowed.join(', ')}`);
  }
  return words;
}

function listIn(params: URLSearchParams, name: string): string[] {
  const text = params.get(name) ?? '';
  return text.trim() === '' ? [] : text.split(',').map((word) => word.trim());
}

function wrong(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param });
}
