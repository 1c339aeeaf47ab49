import type { Tool } from '../../tool.ts';

/**
 * Oh My Pi, a descendant of Pi, has its endpoints in models.yml, and its choice in config.yml. A key that is the name of
 * a variable is read from there.
 */
const folders = ['$PI_CODING_AGENT_DIR', '~/.omp/agent'] as const;

export const omp: Tool = {
  id: 'omp',
  name: 'Oh My Pi',
  color: '#F472B6',
  description: 'Open-source agent for the terminal, with many tools',
  docsUrl: 'https://github.com/can1357/oh-my-pi',
  category: 'agent',
  vendor: 'can1357 (open source)',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['omp'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'yaml',
        folders,
        names: ['models.yml'],
        settings: [
          { path: ['providers', 'modelgate', 'baseUrl'], value: '<base_url>' },
          { path: ['providers', 'modelgate', 'api'], value: 'openai-completions' },
          { path: ['providers', 'modelgate', 'apiKey'], value: '<key_variable>' },
          {
            path: ['providers', 'modelgate', 'models', { key: 'id', equals: '<model>' }, 'name'],
            value: '<model>',
          },
        ],
      },
      {
        format: 'yaml',
        folders,
        names: ['config.yaml', 'config.yml'],
        settings: [{ path: ['modelRoles', 'default'], value: 'modelgate/<model>' }],
      },
    ],
  },
  evidence: { package: '@oh-my-pi/pi-coding-agent@18.2.3', by: 'run', date: '2026-11-22' },
};
