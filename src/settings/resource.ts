import { isDeepStrictEqual } from 'node:util';
import { overrideFinder } from '../catalog/override.ts';
import { type Config, type ConfigInput, loadConfig } from '../config.ts';
import type { Action, Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { openAllowedValues } from './allowed-values.ts';
import { readSettings, type SettingsFile, valueIn, withValue, writeSettings } from './file.ts';
import { type Setting, settings, sourceOf } from './list.ts';
import { type SettingRow, settingChange, settingRow } from './schema.ts';

export interface SettingsInput {
  /** What is in force in this process. */
  config: Config;
  /** Instead of the environment of this process. */
  env?: ConfigInput['env'];
}

/**
 * The settings in force, and what `config.json` says about the next start. A change is written there when a gateway
 * could be started with it.
 */
export function settingsResource({ config, env }: SettingsInput): Resource {
  const { dataDir } = config;
  const started = readSettings(dataDir);
  const allowed = openAllowedValues();
  const next = (file: SettingsFile): Config => nextConfig(config, file, env);
  const rowsNow = (): SettingRow[] => {
    const file = readSettings(dataDir);
    const later = nextOrConflict(next, file);
    return settings.map((setting) => rowOf(setting, { config, started, file, later, allowed }));
  };
  const find = (name: string): SettingRow | null => rowsNow().find(({ id }) => id === name) ?? null;
  const write = (row: Row, value: unknown): SettingRow => {
    const current = find(row.id);
    if (current === null) throw new GatewayError('not_found', `There is no setting "${row.id}"`);
    checkEditable(current);
    // Read, checked and written in one go, so that no other change gets lost in between.
    const file = withValue(readSettings(dataDir), current.name, value);
    next(file);
    writeSettings(dataDir, file);
    return find(row.id) ?? current;
  };
  return {
    name: 'settings',
    title: 'Settings',
    summary:
      'Settings, their current values and where those come from. Changes go to config.json and apply at the next start.',
    record: settingRow,
    read: 'settings:read',
    list: async () => rowsNow(),
    find: async (name) => find(name),
    update: {
      permission: 'settings:update',
      input: settingChange,
      async run(row, input) {
        return write(row, settingChange.parse(input).value);
      },
    },
    actions: { reset: resetAction(write) },
  };
}

function resetAction(write: (row: Row, value: unknown) => SettingRow): Action {
  const message = (row: Row, what: string) =>
    `config.json ${what} ${row.id}: its default holds from the next start on`;
  return {
    summary: 'Removes the setting from config.json.',
    permission: 'settings:update',
    possible: (row) => row['in_file'] === true && row['editable'] === true,
    preview: async (row) => ({ success: true, message: message(row, 'would no longer name') }),
    async run(row) {
      const { restart_required } = write(row, undefined);
      return { success: true, message: message(row, 'no longer names'), result: { restart_required } };
    },
  };
}

interface SettingsContext {
  /** In force, and what `config.json` said at the start. */
  config: Config;
  started: SettingsFile;
  /** What it says now, and what comes of that with the next start. */
  file: SettingsFile;
  later: Config;
  allowed(name: string): unknown;
}

function rowOf(setting: Setting, { allowed, config, file, later, started }: SettingsContext): SettingRow {
  const { name, outside, read } = setting;
  const value = read(config);
  const source = sourceOf(setting, config, started);
  const configured = outside === true ? undefined : valueIn(file, name);
  return {
    id: name,
    name,
    value,
    source,
    editable: outside !== true && source !== 'flag' && source !== 'environment',
    in_file: configured !== undefined,
    configured: configured ?? null,
    allowed: outside === true ? null : allowed(name),
    restart_required: !isDeepStrictEqual(value, read(later)),
  };
}

/** @throws GatewayError for what `config.json` does not decide */
function checkEditable({ editable, name, source }: SettingRow): void {
  if (editable) return;
  const reason =
    source === 'flag' || source === 'environment'
      ? `is set by ${source === 'flag' ? 'a flag' : 'the environment'}, which wins over config.json: change it there`
      : 'cannot stand in config.json';
  throw new GatewayError('conflict', `${name} ${reason}`);
}

/** What a gateway that is started like this one would take from a file. @throws GatewayError that names the setting */
function nextConfig(config: Config, file: SettingsFile, env: ConfigInput['env']): Config {
  const { sources } = config;
  const next = loadConfig({
    file,
    flags: {
      dataDir: config.dataDir,
      ...(sources.host === 'flag' ? { host: config.host } : {}),
      ...(sources.port === 'flag' ? { port: config.port } : {}),
    },
    ...(env === undefined ? {} : { env }),
  });
  // Throws for prices that name no provider.
  overrideFinder(next.prices);
  return next;
}

/** Who only reads is not at fault when the file is. */
function nextOrConflict(next: (file: SettingsFile) => Config, file: SettingsFile): Config {
  try {
    return next(file);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const message = `No gateway can be started with config.json as it is now: ${error.message}`;
    throw new GatewayError('conflict', message, { cause: error });
  }
}
