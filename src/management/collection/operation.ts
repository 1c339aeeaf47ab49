import { atFault, isObject, type Members } from '../../http/collection/input.ts';
import type { Action, Resource } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { CollectionRequest } from './collection.ts';

/** What is done to one member of a bulk request, beside the actions of the resource. */
export type BulkVerb =
  | { kind: 'update' }
  | { kind: 'remove' }
  | { kind: 'act'; name: string; action: Action };

/** What a request asks for. Its inputs are as they came: they are looked at once the caller is known to be allowed. */
export type Operation =
  | { kind: 'describe' | 'list' }
  | { kind: 'read'; id: string }
  | { kind: 'query'; members: readonly unknown[] }
  | { kind: 'create'; inputs: readonly unknown[]; listed: boolean }
  | { kind: 'update'; id: string; input: unknown }
  /** `answered`: by POST, which gives a result, where DELETE gives none. */
  | { kind: 'remove'; id: string; answered: boolean }
  | { kind: 'act'; id: string; name: string; action: Action; input: Members }
  | { kind: 'bulk'; verb: BulkVerb; members: readonly unknown[] };

/** More would keep everybody else waiting. */
const MAX_MEMBERS = 200;

const changeParameters: ReadonlySet<string> = new Set(['dry_run']);
const shownParameters: ReadonlySet<string> = new Set(['attributes', 'expand', 'dry_run']);

/**
 * What a request asks for.
 * @throws GatewayError `invalid_request` for what the resource does not do, `not_found` for a path that leads further
 */
export function operationOf(request: CollectionRequest): Operation {
  const { method, resource, rest } = request;
  const [id] = rest;
  if (rest.length > 1)
    throw new GatewayError('not_found', `Nothing is served below a member of "${resource.name}"`);
  if (method === 'OPTIONS') return { kind: 'describe' };
  if (method === 'GET') return id === undefined ? { kind: 'list' } : { kind: 'read', id };
  if (method === 'POST') return id === undefined ? postToCollection(request) : postToMember(request, id);
  if (id !== undefined && (method === 'PUT' || method === 'PATCH') && resource.update)
    return { kind: 'update', id, input: request.body };
  if (id !== undefined && method === 'DELETE' && resource.remove)
    return { kind: 'remove', id, answered: false };
  const what = id === undefined ? `the collection "${resource.name}"` : `members of "${resource.name}"`;
  throw new GatewayError('invalid_request', `${method} is not supported for ${what}`);
}

/** The permission that a request needs. */
export function permissionOf(operation: Operation, resource: Resource): string {
  switch (operation.kind) {
    case 'describe':
    case 'list':
    case 'read':
    case 'query':
      return resource.read;
    case 'create':
      return resource.create?.permission ?? '';
    case 'update':
      return resource.update?.permission ?? '';
    case 'remove':
      return resource.remove?.permission ?? '';
    case 'act':
      return operation.action.permission;
    case 'bulk': {
      const { verb } = operation;
      return verb.kind === 'act' ? verb.action.permission : (resource[verb.kind]?.permission ?? '');
    }
  }
}

/** The parameters that a request accepts; null for a page, which checks its own. */
export function parametersOf(operation: Operation): ReadonlySet<string> | null {
  switch (operation.kind) {
    case 'list':
      return null;
    case 'read':
    case 'query':
      return shownParameters;
    case 'describe':
    case 'create':
    case 'update':
    case 'remove':
    case 'act':
    case 'bulk':
      return changeParameters;
  }
}

/** How the audit log names what is asked for, and of which member. */
export function namesOf(operation: Operation): { action: string; target: string | null } {
  switch (operation.kind) {
    case 'describe':
    case 'list':
    case 'query':
      return { action: 'read', target: null };
    case 'read':
      return { action: 'read', target: operation.id };
    case 'create':
      return { action: 'create', target: null };
    case 'update':
      return { action: 'edit', target: operation.id };
    case 'remove':
      return { action: 'delete', target: operation.id };
    case 'act':
      return { action: operation.name, target: operation.id };
    case 'bulk':
      return { action: verbName(operation.verb), target: null };
  }
}

function verbName(verb: BulkVerb): string {
  switch (verb.kind) {
    case 'update':
      return 'edit';
    case 'remove':
      return 'delete';
    case 'act':
      return verb.name;
  }
}

function postToCollection({ body, caller, resource }: CollectionRequest): Operation {
  if (!isObject(body)) throw atFault('body', 'must be an object');
  const { action: name = 'create', ...others } = body;
  if (name === 'query') return { kind: 'query', members: membersIn(others) };
  if ((name === 'create' || name === 'add') && resource.create) {
    const list = others['resources'];
    if (Array.isArray(list) && !Object.hasOwn(resource.create.input.shape, 'resources')) {
      return { kind: 'create', inputs: membersIn(others), listed: true };
    }
    return { kind: 'create', inputs: [contentOf(others, resource.create.input.shape)], listed: false };
  }
  const verb = verbOf(resource, name);
  if (verb === null) throw unknownAction(resource, name, 'create');
  if (verb.kind === 'act' && verb.action.implied && !namesMembers(others))
    return { ...verb, id: verb.action.implied(caller), input: others };
  return { kind: 'bulk', verb, members: membersIn(others) };
}

function postToMember({ body, resource }: CollectionRequest, id: string): Operation {
  if (!isObject(body)) throw atFault('body', 'must be an object with an action');
  const { action: name, ...others } = body;
  if (name === undefined) throw atFault('action', 'is missing');
  const verb = verbOf(resource, name);
  if (verb === null) throw unknownAction(resource, name, 'edit');
  switch (verb.kind) {
    case 'update':
      return { kind: 'update', id, input: contentOf(others, resource.update?.input.shape ?? {}) };
    case 'remove': {
      const [extra] = Object.keys(others);
      if (extra !== undefined) throw atFault(extra.slice(0, 100), 'is unknown here');
      return { kind: 'remove', id, answered: true };
    }
    case 'act':
      return { ...verb, id, input: contentOf(others, verb.action.input?.shape ?? {}) };
  }
}

/** What an action's name stands for; null where the resource has no such action. */
function verbOf(resource: Resource, name: unknown): BulkVerb | null {
  if (typeof name !== 'string') throw atFault('action', 'must be text');
  const { actions = {} } = resource;
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined;
  if (action !== undefined) return { kind: 'act', name, action };
  if (name === 'edit' && resource.update) return { kind: 'update' };
  return name === 'delete' && resource.remove ? { kind: 'remove' } : null;
}

/** The members that stand in `resource`, or beside `action` where there is none. */
function contentOf(others: Members, shape: object): Members {
  const { resource, ...beside } = others;
  if (resource === undefined || Object.hasOwn(shape, 'resource')) return others;
  if (!isObject(resource)) throw atFault('resource', 'must be an object');
  const [extra] = Object.keys(beside);
  if (extra !== undefined)
    throw atFault(extra.slice(0, 100), 'cannot be combined with "resource", which replaces everything');
  return resource;
}

function namesMembers(content: Members): boolean {
  return Object.hasOwn(content, 'resources') || Object.hasOwn(content, 'resource');
}

/** The members of a bulk request: `resources`, or the one `resource`. */
function membersIn({ resource, resources, ...others }: Members): readonly unknown[] {
  const [extra] = Object.keys(others);
  if (extra !== undefined) throw atFault(extra.slice(0, 100), 'is unknown here');
  if (resources !== undefined && resource !== undefined)
    throw atFault('resource', 'goes without "resources"');
  const members = resource === undefined ? resources : [resource];
  if (!Array.isArray(members)) throw atFault('resources', 'must be a list of objects with id or href');
  if (members.length > MAX_MEMBERS) throw atFault('resources', `has at most ${MAX_MEMBERS} members`);
  return members;
}

function unknownAction(resource: Resource, name: unknown, first: string): GatewayError {
  const parameterNames = [
    ...(first === 'create' ? ['query', ...(resource.create ? ['create'] : [])] : []),
    ...(resource.update ? ['edit'] : []),
    ...(resource.remove ? ['delete'] : []),
    ...Object.keys(resource.actions ?? {}),
  ];
  const choice = parameterNames.length === 0 ? 'there is none' : `there is ${parameterNames.join(', ')}`;
  return atFault('action', `"${String(name).slice(0, 60)}" is unknown here; ${choice}`);
}
