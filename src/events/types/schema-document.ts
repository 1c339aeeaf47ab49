import { z } from 'zod';
import { type EventName, eventTypes, schemaId, typeOf } from './catalogue.ts';

/** The JSON Schema (2020-12) of the data of the events of a name. */
export function jsonSchemaOf(name: EventName): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(eventTypes[name].data);
  return { $schema, $id: schemaId(name), title: typeOf(name), description: eventTypes[name].when, ...schema };
}
