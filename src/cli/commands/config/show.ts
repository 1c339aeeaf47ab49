import type { ConfigSource } from '../../../config.ts';
import { allProviders } from '../../../providers/index.ts';
import { readSettings, settingsPath } from '../../../settings/file.ts';
import { settings, sourceOf } from '../../../settings/list.ts';
import type { Command } from '../../command.ts';

interface SettingRow {
  name: string;
  value: unknown;
  source: ConfigSource;
}

export const configShowCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  about: 'Precedence: flags, then the environment, then DATA_DIR/config.json, then the defaults.',
  examples: [{ command: 'gateway config show --json', does: '{"settings":[{"name","value","source"}],…}' }],
  run: async (_, context) => {
    const config = await context.config();
    const file = readSettings(config.dataDir);
    const shown: SettingRow[] = settings.map((setting) => ({
      name: setting.name,
      value: setting.read(config),
      source: sourceOf(setting, config, file),
    }));
    const variables = await context.setVariables(allProviders().flatMap(({ keyVariables }) => keyVariables));
    const document = {
      settings: shown,
      file: settingsPath(config.dataDir),
      provider_keys_in_environment: variables,
    };
    context.io.result(document, () => {
      const rows = context.io.table<SettingRow>(
        [
          { title: 'SETTING', cell: ({ name }) => name },
          { title: 'VALUE', cell: valueCell },
          { title: 'SOURCE', cell: ({ source }) => source, style: () => 'dim' },
        ],
        shown,
      );
      return variables.length === 0 ? rows : `${rows}\n\n${unused(variables)}`;
    });
    return 0;
  },
};

function unused(variables: readonly string[]): string {
  return `Provider keys in the environment (offered by \`gateway setup\`, never used silently): ${variables.join(', ')}`;
}

function valueCell({ value }: SettingRow): string {
  if (value === null) return '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
