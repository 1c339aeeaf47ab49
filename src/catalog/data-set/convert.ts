import type { PricePeriod } from '../schema.ts';
import {
  type ModelEntry,
  type ModelTable,
  type SourceModel,
  type SourceProvider,
  sourceModel,
  sourceProvider,
} from './schema.ts';

export interface ConvertedDataSet {
  table: ModelTable;
  /** How many models were read, and those that have not the shape of a model, as `provider/model: why`. */
  models: number;
  refused: string[];
}

/**
 * The models of the data set models.dev in our own short form.
 * @param document what https://models.dev/api.json holds, parsed
 * @throws TypeError when it is no list of providers at all
 */
export function convertDataSet(document: unknown): ConvertedDataSet {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new TypeError('it is not an object with one entry for each provider');
  const table: ModelTable = {};
  const refused: string[] = [];
  let models = 0;
  for (const [id, value] of Object.entries(document).sort(byKey)) {
    const provider = sourceProvider.safeParse(value);
    if (!provider.success) {
      refused.push(`${id}: ${provider.error.issues[0]?.message ?? 'not a provider'}`);
      continue;
    }
    const entries: ModelEntry[] = [];
    const usual = usualFormat(provider.data);
    for (const [name, each] of Object.entries(provider.data.models).sort(byKey)) {
      models++;
      const model = sourceModel.safeParse(each);
      if (model.success) entries.push(entryOf(model.data, usual));
      else refused.push(`${id}/${name}: ${whyOf(model.error.issues)}`);
    }
    // A name such as `__proto__` is no provider's.
    if (/^[a-z0-9][a-z0-9._-]*$/.test(id)) table[id] = entries;
  }
  return { table, models, refused };
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function whyOf(issues: readonly { path: PropertyKey[]; message: string }[]): string {
  const [first] = issues;
  return first === undefined ? 'not a model' : `${first.path.join('.')}: ${first.message}`;
}

function entryOf(model: SourceModel, usual: Format | null): ModelEntry {
  const { cost, limit, modalities, name } = model;
  const format = formatOf(model) ?? usual;
  const modes = modesOf(model);
  return {
    id: model.id,
    ...(name !== undefined && name !== model.id && { name }),
    ...count('ctx', limit?.context),
    ...count('input', limit?.input),
    ...count('output', limit?.output),
    ...(modalities && { in: letters(modalities.input), out: letters(modalities.output) }),
    ...abilitiesOf(model),
    ...(/^\d{4}-\d{2}(-\d{2})?$/.test(model.release_date ?? '') && { released: model.release_date }),
    ...(model.status === 'deprecated' && { old: 1 as const }),
    ...((model.status === 'alpha' || model.status === 'beta') && { stage: model.status }),
    ...(format !== null && { format }),
    ...(cost && hasRates(cost) && { price: ratesOf(cost) }),
    ...modes,
  };
}

function count(key: 'ctx' | 'input' | 'output', value: number | undefined): Partial<ModelEntry> {
  return value !== undefined && value > 0 ? { [key]: Math.round(value) } : {};
}

const letterOf: ReadonlyMap<string, string> = new Map([
  ['text', 't'],
  ['image', 'i'],
  ['audio', 'a'],
  ['video', 'v'],
  ['pdf', 'p'],
]);

function letters(modalities: readonly string[]): string {
  return [...new Set(modalities.flatMap((one) => letterOf.get(one) ?? []))].join('');
}

function abilitiesOf(model: SourceModel): Partial<ModelEntry> {
  const { reasoning, structured_output: structured, tool_call: tools } = model;
  if (reasoning === undefined || tools === undefined) return {};
  const can = `${reasoning ? 'r' : ''}${tools ? 't' : ''}${structured ? 's' : ''}`;
  return { can, ...(structured === undefined && { vague: 1 }) };
}

type Format = NonNullable<ModelEntry['format']>;

/** Which of our formats the clients speak that the data set names by their npm packages. */
const formatOfClient: ReadonlyMap<string, Format> = new Map([
  ['@ai-sdk/openai-compatible', 'openai-chat'],
  ['@ai-sdk/openai', 'openai-responses'],
  ['@ai-sdk/anthropic', 'anthropic-messages'],
  ['@ai-sdk/google', 'gemini'],
  ['@ai-sdk/google-vertex', 'gemini'],
  ['@ai-sdk/google-vertex/anthropic', 'anthropic-messages'],
  ['@ai-sdk/amazon-bedrock/mantle', 'openai-responses'],
]);

/** The format of the models that have none of their own; null where all models are served alike. */
function usualFormat({ models, npm = '' }: SourceProvider): Format | null {
  const differ = Object.values(models).some((model) => {
    const { npm: own, shape } = (model as Partial<SourceModel> | null)?.provider ?? {};
    return shape === 'responses' || (typeof own === 'string' && own !== npm);
  });
  return differ ? (formatOfClient.get(npm) ?? null) : null;
}

function formatOf({ provider }: SourceModel): Format | null {
  if (provider?.shape === 'responses') return 'openai-responses';
  return formatOfClient.get(provider?.npm ?? '') ?? null;
}

type Cost = NonNullable<SourceModel['cost']>;
type Rates = Omit<Cost, 'tiers'>;

const keyOf: Readonly<Record<keyof Rates, keyof PricePeriod>> = {
  input: 'i',
  output: 'o',
  cache_read: 'r',
  cache_write: 'w',
  reasoning: 't',
  input_audio: 'a',
  output_audio: 'b',
};

function hasRates({ input, output }: Rates): boolean {
  return input !== undefined && output !== undefined;
}

/** Each rate with its tiers. A tier that leaves a rate out leaves it as it was below. */
function ratesOf({ tiers = [], ...base }: Cost): PricePeriod {
  const steps = [...tiers].sort((a, b) => a.tier.size - b.tier.size);
  const out: Record<string, number | number[]> = {};
  for (const [name, key] of Object.entries(keyOf) as [keyof Rates, string][]) {
    const flat = base[name];
    if (flat === undefined) continue;
    const above = steps.flatMap((step) => (step[name] === undefined ? [] : [step.tier.size, step[name]]));
    out[key] = steps.every((step) => (step[name] ?? flat) === flat) ? flat : [flat, ...above];
  }
  return out;
}

function modesOf({ experimental }: SourceModel): Pick<ModelEntry, 'priority' | 'fast'> {
  const modes: Pick<ModelEntry, 'priority' | 'fast'> = {};
  for (const { cost, provider } of Object.values(experimental?.modes ?? {})) {
    if (cost === undefined || !hasRates(cost)) continue;
    if (provider?.body?.['service_tier'] === 'priority') modes.priority = ratesOf(cost);
    if (provider?.body?.['speed'] === 'fast') modes.fast = ratesOf(cost);
  }
  return modes;
}
