import type { JsonObject } from '../json/values.ts';

/** Longer constraints are left out: a description is no place for a document. */
const MAX_CONSTRAINT_CHARACTERS = 240;

/** The schema with constraints that the target has no keyword for in its description, as the vendors' own SDKs do. */
export function withDescribedConstraints(
  schema: JsonObject,
  constraints: readonly (readonly [string, unknown])[],
): JsonObject {
  const texts = constraints
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .filter((text) => text.length <= MAX_CONSTRAINT_CHARACTERS && !text.includes('"$ref"'));
  if (texts.length === 0) return schema;
  const { description } = schema;
  const before = typeof description === 'string' && description !== '' ? `${description}\n\n` : '';
  return { ...schema, description: `${before}{${texts.join(', ')}}` };
}
