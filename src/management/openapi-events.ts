import type { EventsRoute } from './events/route.ts';
import { eventsRoutes } from './events/routes.ts';
import { flag, text } from './openapi/fixed.ts';
import type { JsonSchema } from './openapi/json-schema.ts';
import { permissionText } from './openapi/paths.ts';
import type { Operation, PathItem } from './openapi/reference.ts';

const tag = 'events';

/** What the tag of these paths says. */
export const eventsTag = {
  name: tag,
  description: 'The event engine: its configuration, its status, and the types of the gateway’s own events',
};

/** The paths below `/api/events`. */
export function eventsPaths(): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const route of eventsRoutes) {
    const path = `/api/events${route.path}`;
    const item = paths[path] ?? (path.includes('{id}') ? { parameters: [idParameter] } : {});
    paths[path] = { ...item, [route.method.toLowerCase()]: operationOf(route) };
  }
  return paths;
}

const idParameter = { name: 'id', in: 'path', required: true, description: 'What it is about', schema: text };
const idempotencyHeader = {
  name: 'Idempotency-Key',
  description:
    'Chosen by the client. A request with the same key is carried out only once within a day, and gets the same answer',
};

/** Of the parameters that are no text, by name. */
const parameterSchemas: Readonly<Record<string, JsonSchema>> = {
  dry_run: flag,
  limit: { type: 'integer', minimum: 1 },
};

function operationOf({ once, operation, parameters, permission }: EventsRoute): Operation {
  const { headers = [], ...rest } = operation();
  return {
    ...rest,
    tags: [tag],
    ...permissionText(permission),
    parameters: [
      ...parameters.map((one) => ({ ...one, in: 'query', schema: parameterSchemas[one.name] ?? text })),
      ...[...headers, ...(once === true ? [idempotencyHeader] : [])].map((one) => ({
        ...one,
        in: 'header',
        schema: text,
      })),
    ],
  };
}
