import type { Tool } from '../../tool.ts';

/** Claude Code reads its endpoint from the `env` group of its user settings. */
export const claude: Tool = {
  id: 'claude',
  name: 'Claude Code',
  color: '#D97757',
  description: "Anthropic's coding agent for the terminal",
  docsUrl: 'https://docs.anthropic.com/en/docs/claude-code/overview',
  category: 'code',
  vendor: 'Anthropic',
  acpSpawnable: true,
  baseUrlSupport: 'full',
  configType: 'env',
  binaries: ['claude'],
  recipe: {
    api: 'anthropic-messages',
    model: 'optional',
    files: [
      {
        format: 'json',
        folders: ['$CLAUDE_CONFIG_DIR', '~/.claude'],
        names: ['settings.json'],
        settings: [
          { path: ['env', 'ANTHROPIC_BASE_URL'], value: '<base_url>' },
          { path: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: '<api_key>' },
          // Its aliases too: a title or a subagent asks for "haiku", which need not exist behind a gateway.
          { path: ['env', 'ANTHROPIC_MODEL'], value: '<model>' },
          { path: ['env', 'ANTHROPIC_DEFAULT_OPUS_MODEL'], value: '<model>' },
          { path: ['env', 'ANTHROPIC_DEFAULT_SONNET_MODEL'], value: '<model>' },
          { path: ['env', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'], value: '<model>' },
        ],
        conflicts: [
          ['env', 'ANTHROPIC_API_KEY'],
          ['env', 'CLAUDE_CODE_USE_BEDROCK'],
          ['env', 'CLAUDE_CODE_USE_VERTEX'],
        ],
      },
    ],
  },
  evidence: { package: '@anthropic-ai/claude-code@2.1.329', by: 'run', date: '2026-11-22' },
};
