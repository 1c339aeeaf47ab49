import type { Path } from '../../files/path.ts';
import type { Tool } from '../../tool.ts';

const provider: Path = ['providers', { key: 'id', equals: 'modelgate' }];

/**
 * ForgeCode takes providers of its user's own from `.forge.toml` since version 2.6. At its first start it copies the keys
 * of all providers from the environment into a file of its own; where that file exists, a login adds to it.
 */
export const forge: Tool = {
  id: 'forge',
  name: 'ForgeCode',
  color: '#F2A541',
  description: 'Open-source coding agent for the terminal',
  docsUrl: 'https://github.com/antinomyhq/forge',
  category: 'code',
  vendor: 'Antinomy HQ',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['forge'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'toml',
        folders: ['$FORGE_CONFIG', { folder: '~/forge', where: '~/forge' }, '~/.forge'],
        names: ['.forge.toml'],
        settings: [
          { path: [...provider, 'url'], value: '<base_url>/chat/completions' },
          { path: [...provider, 'models'], value: '<base_url>/models' },
          { path: [...provider, 'api_key_var'], value: '<key_variable>' },
          { path: [...provider, 'response_type'], value: 'OpenAI' },
          { path: ['session', 'provider_id'], value: 'modelgate' },
          { path: ['session', 'model_id'], value: '<model>' },
        ],
      },
    ],
    steps: [
      'If you have logged in to a provider with Forge before, run `forge provider login modelgate` and enter the gateway key.',
    ],
  },
  evidence: { package: 'antinomyhq/forge v2.9.9', by: 'read', date: '2026-11-22' },
};
