import { type EventName, eventTypes, isEventName, nameOfType, typeOf } from '../../events/types/catalogue.ts';
import { jsonSchemaOf } from '../../events/types/schema-document.ts';
import { checkParameters } from '../../http/collection/query.ts';
import type { Caller } from '../../http/resource.ts';
import type { Exchange } from '../../http/server/server.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import type { ApiPath } from '../api-path.ts';
import { checkAccept } from '../guard/origin.ts';
import { failures, json, text } from '../openapi/fixed.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { whoMay } from '../openapi/paths.ts';
import type { PathItem } from '../openapi/reference.ts';
import { notAllowed } from '../request-body.ts';

const permission = 'api:read';

/**
 * Serves `/api/events/schemas`, and below it the JSON Schema of each type of the gateway's own events, by type or by name.
 * @throws GatewayError
 */
export function serveEventSchemas(exchange: Exchange, { prefix, rest }: ApiPath, caller: Caller): Answer {
  const { method = 'GET' } = exchange.request;
  if (method === 'OPTIONS') return { status: 204, body: null, headers: { allow: 'GET, HEAD, OPTIONS' } };
  if (method !== 'GET' && method !== 'HEAD') throw notAllowed(method);
  if (!caller.can(permission)) throw new GatewayError('forbidden', `This needs the permission ${permission}`);
  checkAccept(exchange.request);
  checkParameters(new URLSearchParams(exchange.query), new Set());
  const [, wanted, ...deeper] = rest;
  if (wanted === undefined) return { status: 200, body: { types: listed(prefix) }, headers: {} };
  const name = isEventName(wanted) ? wanted : nameOfType(wanted);
  if (name === null || deeper.length > 0)
    throw new GatewayError('not_found', `There is no type "${wanted.slice(0, 100)}" of events here`);
  return { status: 200, body: jsonSchemaOf(name), headers: {} };
}

function listed(prefix: string): object[] {
  return (Object.keys(eventTypes) as EventName[]).map((name) => ({
    name,
    type: typeOf(name),
    when: eventTypes[name].when,
    href: `${prefix}/events/schemas/${typeOf(name)}`,
  }));
}

const list: JsonSchema = {
  type: 'object',
  required: ['types'],
  properties: {
    types: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'type', 'when', 'href'],
        properties: { name: text, type: text, when: text, href: text },
      },
    },
  },
};

/** The paths in the OpenAPI document. */
export function eventSchemaPaths(): Record<string, PathItem> {
  return {
    '/api/events/schemas': {
      get: {
        operationId: 'list_event_types',
        summary: 'The types of events that the gateway itself emits',
        tags: ['events'],
        ...whoMay(permission),
        responses: { 200: { description: 'Every type', content: json(list) }, ...failures },
      },
    },
    '/api/events/schemas/{type}': {
      parameters: [
        {
          name: 'type',
          in: 'path',
          required: true,
          description: 'The type, or its name: `budget.exceeded`',
          schema: text,
        },
      ],
      get: {
        operationId: 'get_event_schema',
        summary: 'The JSON Schema of the data of a type',
        tags: ['events'],
        ...whoMay(permission),
        responses: {
          200: { description: 'JSON Schema 2020-12', content: json({ type: 'object' }) },
          ...failures,
        },
      },
    },
  };
}
