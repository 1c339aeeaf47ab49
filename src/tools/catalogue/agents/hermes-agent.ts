import type { Tool } from '../../tool.ts';

/**
 * Hermes Agent has named endpoints, each with the name of the variable that holds its key. It reads that variable from
 * its environment or from the .env file beside its configuration.
 */
export const hermesAgent: Tool = {
  id: 'hermes-agent',
  name: 'Hermes Agent',
  color: '#8B5CF6',
  description: 'Open-source agent with a memory, skills and messaging',
  docsUrl: 'https://hermes-agent.nousresearch.com/docs',
  category: 'agent',
  vendor: 'Nous Research',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['hermes'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'yaml',
        folders: ['$HERMES_HOME', '$LOCALAPPDATA/hermes', '~/.hermes'],
        names: ['config.yaml'],
        settings: [
          { path: ['providers', 'modelgate', 'name'], value: 'Modelgate' },
          { path: ['providers', 'modelgate', 'base_url'], value: '<base_url>' },
          { path: ['providers', 'modelgate', 'key_env'], value: '<key_variable>' },
          { path: ['providers', 'modelgate', 'api_mode'], value: 'chat_completions' },
          { path: ['providers', 'modelgate', 'default_model'], value: '<model>' },
          { path: ['model', 'provider'], value: 'custom:modelgate' },
          { path: ['model', 'default'], value: '<model>' },
        ],
        // They belong to the provider that was chosen before, and would go with the model to this one.
        conflicts: [
          ['model', 'base_url'],
          ['model', 'api_key'],
          ['model', 'api_mode'],
        ],
      },
    ],
  },
  evidence: { package: 'NousResearch/hermes-agent@v2026.9.24', by: 'read', date: '2026-11-22' },
};
