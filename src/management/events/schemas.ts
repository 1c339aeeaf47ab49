import { type EventName, eventTypes, isEventName, nameOfType, typeOf } from '../../events/types/catalogue.ts';
import { jsonSchemaOf } from '../../events/types/schema-document.ts';
import { GatewayError } from '../../lib/error.ts';
import { checkAccept } from '../guard/origin.ts';
import { anyObject, failures, json, text } from '../openapi/fixed.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import type { EventsRoute } from './route.ts';

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

/** The types of the gateway's own events, and the JSON Schema of each, by type or by name. */
export const schemaRoutes: readonly EventsRoute[] = [
  {
    method: 'GET',
    path: '/schemas',
    permission: 'api:read',
    parameters: [],
    operation: () => ({
      operationId: 'list_event_types',
      summary: 'The types of events that the gateway itself emits',
      responses: { 200: { description: 'Every type', content: json(list) }, ...failures },
    }),
    async run({ exchange, prefix }) {
      checkAccept(exchange.request);
      return { status: 200, body: { types: listed(prefix) }, headers: {} };
    },
  },
  {
    method: 'GET',
    path: '/schemas/{id}',
    permission: 'api:read',
    parameters: [],
    operation: () => ({
      operationId: 'get_event_schema',
      summary: 'The JSON Schema of the data of a type. The type is named in full, or like `budget.exceeded`',
      responses: {
        200: { description: 'JSON Schema 2020-12', content: json(anyObject) },
        ...failures,
      },
    }),
    async run({ exchange, id }) {
      checkAccept(exchange.request);
      const name = isEventName(id) ? id : nameOfType(id);
      if (name === null)
        throw new GatewayError('not_found', `There is no type "${id.slice(0, 100)}" of events here`);
      return { status: 200, body: jsonSchemaOf(name), headers: {} };
    },
  },
];
