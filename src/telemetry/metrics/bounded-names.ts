/**
 * How many models have series of their own. A key without restrictions may ask for any name of a model, so the names that
 * come after these count as `other`.
 */
export const MAX_MODELS = 300;

/** Gives a model's name while it is among the first, else `other`. */
export function boundedNames(): (provider: string, model: string) => string {
  const known = new Set<string>();
  return (provider, model) => {
    const name = `${provider}/${model}`;
    if (known.has(name)) return model;
    if (known.size >= MAX_MODELS) return 'other';
    known.add(name);
    return model;
  };
}
