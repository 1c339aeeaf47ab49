import { first, type UsersFile } from './users-file.ts';

/** What people have in the files of each agent before they meet the gateway. */
export const agentFiles: Readonly<Record<string, UsersFile>> = {
  'hermes-agent': {
    path: '.hermes/config.yaml',
    text: '_config_version: 50\n\n# my model\nmodel:\n  default: anthropic/claude-opus-4.6  # the good one\n  provider: auto\n  base_url: https://openrouter.ai/api/v1\nterminal:\n    backend: docker\n',
    addTo: (text) => `${text}display:\n  compact: true\n`,
  },
  openclaw: {
    path: '.openclaw/openclaw.json',
    text: '{\n  // my assistant\n  "agents": { "defaults": { "workspace": "~/clawd" } },\n  "channels": { "whatsapp": { "allowFrom": ["+1555"], }, },\n}\n',
    addTo: first,
  },
  goose: {
    path: '.config/goose/config.yaml',
    text: 'active_provider: anthropic\nproviders:\n  anthropic:\n    enabled: true\n    model: claude-sonnet-4-5\n    configured: true\nGOOSE_MODE: smart_approve # ask me\nextensions: {}\n',
    addTo: (text) => `${text}GOOSE_TELEMETRY_ENABLED: false\n`,
  },
  interpreter: {
    path: '.config/open-interpreter/profiles/default.yaml',
    text: '# Open Interpreter\nllm:\n  model: gpt-4o\n  temperature: 0\n  # api_key: ...\n\ncomputer:\n  import_computer_api: true\nversion: 0.2.5\n',
    addTo: (text) => `${text}auto_run: false\n`,
  },
  'agent-deck': {
    path: '.agent-deck/config.toml',
    text: 'default_tool = "claude" # mine\n\n[tools.my-ai]\ncommand = "my-ai"\n\n[ui]\nnew_session_enter_advances = false\n',
    addTo: (text) => `${text}\n[added]\nby = "its owner"\n`,
  },
  omp: {
    path: '.omp/agent/models.yml',
    text: '# at home\nproviders:\n  ollama:\n    baseUrl: http://localhost:11434/v1\n    api: openai-completions\n    models: [{ id: llama3 }]\n',
    addTo: (text) => `${text}equivalence: {}\n`,
  },
  letta: {
    path: '.letta/lc-local-backend/providers/auth.json',
    text: '{\n  "version": 1,\n  "providers": {}\n}\n',
    addTo: first,
  },
};
