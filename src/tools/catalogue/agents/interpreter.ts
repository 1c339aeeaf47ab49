import type { Tool } from '../../tool.ts';

/** Open Interpreter applies its profile `default.yaml` at every start. It passes address and key on to LiteLLM. */
export const interpreter: Tool = {
  id: 'interpreter',
  name: 'Open Interpreter',
  color: '#111827',
  description: 'Open-source agent that runs code on your computer',
  docsUrl: 'https://docs.openinterpreter.com',
  category: 'agent',
  vendor: 'Open Interpreter (open source)',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: ['interpreter'],
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'yaml',
        folders: [
          {
            where: '~/Library/Application Support',
            folder: '~/Library/Application Support/open-interpreter/profiles',
          },
          '$XDG_CONFIG_HOME/open-interpreter/profiles',
          '$LOCALAPPDATA/open-interpreter/open-interpreter/profiles',
          '~/.config/open-interpreter/profiles',
        ],
        names: ['default.yaml'],
        settings: [
          // The text before the first slash selects LiteLLM's API, and is not sent.
          { path: ['llm', 'model'], value: 'openai/<model>' },
          { path: ['llm', 'api_base'], value: '<base_url>' },
          { path: ['llm', 'api_key'], value: '<api_key>' },
          // The version of the profile's form. Without it Open Interpreter asks, and passes the profile over.
          { path: ['version'], value: '0.2.5', ifAbsent: true },
        ],
      },
    ],
  },
  evidence: { package: 'open-interpreter@0.4.3', by: 'read', date: '2026-11-22' },
};
