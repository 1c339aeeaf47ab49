import { grantableScopes } from '../access/permissions.ts';
import type { Caller } from '../http/resource.ts';
import { apiVersion } from './api-path.ts';
import type { ManagementContext } from './context.ts';

/** The body of `GET /api`: what this is, who asks, and what there is to ask for. */
export function entryPoint(
  { now, resources, version }: ManagementContext,
  caller: Caller,
  prefix: string,
): object {
  return {
    name: 'Modelgate',
    description: 'The management API of this gateway',
    version: apiVersion,
    versions: [{ name: apiVersion, href: `/api/v${apiVersion}` }],
    identity: {
      userid: caller.name,
      name: caller.name,
      role: caller.role,
      via: caller.via,
      scopes: grantableScopes(caller),
    },
    server_info: { version, time: new Date(now()).toISOString() },
    product_info: { name: 'Modelgate', documentation: `${prefix}/docs` },
    collections: resources
      .filter((resource) => caller.can(resource.read))
      .map(({ name, summary }) => ({ name, href: `${prefix}/${name}`, description: summary }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}
