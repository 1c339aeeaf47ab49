/**
 * How many models have series of their own. A key without restrictions may ask for any name of a model, so the names that
 * come after these count as `other`.
 */
export const MAX_MODELS = 300;

/** Stands for the models that have no series of their own. */
export const OTHER_MODELS = 'other';

/** Gives a model's name while it is among the first, else `other`. */
export function boundedNames(): (provider: string, model: string) => string {
  const namesByLabel = new Map<string, Set<string>>();
  let count = 0;
  return (provider, model) => {
    const models = namesByLabel.get(provider);
    if (models?.has(model)) return model;
    if (count >= MAX_MODELS) return OTHER_MODELS;
    count += 1;
    if (models === undefined) namesByLabel.set(provider, new Set([model]));
    else models.add(model);
    return model;
  };
}
