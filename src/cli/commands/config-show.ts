import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config, ConfigSource } from '../../config.ts';
import { providers } from '../../providers/index.ts';
import type { Command } from '../command.ts';

interface Setting {
  name: string;
  value: string | number | boolean | object | null;
  source: ConfigSource;
}

export const configShowCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  about:
    'Flags win over the environment, which wins over DATA_DIR/config.json, which wins over the defaults.',
  examples: [{ command: 'gateway config show --json', does: '{"settings":[{"name","value","source"}],…}' }],
  run: async (_, context) => {
    const config = await context.config();
    const settings = settingsOf(config, await fileOf(config.dataDir));
    const variables = await context.setVariables(providers.flatMap(({ keyVariables }) => keyVariables));
    const document = {
      settings,
      file: join(config.dataDir, 'config.json'),
      provider_keys_in_environment: variables,
    };
    context.io.result(document, () => {
      const rows = context.io.table<Setting>(
        [
          { title: 'SETTING', cell: ({ name }) => name },
          { title: 'VALUE', cell: shown },
          { title: 'SOURCE', cell: ({ source }) => source, style: () => 'dim' },
        ],
        settings,
      );
      return variables.length === 0 ? rows : `${rows}\n\n${unused(variables)}`;
    });
    return 0;
  },
};

function unused(variables: readonly string[]): string {
  return `Provider keys in the environment (offered by \`gateway setup\`, never used silently): ${variables.join(', ')}`;
}

function shown({ value }: Setting): string {
  if (value === null) return '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function settingsOf(config: Config, file: unknown): Setting[] {
  const { sources, limits, timeouts } = config;
  const fromFile = (...path: string[]): ConfigSource => (holds(file, path) ? 'file' : 'default');
  return [
    { name: 'data_dir', value: config.dataDir, source: sources.dataDir },
    { name: 'host', value: config.host, source: sources.host },
    { name: 'port', value: config.port, source: sources.port },
    { name: 'auth.required', value: config.authRequired, source: sources.authRequired },
    {
      name: 'storage_encryption_key',
      value: config.storageKey === null ? null : '(set)',
      source: sources.storageKey,
    },
    { name: 'log_level', value: config.logLevel, source: sources.logLevel },
    { name: 'limits.header_bytes', value: limits.headerBytes, source: fromFile('limits', 'header_bytes') },
    {
      name: 'limits.headers_timeout_ms',
      value: limits.headersTimeoutMs,
      source: fromFile('limits', 'headers_timeout_ms'),
    },
    {
      name: 'limits.body_timeout_ms',
      value: limits.bodyTimeoutMs,
      source: fromFile('limits', 'body_timeout_ms'),
    },
    { name: 'limits.body_bytes', value: limits.bodyBytes, source: fromFile('limits', 'body_bytes') },
    { name: 'timeouts.connect_ms', value: timeouts.connectMs, source: fromFile('timeouts', 'connect_ms') },
    { name: 'timeouts.headers_ms', value: timeouts.headersMs, source: fromFile('timeouts', 'headers_ms') },
    {
      name: 'timeouts.first_byte_ms',
      value: timeouts.firstByteMs,
      source: fromFile('timeouts', 'first_byte_ms'),
    },
    { name: 'timeouts.idle_ms', value: timeouts.idleMs, source: fromFile('timeouts', 'idle_ms') },
    { name: 'timeouts.total_ms', value: timeouts.totalMs, source: fromFile('timeouts', 'total_ms') },
    { name: 'keepalive_ms', value: config.keepAliveMs, source: fromFile('keepalive_ms') },
    { name: 'drain_ms', value: config.drainMs, source: fromFile('drain_ms') },
    { name: 'prices', value: config.prices, source: fromFile('prices') },
  ];
}

/** True when the parsed file has a member at `path`. */
function holds(file: unknown, path: readonly string[]): boolean {
  let value = file;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !(name in value)) return false;
    value = Reflect.get(value, name);
  }
  return true;
}

/** `config.json` as it stands; `loadConfig` has already checked it. */
async function fileOf(dataDir: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(dataDir, 'config.json'), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
}
