import { agentFiles } from './agent-files.ts';
import { first, type UsersFile } from './users-file.ts';

export { first };

/** What people have in the files of each tool before they meet the gateway. */
export const usersFiles: Readonly<Record<string, UsersFile>> = {
  claude: {
    path: '.claude/settings.json',
    text: '{\r\n    "permissions": { "allow": ["Bash(ls:*)"] },\r\n    "hooks": {},\r\n    "env": {"FOO": "bar"}\r\n}',
    addTo: first,
  },
  codex: {
    path: '.codex/config.toml',
    text: '# mine\nmodel = "gpt-5" # the good one\n\n[projects."/home/me"]\ntrust_level = "trusted"\n',
    addTo: (text) => `${text}\n[added]\nby = "its owner"\n`,
  },
  opencode: {
    path: '.config/opencode/opencode.jsonc',
    text: '\ufeff{\n\t// theme\n\t"theme": "dark",\n\t"provider": {\n\t\t"own": { "npm": "x" }, // mine\n\t},\n}\n',
    addTo: first,
  },
  qwen: {
    path: '.qwen/settings.json',
    text: '{\n  "modelProviders": {"openai": [{"id": "other", "envKey": "OTHER_KEY"}]},\n  "ui": {}\n}\n',
    addTo: first,
  },
  pi: {
    path: '.pi/agent/models.json',
    text: '{"providers": {"ollama": {"baseUrl": "http://localhost:11434/v1"}}}',
    addTo: first,
  },
  continue: {
    path: '.continue/config.yaml',
    text: 'name: Mine\nversion: 0.0.1\nschema: v1\n# my models\nmodels:\n  - name: Local # at home\n    provider: ollama\n    model: llama3\n',
    addTo: (text) => `${text}rules:\n  - Be brief\n`,
  },
  droid: {
    path: '.factory/settings.json',
    text: '{\n  // mine\n  "theme": "dark",\n  "customModels": [],\n}\n',
    addTo: first,
  },
  kilo: {
    path: '.config/kilo/kilo.json',
    text: '{\n  "theme": "dark"\n}\n',
    addTo: first,
  },
  cline: {
    path: '.cline/data/settings/providers.json',
    text: '{\n  "version": 1,\n  "lastUsedProvider": "anthropic",\n  "providers": {}\n}',
    addTo: first,
  },
  ...agentFiles,
  roo: {
    path: '.config/Code/User/settings.json',
    text: '{\n  // how it looks\n  "workbench.colorTheme": "Default Dark+",\n  "editor.fontSize": 14, // big\n}\n',
    addTo: first,
  },
  aider: {
    path: '.aider.conf.yml',
    text: '# mine\nauto-commits: false # by hand\nread: [CONVENTIONS.md]\n',
    addTo: (text) => `${text}dark-mode: true\n`,
  },
  forge: {
    path: '.forge/.forge.toml',
    text: '"$schema" = "https://forgecode.dev/schema.json"\nmax_tokens = 20480 # enough\n\n[session]\nprovider_id = "anthropic"\nmodel_id = "claude-sonnet-4-5"\n\n[[providers]]\nid = "own"\nurl = "http://localhost:8000/v1/chat/completions"\n',
    addTo: (text) => `${text}\n[updates]\nauto_update = false\n`,
  },
  jcode: {
    path: '.jcode/config.toml',
    text: '# jcode\n[display]\ntheme = "dark"\n\n[provider]\ndefault_provider = "claude"\n\n[providers.local]\ntype = "openai-compatible"\nbase_url = "http://localhost:8000/v1"\n',
    addTo: (text) => `${text}\n[power]\nprevent_sleep = true\n`,
  },
  'deepseek-tui': {
    path: '.deepseek/config.toml',
    text: 'api_key = "sk-of-deepseek-1234"\nprovider = "deepseek" # the default\n\n[retry]\nenabled = true\n',
    addTo: (text) => `${text}\n[tui]\nmouse = false\n`,
  },
  codewhale: {
    path: '.codewhale/config.toml',
    text: 'provider = "deepseek"\n\n# mine\n[providers.deepseek]\napi_key = "sk-of-deepseek-1234"\n',
    addTo: (text) => `${text}\n[tui]\nmouse = false\n`,
  },
  smelt: {
    path: '.config/smelt/config.yaml',
    text: '# at home\nproviders:\n  - name: ollama\n    type: openai-compatible\n    api_base: http://localhost:11434/v1\n    models:\n      - qwen3.5:27b\n\ndefaults:\n  model: ollama/qwen3.5:27b # big enough\n',
    addTo: (text) => `${text}\nsettings:\n  vim_mode: true\n`,
  },
  'grok-build': {
    path: '.grok/config.toml',
    text: '[models]\ndefault = "grok-4.5"\n\n[ui]\nvim_mode = true # yes\n',
    addTo: (text) => `${text}\n[features]\nfeedback = false\n`,
  },
  crush: {
    path: '.config/crush/crush.json',
    text: '{\n  "$schema": "https://charm.land/crush.json",\n  "lsp": {"go": {"command": "gopls"}},\n  "models": {"large": {"model": "gpt-5", "provider": "openai"}}\n}\n',
    addTo: first,
  },
};
