import type { Tool } from '../../tool.ts';

/** OpenClaw has providers in its configuration, and fills in variables that a text of it names. */
export const openclaw: Tool = {
  id: 'openclaw',
  name: 'OpenClaw',
  color: '#E5484D',
  description: 'Open-source personal assistant for your devices and chats',
  docsUrl: 'https://docs.openclaw.ai',
  category: 'agent',
  vendor: 'P. Steinberger (open source)',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'custom',
  binaries: ['openclaw'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'jsonc',
        folders: ['$OPENCLAW_STATE_DIR', '$OPENCLAW_HOME/.openclaw', '~/.openclaw'],
        names: ['openclaw.json'],
        settings: [
          { path: ['models', 'providers', 'modelgate', 'baseUrl'], value: '<base_url>' },
          // biome-ignore lint/suspicious/noTemplateCurlyInString: OpenClaw's own form of a variable.
          { path: ['models', 'providers', 'modelgate', 'apiKey'], value: '${<key_variable>}' },
          { path: ['models', 'providers', 'modelgate', 'api'], value: 'openai-completions' },
          {
            path: ['models', 'providers', 'modelgate', 'models', { key: 'id', equals: '<model>' }, 'name'],
            value: '<model>',
          },
          { path: ['agents', 'defaults', 'model', 'primary'], value: 'modelgate/<model>' },
        ],
      },
    ],
  },
  evidence: { package: 'openclaw@2026.9.6', by: 'run', date: '2026-11-22' },
};
