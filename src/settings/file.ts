import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../lib/error.ts';

/** `config.json` as it stands. */
export type SettingsFile = Readonly<Record<string, unknown>>;

export function settingsPath(dataDir: string): string {
  return join(dataDir, 'config.json');
}

/** The content of `config.json`; empty where there is none. @throws GatewayError when it cannot be read or is no JSON object */
export function readSettings(dataDir: string): SettingsFile {
  const path = settingsPath(dataDir);
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw new GatewayError('conflict', `config.json cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return { ...json };
  throw new GatewayError('conflict', 'config.json does not contain a JSON object: correct it first');
}

/**
 * Puts a new content in the place of `config.json`, all of it or nothing. A link stays one, and the mode stays.
 * @throws GatewayError `conflict` when it cannot be written
 */
export function writeSettings(dataDir: string, content: SettingsFile): void {
  let temporary: string | null = null;
  try {
    const path = target(settingsPath(dataDir));
    temporary = `${path}.${process.pid}.partial`;
    const file = openSync(temporary, 'w', modeOf(path));
    try {
      writeSync(file, `${JSON.stringify(content, null, 2)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    if (temporary !== null) rmSync(temporary, { force: true });
    throw new GatewayError('conflict', `config.json cannot be written: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/** What a file says about a setting, by its dotted name; undefined where it says nothing. */
export function valueIn(file: SettingsFile, name: string): unknown {
  let value: unknown = file;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = Reflect.get(value, part);
  }
  return value;
}

/** The file with another value of a setting; undefined takes it out. The order of the members stays. */
export function withValue(file: SettingsFile, name: string, value: unknown): SettingsFile {
  const [first = '', ...rest] = name.split('.');
  const changed: Record<string, unknown> = { ...file };
  if (rest.length === 0) changed[first] = value;
  else {
    const inner = withValue({ ...Object(file[first]) }, rest.join('.'), value);
    changed[first] = Object.keys(inner).length === 0 ? undefined : inner;
  }
  if (changed[first] === undefined) delete changed[first];
  return changed;
}

/** The file that a link leads to. */
function target(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // There is none yet.
    return path;
  }
}

function modeOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0o600) & 0o777;
}
