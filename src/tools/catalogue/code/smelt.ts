import type { Path } from '../../files/path.ts';
import type { Tool } from '../../tool.ts';

const provider: Path = ['providers', { key: 'name', equals: 'modelgate' }];

/** Smelt has a list of providers, each with its models; its choice is `provider/model`. */
export const smelt: Tool = {
  id: 'smelt',
  name: 'Smelt',
  color: '#E25822',
  description: 'Open-source coding agent for the terminal',
  docsUrl: 'https://github.com/leonardcser/smelt',
  category: 'code',
  vendor: 'leonardcser (open source)',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['smelt'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'yaml',
        folders: ['$XDG_CONFIG_HOME/smelt', '~/.config/smelt'],
        names: ['config.yaml'],
        settings: [
          { path: [...provider, 'type'], value: 'openai-compatible' },
          { path: [...provider, 'api_base'], value: '<base_url>' },
          { path: [...provider, 'api_key_env'], value: '<key_variable>' },
          { path: [...provider, 'models'], value: ['<model>'] },
          { path: ['defaults', 'model'], value: 'modelgate/<model>' },
        ],
      },
    ],
  },
  evidence: { package: 'leonardcser/smelt v0.4.7', by: 'read', date: '2026-11-22' },
};
