import type { PriceOverride } from '../config.ts';
import { GatewayError } from '../lib/error.ts';
import { findProvider } from '../providers/index.ts';

/** Finds what the owner says a model costs, or null. */
export type OverrideFinder = (provider: string, model: string) => PriceOverride | null;

/**
 * Prepares the overrides of the configuration. A name is `provider/model` or, for every provider, `*` in place of the provider; the model may end
 * in `*`. The named provider wins over `*`, the full name over a pattern, the longer pattern over the shorter.
 * Names compare without regard to case.
 * @throws GatewayError `invalid_request` for a name whose provider does not exist.
 */
export function overrideFinder(overrides: Readonly<Record<string, PriceOverride>>): OverrideFinder {
  const exact = new Map<string, PriceOverride>();
  const patterns: { start: string; price: PriceOverride }[] = [];
  for (const [name, price] of Object.entries(overrides)) {
    checkProvider(name);
    const lower = name.toLowerCase();
    if (lower.endsWith('*')) patterns.push({ start: lower.slice(0, -1), price });
    else exact.set(lower, price);
  }
  patterns.sort((a, b) => b.start.length - a.start.length);
  const find = (name: string): PriceOverride | null =>
    exact.get(name) ?? patterns.find(({ start }) => name.startsWith(start))?.price ?? null;
  if (exact.size === 0 && patterns.length === 0) return () => null;
  // Asked for every request; the models that are in use are few, the names that clients make up may be many.
  const overrideCache = new Map<string, PriceOverride | null>();
  return (provider, model) => {
    const name = `${provider}/${model}`;
    const existing = overrideCache.get(name);
    if (existing !== undefined) return existing;
    const lower = model.toLowerCase();
    const price = find(`${provider}/${lower}`) ?? find(`*/${lower}`);
    if (overrideCache.size < MAX_FOUND) overrideCache.set(name, price);
    return price;
  };
}

const MAX_FOUND = 1_000;

function checkProvider(name: string): void {
  const provider = name.slice(0, name.indexOf('/'));
  if (provider === '*' || findProvider(provider) !== undefined) return;
  throw new GatewayError(
    'invalid_request',
    `prices."${name}" names no provider: write PROVIDER/MODEL with an id from \`gateway providers available\`, or */MODEL`,
    { param: 'prices' },
  );
}
