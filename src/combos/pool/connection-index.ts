import type { Catalog } from '../../catalog/catalog.ts';
import type { Provider } from '../../providers/provider.ts';
import type { Target } from '../target.ts';
import type { ModelFacts } from './pool.ts';

/** An active connection with its provider's data, in the order in which it is preferred. */
export type Route = Pick<Target, 'connection' | 'provider'>;

/** The active connections, and what is known of their models. */
export interface ConnectionIndex {
  byName: ReadonlyMap<string, Route>;
  byProvider: ReadonlyMap<string, readonly Route[]>;
  /** What is known of a model of this provider; null when the provider's catalogue has none of that id. */
  factsOf: (provider: Provider, model: string) => ModelFacts | null;
  /** True for the id of any provider of the catalogue, connected or not. */
  isProvider: (id: string) => boolean;
  catalog: Pick<Catalog, 'priceOf' | 'abilities' | 'offers'>;
}
