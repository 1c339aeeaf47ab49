import type { Tool } from '../../tool.ts';

const profile = ['providerProfiles', 'apiConfigs', 'modelgate'];

/**
 * Roo Code keeps its profiles in the storage of its editor, and at every start takes those of one file besides. A
 * setting of the editor names that file.
 */
export const roo: Tool = {
  id: 'roo',
  name: 'Roo Code',
  color: '#3F8EFC',
  description: 'Open-source coding agent for VS Code and compatible editors',
  docsUrl: 'https://docs.roocode.com',
  category: 'code',
  vendor: 'Roo Code (open source)',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: [],
  extension: 'RooVeterinaryInc.roo-cline',
  recipe: {
    api: 'openai-chat',
    model: 'required',
    files: [
      {
        format: 'jsonc',
        folders: [],
        editorsWith: 'RooVeterinaryInc.roo-cline',
        names: ['settings.json'],
        settings: [{ path: ['roo-cline.autoImportSettingsPath'], value: '~/.roo/modelgate.json' }],
      },
      {
        format: 'json',
        folders: ['~/.roo'],
        names: ['modelgate.json'],
        settings: [
          { path: ['providerProfiles', 'currentApiConfigName'], value: 'modelgate' },
          { path: [...profile, 'apiProvider'], value: 'openai' },
          { path: [...profile, 'openAiBaseUrl'], value: '<base_url>' },
          { path: [...profile, 'openAiApiKey'], value: '<api_key>' },
          { path: [...profile, 'openAiModelId'], value: '<model>' },
        ],
      },
    ],
    steps: ['Reload the window of the editor: Roo Code loads the profile "modelgate" when it starts.'],
  },
  evidence: { package: 'RooCodeInc/Roo-Code v3.52.1', by: 'read', date: '2026-11-22' },
};
