import { type Dialect, dialectOf } from '../codecs/model/dialect.ts';
import type { Provider } from './provider.ts';

/** A provider is data that does not change: its dialect is put together once. */
const dialects = new WeakMap<Provider, Dialect>();

/** How a provider's servers depart from the formats they speak, the same object every time. */
export function providerDialect(provider: Provider): Dialect {
  const existing = dialects.get(provider);
  if (existing !== undefined) return existing;
  const dialect = dialectOf(provider.dialect);
  dialects.set(provider, dialect);
  return dialect;
}
