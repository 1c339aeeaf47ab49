import type { Tool } from '../../tool.ts';

/**
 * Agent Deck asks no model itself: it runs other tools in sessions. It gets one more of them, Claude Code pointed at the
 * gateway, for sessions that are made with `-c modelgate`. Variables in its configuration are not expanded.
 */
export const agentDeck: Tool = {
  id: 'agent-deck',
  name: 'Agent Deck',
  color: '#7AA2F7',
  description: 'Runs and watches sessions of coding agents in one terminal',
  docsUrl: 'https://github.com/asheshgoplani/agent-deck',
  category: 'agent',
  vendor: 'asheshgoplani (open source)',
  acpSpawnable: false,
  baseUrlSupport: 'full',
  configType: 'guide',
  binaries: ['agent-deck'],
  recipe: {
    api: 'anthropic-messages',
    model: 'optional',
    files: [
      {
        format: 'toml',
        folders: [
          // The first that is there, as Agent Deck looks for them.
          { where: '$XDG_CONFIG_HOME/agent-deck/config.toml', folder: '$XDG_CONFIG_HOME/agent-deck' },
          { where: '~/.config/agent-deck/config.toml', folder: '~/.config/agent-deck' },
          { where: '~/.agent-deck/config.toml', folder: '~/.agent-deck' },
          '$XDG_CONFIG_HOME/agent-deck',
          '~/.config/agent-deck',
        ],
        names: ['config.toml'],
        settings: [
          { path: ['tools', 'modelgate', 'command'], value: 'claude' },
          { path: ['tools', 'modelgate', 'compatible_with'], value: 'claude' },
          { path: ['tools', 'modelgate', 'env', 'ANTHROPIC_BASE_URL'], value: '<base_url>' },
          { path: ['tools', 'modelgate', 'env', 'ANTHROPIC_AUTH_TOKEN'], value: '<api_key>' },
          { path: ['tools', 'modelgate', 'env', 'ANTHROPIC_MODEL'], value: '<model>' },
          { path: ['tools', 'modelgate', 'env', 'ANTHROPIC_DEFAULT_OPUS_MODEL'], value: '<model>' },
          { path: ['tools', 'modelgate', 'env', 'ANTHROPIC_DEFAULT_SONNET_MODEL'], value: '<model>' },
          { path: ['tools', 'modelgate', 'env', 'ANTHROPIC_DEFAULT_HAIKU_MODEL'], value: '<model>' },
        ],
      },
    ],
    steps: ['Make a session with it: agent-deck add . -c modelgate'],
  },
  evidence: { package: 'asheshgoplani/agent-deck@47bb2103 (1.14.0)', by: 'read', date: '2026-11-22' },
};
