import { parseArgs } from 'node:util';
import { createCatalog } from '../src/catalog/catalog.ts';
import type { ModelPrice, Rate } from '../src/catalog/price.ts';
import { allProviders } from '../src/providers/index.ts';
import type { Provider } from '../src/providers/provider.ts';

// Takes no arguments, and refuses any.
parseArgs();

/**
 * Lists where the price table and the data set disagree on a model that a provider offers: the model, the bucket, what
 * each says, and which counts. The table always does (docs/decisions/0015); the list is for who looks whether it still should.
 */
const buckets = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite5m',
  'reasoning',
  'audioInput',
  'audioOutput',
] as const;

const catalog = createCatalog({ overrides: {} });
const now = Date.now();
let both = 0;
const lines = allProviders().flatMap((provider) =>
  catalog.models(provider).flatMap((model) => differences(provider, model)),
);
console.log(lines.join('\n'));
console.log(
  `\n${both} models have a price in both; ${lines.length} of their rates differ, and the price table counts.`,
);

function differences(provider: Provider, model: string): string[] {
  const { dataSet, table } = catalog.prices(provider, model, now);
  if (table === null || dataSet === null) return [];
  both++;
  return buckets.flatMap((bucket) => {
    const [counts, other] = [rateOf(table, bucket), rateOf(dataSet, bucket)];
    if (counts === other || other === 'none') return [];
    return [`${provider.id}/${model} ${bucket}: ${table.source} ${counts}, ${dataSet.source} ${other}`];
  });
}

function rateOf(price: ModelPrice, bucket: (typeof buckets)[number]): string {
  const rate: Rate | null = price[bucket] ?? null;
  if (rate === null) return 'none';
  if (typeof rate === 'number') return String(rate);
  return [rate.base, ...rate.tiers.map(({ above, rate: higher }) => `${higher} above ${above}`)].join(', ');
}
