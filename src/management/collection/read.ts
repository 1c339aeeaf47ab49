import { envelope } from '../../http/collection/envelope.ts';
import { etagOf, etagOfContent, isFresh } from '../../http/collection/etag.ts';
import { isObject } from '../../http/collection/input.ts';
import { attributesIn, parseListQuery } from '../../http/collection/query.ts';
import { select } from '../../http/collection/select.ts';
import type { Page, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import type { CollectionRequest } from './collection.ts';
import { collectionActions, hrefOf, idOf, shownRow, visibleAttributes } from './shown.ts';

/** A page of the collection. */
export async function listMembers(request: CollectionRequest): Promise<Answer> {
  const { caller, headers, params, resource } = request;
  const attributes = visibleAttributes(request);
  const listing = parseListQuery(params, attributes, resource.filters);
  const { query } = listing;
  const page: Page =
    (await resource.page?.(query, caller)) ??
    select((await resource.list?.(caller)) ?? [], query, attributes);
  const whole = listing.expand || listing.attributes !== null;
  const members = page.rows.map((row) =>
    whole ? shownRow(request, row, attributes, listing.attributes) : { href: hrefOf(request, row.id) },
  );
  const body = envelope(listing, {
    name: resource.name,
    path: hrefOf(request),
    page,
    members,
    actions: collectionActions(request),
  });
  return conditional(headers['if-none-match'], body, etagOfContent(body));
}

/** One member. */
export async function readOne(request: CollectionRequest, id: string): Promise<Answer> {
  const { headers, params } = request;
  const attributes = visibleAttributes(request);
  const only = attributesIn(params, attributes);
  const row = await memberOf(request, id);
  const body = shownRow(request, row, attributes, only);
  return conditional(headers['if-none-match'], body, tagOf(request, row, body));
}

/** Several members at once, by `{id}` or `{href}`. One that is not there is said so in its place. */
export async function readMany(request: CollectionRequest, members: readonly unknown[]): Promise<Answer> {
  const attributes = visibleAttributes(request);
  const only = attributesIn(request.params, attributes);
  const results: object[] = [];
  for (const [index, member] of members.entries()) {
    const id = referenceIn(request, member, index);
    const row = await request.resource.find(id, request.caller);
    results.push(
      row === null
        ? { success: false, message: noMember(request, id).message, code: 'not_found', id }
        : shownRow(request, row, attributes, only),
    );
  }
  return { status: 200, body: { results }, headers: {} };
}

/** What the collection has and takes, for the caller. */
export function describeCollection(request: CollectionRequest): Answer {
  const { resource, rest } = request;
  const attributes = visibleAttributes(request);
  const names = [...attributes.keys()].filter((name) => !name.includes('.'));
  const member = rest.length > 0;
  const verbs = [
    'GET',
    'HEAD',
    'OPTIONS',
    ...(!member || resource.update || resource.remove || resource.actions ? ['POST'] : []),
    ...(member && resource.update ? ['PUT', 'PATCH'] : []),
    ...(member && resource.remove ? ['DELETE'] : []),
  ];
  return {
    status: 200,
    body: {
      attributes: names.toSorted(),
      virtual_attributes: [],
      relationships: [],
      subcollections: [],
      data: { kinds: Object.fromEntries(attributes) },
    },
    headers: { allow: verbs.join(', ') },
  };
}

/**
 * The member of an id or another name.
 * @throws GatewayError `not_found`
 */
export async function memberOf(request: CollectionRequest, id: string): Promise<Row> {
  const row = await request.resource.find(id, request.caller);
  if (row === null) throw noMember(request, id);
  return row;
}

function noMember({ resource }: CollectionRequest, id: string): GatewayError {
  return new GatewayError('not_found', `There is no "${id.slice(0, 100)}" in "${resource.name}"`);
}

/**
 * The id that a member of a list names.
 * @throws GatewayError `invalid_request`
 */
export function referenceIn(request: CollectionRequest, member: unknown, index: number): string {
  const id = isObject(member) ? idOf(request, member) : null;
  if (id !== null) return id;
  const param = `resources[${index}]`;
  const { name } = request.resource;
  throw new GatewayError('invalid_request', `"${param}": must have the id or href of a member of "${name}"`, {
    param,
  });
}

export function tagOf({ resource }: CollectionRequest, row: Row, shown: object): string {
  return etagOf(row, shown, resource.revisionOf?.(row) ?? null);
}

function conditional(ifNoneMatch: string | undefined, body: object, etag: string): Answer {
  const headers = { etag };
  return isFresh(ifNoneMatch, etag) ? { status: 304, body: null, headers } : { status: 200, body, headers };
}
