import { isDeepStrictEqual } from 'node:util';
import { listBackups, sinceRestore } from './configuring/backups.ts';
import { sameGateway } from './configuring/base-url.ts';
import type { ToolPlace } from './configuring/configure.ts';
import { decoded } from './configuring/plan.ts';
import { displayAddress, maskOf, redacted, secretsIn } from './configuring/secrets.ts';
import { filledPath, filledSetting, uses } from './configuring/template.ts';
import { readState } from './configuring/write-file.ts';
import { locateFiles } from './detection/locations.ts';
import { driftText } from './drift/drift.ts';
import { formats } from './files/formats.ts';
import { pathText, resolvePath } from './files/path.ts';
import { FileEditError, isObject, type Json, type JsonObject } from './files/value.ts';
import type { ConfigStatus, Detection, ToolBatchStatus } from './schema.ts';
import type { ConfigFile, Setting, Tool } from './tool.ts';

/** What a tool's files say, whether or not the tool is there. */
export interface ToolConfig {
  status: Extract<ConfigStatus, 'configured' | 'not_configured' | 'other' | 'unknown'>;
  /** The base address in the tool's configuration; null when it has none. */
  endpoint: string | null;
  /** The model that it is set to; null when it has none. */
  model: string | null;
  paths: string[];
  /** Entries that no longer are what the gateway wrote there. */
  drifted: string[];
  /** What stands in the places that the gateway writes, by path, without secrets. */
  entries: Record<string, Json>;
  /** ISO 8601 UTC; null when the gateway did not write it. */
  lastConfiguredAt: string | null;
  error: string | null;
}

/** Reads the configuration of a tool. @param gateways addresses that are this gateway */
export async function readToolConfig(
  place: ToolPlace,
  tool: Tool,
  gateways: readonly string[],
): Promise<ToolConfig> {
  const located = await locateFiles(tool.recipe, place.machine);
  const paths = located.map(({ path }) => path);
  const last = sinceRestore(await listBackups(place.dataDir, tool.id)).at(-1);
  const knownGateways =
    last?.gateway === undefined || last.gateway === null ? gateways : [...gateways, last.gateway];
  const lastConfiguredAt = last?.created_at ?? null;
  const blank = {
    endpoint: null,
    model: null,
    paths,
    drifted: [],
    entries: {},
    lastConfiguredAt,
    error: null,
  };
  if (paths.length === 0) return { ...blank, status: 'unknown' };
  try {
    const read = await Promise.all(located.map(({ file, path }) => readEntries(file, path)));
    const address = read.map((one) => one.endpoint).find((one) => one !== null) ?? null;
    const ours = address !== null && knownGateways.some((gateway) => sameGateway(gateway, address));
    const drifted = [
      // What the gateway wrote was replaced or taken away; without a backup it never wrote there.
      ...(ours || last === undefined ? [] : tool.recipe.files.flatMap(addressPaths)),
      ...(ours ? read.flatMap((one) => one.drifted) : []),
    ];
    return {
      ...blank,
      status: statusOf(address, ours, drifted),
      endpoint: address === null ? null : displayAddress(address),
      model: read.map((one) => one.model).find((one) => one !== null) ?? null,
      drifted,
      entries: Object.fromEntries(read.flatMap((one) => Object.entries(one.entries))),
    };
  } catch (error) {
    return { ...blank, status: 'unknown', error: messageOf(error, paths) };
  }
}

function statusOf(address: string | null, ours: boolean, drifted: readonly string[]): ToolConfig['status'] {
  if (address === null) return 'not_configured';
  if (!ours) return 'other';
  return drifted.length === 0 ? 'configured' : 'not_configured';
}

function addressPaths({ settings }: ConfigFile): string[] {
  return settings.filter((setting) => uses(setting, 'base_url')).map(({ path }) => pathText(path));
}

/** The status of a tool as the map of all tools has it. A program that is slow or broken makes it unknown. */
export function batchStatus(id: string, detection: Detection, config: ToolConfig): ToolBatchStatus {
  const { endpoint, lastConfiguredAt } = config;
  const error = config.error ?? driftText(id, config);
  const broken = detection.installed && !detection.runnable;
  const absent = !detection.installed && detection.reason === undefined;
  const status: ConfigStatus = absent
    ? 'not_installed'
    : broken || !detection.installed
      ? 'unknown'
      : config.status;
  return {
    detection,
    config: { status, endpoint, lastConfiguredAt: status === 'configured' ? lastConfiguredAt : null },
    ...(error === null ? {} : { error }),
  };
}

type Entries = Pick<ToolConfig, 'drifted' | 'endpoint' | 'entries' | 'model'>;

async function readEntries(file: ConfigFile, path: string): Promise<Entries> {
  const read = formats[file.format].read(decoded((await readState(path)).bytes, path));
  if (!read.ok)
    throw new FileEditError(`${path}: ${read.problem} (line ${read.line}, column ${read.column})`);
  const model = modelIn(file, read.value);
  const values = { base_url: '<base_url>', api_key: '<api_key>', model };
  const entries: Entries = { endpoint: null, model, drifted: [], entries: {} };
  for (const setting of file.settings) {
    if (choosesAnother(setting, read.value)) entries.drifted.push(pathText(setting.path));
    const expected = filledSetting(setting, values);
    if (expected === null) continue;
    const actual = valueAt(read.value, expected.path);
    if (actual !== undefined) entries.entries[pathText(expected.path)] = shownEntry(setting, actual);
    if (uses(setting, 'base_url')) entries.endpoint ??= endpointIn(setting.value, actual);
    else if (uses(setting, 'api_key')) continue;
    else if (!setting.ifAbsent && !uses(setting, 'model') && !isDeepStrictEqual(actual, expected.value))
      entries.drifted.push(pathText(expected.path));
  }
  for (const template of file.conflicts ?? []) {
    const path = filledPath(template, values);
    if (valueAt(read.value, path) !== undefined) entries.drifted.push(pathText(path));
  }
  return entries;
}

/** What stands in a place of the recipe, as it may be shown. */
function shownEntry(setting: Setting, value: Json): Json {
  if (uses(setting, 'api_key')) return typeof value === 'string' ? maskOf(value) : '…';
  if (uses(setting, 'base_url') && typeof value === 'string') return displayAddress(value);
  const name = setting.path.findLast((step) => typeof step === 'string') ?? '';
  return JSON.parse(redacted(JSON.stringify(value), secretsIn(value, name)));
}

/** The model, from the setting whose place does not depend on it. */
function modelIn({ settings }: ConfigFile, value: JsonObject): string | null {
  for (const setting of settings) {
    const model = filledIn(String(setting.value), '<model>', chosenIn(setting, value));
    if (model !== null) return model;
  }
  return null;
}

/** Whether a model of another endpoint stands where the gateway names it and the model: `anthropic/opus`. */
function choosesAnother(setting: Setting, value: JsonObject): boolean {
  const choice = chosenIn(setting, value);
  return choice !== undefined && filledIn(String(setting.value), '<model>', choice) === null;
}

/** What stands in the place of a model; nothing where the place depends on the model, or is of something else. */
function chosenIn({ path, value: template }: Setting, value: JsonObject): Json | undefined {
  if (typeof template !== 'string' || !template.includes('<model>')) return undefined;
  return JSON.stringify(path).includes('<model>') ? undefined : valueAt(value, path);
}

/** The base address in an entry; what stands there as it is where it has not the form of the template. */
function endpointIn(template: Json, value: Json | undefined): string | null {
  if (typeof value !== 'string') return null;
  return (typeof template === 'string' ? filledIn(template, '<base_url>', value) : null) ?? value;
}

/** What stands in the place of a placeholder, or null where the text is not of the template. */
function filledIn(template: string, placeholder: string, value: Json | undefined): string | null {
  const [before = '', after = ''] = template.split(placeholder);
  if (typeof value !== 'string' || !value.startsWith(before) || !value.endsWith(after)) return null;
  return value.slice(before.length, value.length - after.length);
}

/** What stands at a path; nothing where something else stands in the way. */
function valueAt(value: JsonObject, path: Parameters<typeof resolvePath>[1]): Json | undefined {
  try {
    return resolvePath(value, path).existing;
  } catch {
    return undefined;
  }
}

/** One sentence without a stack. */
function messageOf(error: unknown, paths: readonly string[]): string {
  if (error instanceof FileEditError) return error.message;
  const code = isObject(error) ? error['code'] : undefined;
  return `${paths.join(', ')} cannot be read${typeof code === 'string' ? ` (${code})` : ''}`;
}
