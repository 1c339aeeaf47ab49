import type { JsonObject } from '../../codecs/json/values.ts';
import { type FitSchema, type FittedSchema, fitSchema } from '../../codecs/schema/fit.ts';
import { full, type SchemaRules } from '../../codecs/schema/rules.ts';
import { createLruCache } from '../../responses/lru-cache.ts';

/** Characters of the schemas that are remembered: some dozen sets of tools as large as the largest of known clients. */
const MAX_CHARACTERS = 1_000_000;

interface CachedSchema {
  fitted: FittedSchema;
  size: number;
}

/**
 * `fitSchema` for tools, which agents send again with every request: what was fitted before is not fitted once more, for
 * writing a schema as text costs a tenth of that; and one that was not even read anew (`settled.ts`) is known by itself. In memory
 * alone, the last used up to a bound.
 */
export function createFittedSchemas(maxCharacters = MAX_CHARACTERS): FitSchema {
  const cache = createLruCache<CachedSchema>(maxCharacters, ({ size }) => size);
  const names = new Map<SchemaRules, number>();
  const byObject = new WeakMap<JsonObject, Map<SchemaRules, FittedSchema>>();
  const fitted: FitSchema = (schema, rules, path) => {
    const text = rules === full ? null : textOfSchema(schema);
    if (text === null) return fitSchema(schema, rules, path);
    const name = names.get(rules) ?? names.size;
    names.set(rules, name);
    const key = `${name}${text}`;
    const cached = cache.get(key);
    if (cached !== undefined) return cached.fitted;
    const result = fitSchema(schema, rules, path);
    cache.set(key, { fitted: result, size: key.length });
    return result;
  };
  return (schema, rules, path) => {
    const cached = byObject.get(schema)?.get(rules);
    if (cached !== undefined) return cached;
    const result = fitted(schema, rules, path);
    const others = byObject.get(schema);
    if (others === undefined) byObject.set(schema, new Map([[rules, result]]));
    else others.set(rules, result);
    return result;
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
