import type { Path } from '../files/path.ts';
import { type Machine, machineVariables } from '../machine.ts';
import type { ConfigFile, Recipe, Tool } from '../tool.ts';
import type { CustomTool } from './schema.ts';

/** The entry of a tool that its user described. It is set up and restored as those of the catalogue. */
export function customEntry(described: CustomTool): Tool {
  const { binaries, color = '#64748B', description, docs_url, id, name } = described;
  return {
    id,
    name,
    color,
    description: description ?? 'Described by its user',
    docsUrl: docs_url ?? 'https://www.npmjs.com/package/modelgate',
    category: 'code',
    vendor: 'Custom',
    acpSpawnable: false,
    baseUrlSupport: 'full',
    configType: 'custom-builder',
    binaries,
    recipe: recipeOf(described),
    evidence: { package: 'described by its user', by: 'read', date: '1970-01-01' },
  };
}

function recipeOf({ api, environment, file }: CustomTool): Recipe {
  const model = JSON.stringify([environment ?? {}, file ?? {}]).includes('<model>') ? 'required' : 'optional';
  return {
    api,
    model,
    files: file === undefined ? [] : [fileOf(file)],
    ...(environment === undefined ? {} : { environment }),
  };
}

function fileOf({ format, path, settings }: NonNullable<CustomTool['file']>): ConfigFile {
  const end = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\'));
  // The separator stays: the folder of `/x` is `/`.
  const folder = path.slice(0, end + 1);
  return {
    format,
    folders: [folder, ...withDefault(folder)],
    names: [path.slice(end + 1)],
    settings: settings.map(({ path: steps, value }) => ({ path: steps satisfies Path, value })),
  };
}

/** What a variable of the XDG specification stands for where it is not set. */
const defaults: Readonly<Record<string, string>> = {
  XDG_CONFIG_HOME: '~/.config',
  XDG_DATA_HOME: '~/.local/share',
};

function withDefault(folder: string): string[] {
  const name = variableOf(folder);
  const own = name === null ? undefined : defaults[name];
  return own === undefined || name === null ? [] : [own + folder.slice(name.length + 1)];
}

function variableOf(path: string): string | null {
  return /^\$(\w+)/.exec(path)?.[1] ?? null;
}

/** Why the variable at the start of a file's path cannot be followed; null when it can, or there is none. */
export function variableProblem(path: string, { variables }: Machine): string | null {
  const name = variableOf(path);
  if (name === null || defaults[name] !== undefined) return null;
  const read: readonly string[] = machineVariables;
  if (!read.includes(name)) return `the gateway does not read $${name}: write ~/ or the folder itself`;
  return (variables[name] ?? '') === '' ? `$${name} is not set here` : null;
}
