import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../../lib/error.ts';
import { type LocatedFile, locateFiles } from '../detection/locations.ts';
import type { FileFormat } from '../files/format.ts';
import { formats } from '../files/formats.ts';
import { type Path, pathText, resolvePath } from '../files/path.ts';
import { FileEditError, type Json, type JsonObject } from '../files/value.ts';
import type { Machine } from '../machine.ts';
import type { ConfigFile, Tool } from '../tool.ts';
import { baseUrlFor } from './base-url.ts';
import { unifiedDiff } from './diff.ts';
import { redacted, secretsIn } from './secrets.ts';
import { filledPath, filledSetting, filledText, type Values } from './template.ts';
import { type FileState, readState } from './write-file.ts';

/** One entry that is changed: what stood there, so that it can be put back. */
export interface ChangedEntry {
  path: Path;
  /** Undefined when nothing stood there. */
  before: Json | undefined;
  /** Undefined when it is taken away. */
  after: Json | undefined;
  /** It only has to be there: whatever it says later, it goes with the group that was made for it. */
  loose: boolean;
}

export interface PlannedFile {
  path: string;
  format: keyof typeof formats;
  before: FileState;
  /** The whole text afterwards. */
  text: string;
  /** Permission bits afterwards: a file with a secret in it is for its owner alone. */
  mode: number;
  changed: boolean;
  /** Unified, without secrets. */
  diff: string;
  entries: readonly ChangedEntry[];
  /** Groups and lists that did not exist, the innermost first. */
  made: readonly Path[];
}

export interface ToolPlan {
  tool: Tool;
  files: readonly PlannedFile[];
  /** Variables that have to be in the tool's environment; null stands for the gateway key. */
  environment: Readonly<Record<string, string | null>>;
  /** What its user still has to do by hand. */
  steps: readonly string[];
}

/** What a tool is to be set up with. */
export interface Target {
  /** Address of the gateway, as `gatewayRoot` returns it. */
  root: string;
  apiKey: string | null;
  model: string | null;
}

function valuesFor(tool: Tool, { apiKey, model, root }: Target): Values {
  return { base_url: baseUrlFor(tool.recipe.api, root), api_key: apiKey, model };
}

/**
 * What would be written, without writing anything.
 * @throws GatewayError `invalid_request` when a file cannot be read or changed safely; it names the file and the place
 */
export async function planTool(tool: Tool, target: Target, machine: Machine): Promise<ToolPlan> {
  const values = valuesFor(tool, target);
  const located = await locateFiles(tool.recipe, machine);
  const files = await Promise.all(located.map((one) => planFile(one, values)));
  const steps = (tool.recipe.steps ?? []).map((step) => filledText(step, { ...values, api_key: null }));
  return { tool, files, environment: environmentOf(tool, values), steps };
}

async function planFile({ file, path }: LocatedFile, values: Values): Promise<PlannedFile> {
  const before = await readState(path);
  const text = decoded(before.bytes, path);
  const format: FileFormat = formats[file.format];
  const read = format.read(text);
  if (!read.ok)
    throw refused(
      path,
      `${read.problem} (line ${read.line}, column ${read.column}). Mend the file, then repeat`,
    );
  try {
    const entries = wantedEntries(file, values, read.value);
    const after = entries.reduce(
      (rest, entry) =>
        entry.after === undefined
          ? format.remove(rest, entry.path)
          : format.set(rest, entry.path, entry.after),
      text,
    );
    const written = format.read(after);
    const value = written.ok ? written.value : {};
    const holdsKey = values.api_key !== null && after.includes(values.api_key);
    const secret = holdsKey || secretsIn(value).length > 0;
    const mode = (before.mode ?? 0o600) & (secret ? 0o700 : 0o7777);
    const shownSecrets = [values.api_key ?? '', ...secretsIn(read.value), ...secretsIn(value)];
    return {
      path,
      format: file.format,
      before,
      text: after,
      mode,
      changed: after !== text || (before.mode !== null && before.mode !== mode),
      diff:
        after === text
          ? ''
          : redacted(unifiedDiff(path, before.bytes === null ? null : text, after), shownSecrets),
      entries,
      made: madeBy(entries, read.value),
    };
  } catch (error) {
    if (error instanceof FileEditError) throw refused(path, error.message);
    throw error;
  }
}

function wantedEntries(file: ConfigFile, values: Values, before: JsonObject): ChangedEntry[] {
  const set = file.settings.flatMap((setting) => {
    const filled = filledSetting(setting, values);
    if (filled === null) return [];
    const { existing } = resolvePath(before, filled.path);
    if (filled.ifAbsent && existing !== undefined) return [];
    return isDeepStrictEqual(existing, filled.value)
      ? []
      : [{ path: filled.path, before: existing, after: filled.value, loose: filled.ifAbsent }];
  });
  const removed = (file.conflicts ?? []).flatMap((template) => {
    const path = filledPath(template, values);
    const { existing } = resolvePath(before, path);
    return existing === undefined ? [] : [{ path, before: existing, after: undefined, loose: false }];
  });
  return [...set, ...removed];
}

function madeBy(entries: readonly ChangedEntry[], before: JsonObject): Path[] {
  const newPaths = new Map<string, Path>();
  for (const { after, path } of entries) {
    if (after === undefined) continue;
    for (let length = path.length - 1; length > 0; length -= 1) {
      const parent = path.slice(0, length);
      if (resolvePath(before, parent).existing === undefined) newPaths.set(pathText(parent), parent);
    }
  }
  return [...newPaths.values()].sort((a, b) => b.length - a.length);
}

function environmentOf(tool: Tool, values: Values): Record<string, string | null> {
  const own = Object.entries(tool.recipe.environment ?? {}).map(
    ([name, template]) => [name, template === '<api_key>' ? null : filledText(template, values)] as const,
  );
  const reference = JSON.stringify(tool.recipe.files).includes('<key_variable>');
  const inFile = values.api_key !== null && JSON.stringify(tool.recipe.files).includes('<api_key>');
  if (reference && !inFile) own.push([filledText('<key_variable>', values), null]);
  return Object.fromEntries(own);
}

/** @throws GatewayError for bytes that are no UTF-8, which would be damaged by writing them back */
export function decoded(bytes: Buffer | null, path: string): string {
  if (bytes === null) return '';
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw refused(path, 'It is not UTF-8 text');
  }
}

function refused(path: string, why: string): GatewayError {
  return new GatewayError('invalid_request', `${path} was left as it is: ${why}`, { cause: new Error(why) });
}
