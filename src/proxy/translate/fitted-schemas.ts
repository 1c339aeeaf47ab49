import type { JsonObject } from '../../codecs/json/values.ts';
import { type FitSchema, type FittedSchema, fitSchema } from '../../codecs/schema/fit.ts';
import { full, type SchemaRules } from '../../codecs/schema/rules.ts';
import { createLruCache } from '../../responses/lru-cache.ts';

/** Characters of the schemas that are remembered: some dozen sets of tools as large as the largest of known clients. */
const MAX_CHARACTERS = 1_000_000;

interface Kept {
  fitted: FittedSchema;
  size: number;
}

/**
 * `fitSchema` for tools, which agents send again with every request: what was fitted before is not fitted once more, for
 * writing a schema as text costs a tenth of that; and one that was not even read anew (`settled.ts`) is known by itself. In memory
 * alone, the last used up to a bound.
 */
export function createFittedSchemas(maxCharacters = MAX_CHARACTERS): FitSchema {
  const known = createLruCache<Kept>(maxCharacters, ({ size }) => size);
  const names = new Map<SchemaRules, number>();
  const byObject = new WeakMap<JsonObject, Map<SchemaRules, FittedSchema>>();
  const fitted: FitSchema = (schema, rules, path) => {
    const text = rules === full ? null : textOfSchema(schema);
    if (text === null) return fitSchema(schema, rules, path);
    const name = names.get(rules) ?? names.size;
    names.set(rules, name);
    const key = `${name}${text}`;
    const before = known.get(key);
    if (before !== undefined) return before.fitted;
    const made = fitSchema(schema, rules, path);
    known.set(key, { fitted: made, size: key.length });
    return made;
  };
  return (schema, rules, path) => {
    const before = byObject.get(schema)?.get(rules);
    if (before !== undefined) return before;
    const made = fitted(schema, rules, path);
    const others = byObject.get(schema);
    if (others === undefined) byObject.set(schema, new Map([[rules, made]]));
    else others.set(rules, made);
    return made;
  };
}

/** Null for one that is nested too deeply to be written. */
function textOfSchema(schema: JsonObject): string | null {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}
