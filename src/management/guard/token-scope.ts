import type { Caller, Resource, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';

/**
 * A resource as a caller reaches it: where their token narrows the collection, the other members are not there, and none
 * can be made.
 */
export function withinTokenScope(resource: Resource, caller: Caller): Resource {
  const { page, ...rest } = resource;
  const { create, list, name } = rest;
  if (!caller.narrowed(name)) return resource;
  const reached = (row: Row) => caller.reaches(name, row);
  return {
    ...rest,
    async find(id) {
      const row = await resource.find(id, caller);
      return row !== null && reached(row) ? row : null;
    },
    ...(list === undefined ? {} : { list: async () => (await list(caller)).filter(reached) }),
    ...(page === undefined || list !== undefined
      ? {}
      : { page: () => Promise.reject(beyond('list a collection that is read in pages')) }),
    ...(create === undefined
      ? {}
      : { create: { ...create, run: () => Promise.reject(beyond('make new members')) } }),
  };
}

function beyond(what: string): GatewayError {
  return new GatewayError('forbidden', `The selectors of this token do not let it ${what}`);
}
