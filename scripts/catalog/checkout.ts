import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getStaticTOMLValue, parseTOML } from 'toml-eslint-parser';

type Table = Record<string, unknown>;

/** A provider as its file says, with its models as https://models.dev/api.json has them. */
export interface CheckedOut {
  id: string;
  name: string;
  npm: string;
  api?: string;
  env: string[];
  doc: string;
  models: Record<string, Table>;
}

/**
 * What a checkout of the repository anomalyco/models.dev says, as its own generator puts it together: a model that
 * names a base model has that one's facts, except what it says itself or leaves out by name.
 * @throws Error for a folder that is no such checkout
 */
export function readCheckout(folder: string): Record<string, CheckedOut> {
  if (!existsSync(join(folder, 'providers')) || !existsSync(join(folder, 'models')))
    throw new Error(`${folder} is no checkout of models.dev: it has no providers/ and models/`);
  const bases = new Map<string, Table>();
  const baseOf = (name: string): Table => {
    const known = bases.get(name);
    if (known !== undefined) return known;
    const {
      benchmarks: _,
      license: __,
      links: ___,
      weights: ____,
      ...facts
    } = toml(join(folder, 'models', `${name}.toml`));
    bases.set(name, facts);
    return facts;
  };
  const found: Record<string, CheckedOut> = {};
  for (const file of globSync('providers/*/provider.toml', { cwd: folder }).sort()) {
    const id = file.split(/[/\\]/)[1] ?? '';
    const models: Record<string, Table> = {};
    const root = join(folder, 'providers', id, 'models');
    for (const path of globSync('**/*.toml', { cwd: root }).sort()) {
      // A link whose model was taken out leads nowhere.
      if (statSync(join(root, path), { throwIfNoEntry: false }) === undefined) continue;
      const name = path.replaceAll('\\', '/').slice(0, -'.toml'.length);
      models[name] = { ...merged(toml(join(root, path)), baseOf), id: name };
    }
    found[id] = { ...(toml(join(folder, file)) as Omit<CheckedOut, 'id' | 'models'>), id, models };
  }
  return found;
}

function merged(
  { base_model: base, base_model_omit: omit, ...own }: Table,
  baseOf: (name: string) => Table,
): Table {
  if (typeof base !== 'string') return own;
  const whole = structuredClone(baseOf(base));
  for (const [key, value] of Object.entries(own)) {
    const inherited = whole[key];
    whole[key] = isTable(value) && isTable(inherited) ? { ...inherited, ...value } : value;
  }
  for (const path of Array.isArray(omit) ? omit : []) leaveOut(whole, String(path).split('.'));
  return whole;
}

function leaveOut(table: Table, [first = '', ...rest]: string[]): void {
  const inner = table[first];
  if (rest.length === 0) delete table[first];
  else if (isTable(inner)) leaveOut(inner, rest);
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toml(file: string): Table {
  return getStaticTOMLValue(parseTOML(readFileSync(file, 'utf8'))) as Table;
}
