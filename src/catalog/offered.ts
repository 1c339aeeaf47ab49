import type { Provider } from '../providers/provider.ts';
import type { Catalog } from './catalog.ts';

/** What is looked at of a connection. */
export interface ModelSource {
  /** What the upstream listed when it was last tested; null when it never did. */
  models: readonly string[] | null;
  defaultModel: string | null;
}

/** The models of a connection: what its upstream listed, else what the catalogue has; the default model always. */
export function offeredModels(
  { defaultModel, models }: ModelSource,
  provider: Provider,
  catalog: Pick<Catalog, 'models'>,
): string[] {
  const offered = models ?? catalog.models(provider);
  const all = defaultModel === null || offered.includes(defaultModel) ? offered : [defaultModel, ...offered];
  return [...new Set(all)];
}
