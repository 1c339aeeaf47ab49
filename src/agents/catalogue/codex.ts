import { keyVariable } from '../../tools/tool.ts';
import type { AgentDefinition } from '../definition.ts';

/** Codex behind Zed's adapter, which has Codex built in. Its wrapper passes no signal on: the process group is ended. */
export const codex: AgentDefinition = {
  id: 'codex',
  name: 'OpenAI Codex',
  description: "OpenAI's coding agent, through its ACP adapter",
  docs: 'https://github.com/zed-industries/codex-acp',
  install: 'npm install -g @zed-industries/codex-acp',
  binary: 'codex-acp',
  // Otherwise it runs commands in its sandbox without asking.
  args: ['-c', 'approval_policy="untrusted"'],
  env: ['CODEX_HOME'],
  home: 'user',
  cwd: 'session',
  // `codex-acp --version` is an error.
  version: null,
  model: { by: 'config_option' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  route: ({ baseUrl, key, model }) => ({
    env: { [keyVariable]: key },
    files: {
      '.codex/config.toml': [
        `model = ${JSON.stringify(model)}`,
        'model_provider = "modelgate"',
        '[model_providers.modelgate]',
        'name = "Modelgate"',
        `base_url = ${JSON.stringify(`${baseUrl}/v1`)}`,
        `env_key = "${keyVariable}"`,
        'wire_api = "responses"',
        '',
      ].join('\n'),
    },
  }),
  providerAlias: 'openai',
  evidence: { package: '@zed-industries/codex-acp@0.16.0', by: 'run', date: '2026-11-23' },
};
