/** As much of JSON Schema as the API's document uses. */
export type JsonSchema = { properties?: Record<string, JsonSchema>; $ref?: string } & Record<string, unknown>;

/** What a value may be, in the words of JSON: `string or null`, `list of {name: string, size: integer}`. */
export function schemaText(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1);
  if ('const' in schema) return JSON.stringify(schema['const']);
  const { anyOf, enum: values, oneOf, type } = schema;
  if (Array.isArray(values)) return oneOfThese(values.map((value) => JSON.stringify(value)));
  const variants = anyOf ?? oneOf;
  if (Array.isArray(variants)) return oneOfThese(variants.map(schemaText));
  if (Array.isArray(type)) return oneOfThese(type.map((one) => schemaText({ ...schema, type: one })));
  if (type === 'array') return listText(schema['items']);
  if (type === 'object') return objectText(schema);
  if (type === 'string') return schema['format'] === 'date-time' ? 'time' : 'string';
  return typeof type === 'string' ? type : 'anything';
}

function oneOfThese(texts: readonly string[]): string {
  return [...new Set(texts)].join(' or ');
}

function listText(items: unknown): string {
  const of = isSchema(items) ? schemaText(items) : 'anything';
  if (of === 'anything') return 'list';
  return of.includes(' or ') && !of.startsWith('{') ? `list of (${of})` : `list of ${of}`;
}

function objectText({ properties = {} }: JsonSchema): string {
  const members = Object.entries(properties).map(([name, member]) => `${name}: ${schemaText(member)}`);
  return members.length === 0 ? 'object' : `{${members.join(', ')}}`;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
