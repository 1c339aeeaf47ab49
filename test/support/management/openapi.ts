import assert from 'node:assert/strict';
import type { Managed } from './management.ts';

/** One thing that the management API's own document says can be asked for. */
export interface ApiOperation {
  /** For messages: `POST /api/keys/{id} disable`. */
  title: string;
  /** In upper case. */
  method: string;
  path: string;
  /** Of a request that does one of several things; else null. */
  action: string | null;
  /** Null where everybody may who is let in, or nobody need be. */
  permission: string | null;
  /** The roles that may, where the document says so. */
  having: string[] | null;
  /** Whether it asks for no credentials. */
  open: boolean;
  /** Whether it answers for as long as somebody watches. */
  streams: boolean;
  /** The name of the schema of a member of the list that it answers. */
  item: string | null;
}

interface Documented {
  security?: object[];
  responses: Record<
    string,
    { content?: Record<string, { schema: { properties?: Record<string, { items?: { $ref?: string } }> } }> }
  >;
  'x-permission'?: string;
  'x-roles'?: string[];
  'x-actions'?: Record<string, string>;
}

const verbs = ['get', 'put', 'post', 'patch', 'delete'];

/** All of `GET /api/openapi.json`. */
export async function operationsOf(at: Managed): Promise<ApiOperation[]> {
  const reply = await at.call('GET', '/api/openapi.json', { token: at.ownerKey() });
  assert.equal(reply.status, 200, reply.text);
  const paths = reply.json()['paths'] as Record<string, Record<string, Documented>>;
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([verb]) => verbs.includes(verb))
      .flatMap(([verb, documented]) => operationsAt(verb.toUpperCase(), path, documented)),
  );
}

function operationsAt(method: string, path: string, documented: Documented): ApiOperation[] {
  const { responses, security } = documented;
  const schema = responses['200']?.content?.['application/json']?.schema;
  const common = {
    method,
    path,
    open: security?.length === 0,
    streams: responses['200']?.content?.['text/event-stream'] !== undefined,
    item: schema?.properties?.['resources']?.items?.$ref?.split('/').at(-1)?.replace(/Part$/, '') ?? null,
  };
  const actions = Object.entries(documented['x-actions'] ?? {});
  if (actions.length > 0)
    return actions.map(([action, permission]) => ({
      ...common,
      action,
      permission,
      having: null,
      title: `${method} ${path} ${action}`,
    }));
  return [
    {
      ...common,
      action: null,
      title: `${method} ${path}`,
      permission: documented['x-permission'] ?? null,
      having: documented['x-roles'] ?? null,
    },
  ];
}
