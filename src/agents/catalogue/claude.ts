import type { AgentDefinition } from '../definition.ts';

/** Claude Code behind the adapter of the protocol's makers, which brings its own copy of it. */
export const claude: AgentDefinition = {
  id: 'claude',
  name: 'Claude Code',
  description: "Anthropic's coding agent, through its ACP adapter",
  docs: 'https://github.com/agentclientprotocol/claude-agent-acp',
  install: 'npm install -g @agentclientprotocol/claude-agent-acp',
  binary: 'claude-agent-acp',
  args: [],
  env: ['CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_OAUTH_TOKEN'],
  home: 'user',
  cwd: 'session',
  version: { args: ['--version'] },
  model: { by: 'config_option' },
  permissions: [],
  capabilities: { fs: true, terminal: true },
  startTimeoutMs: 60_000,
  route: ({ baseUrl, key, model }) => ({
    env: {
      ANTHROPIC_BASE_URL: baseUrl,
      ANTHROPIC_AUTH_TOKEN: key,
      // Its aliases too: titles and subagents ask for "haiku", which need not exist behind a gateway.
      ANTHROPIC_MODEL: model,
      ANTHROPIC_DEFAULT_OPUS_MODEL: model,
      ANTHROPIC_DEFAULT_SONNET_MODEL: model,
      ANTHROPIC_DEFAULT_HAIKU_MODEL: model,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    // A home folder of its own: the `env` group of its user's settings would win over the variables.
    files: { '.claude/settings.json': '{}' },
  }),
  providerAlias: 'anthropic',
  evidence: { package: '@agentclientprotocol/claude-agent-acp@0.100.0', by: 'run', date: '2026-11-23' },
};
