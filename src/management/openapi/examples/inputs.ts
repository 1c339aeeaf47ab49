/** What a new member of each collection may be made of, as it is sent. */
export const createExamples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  acp_agents: { id: 'house-agent', name: 'House agent', command: 'house-agent', args: ['--acp'] },
  alerts: {
    name: 'spending',
    kind: 'webhook',
    target: 'https://hooks.example.com/spending',
    on: ['budget.exceeded'],
  },
  aliases: { name: 'fast', target: 'google/gemini-2.5-flash' },
  backups: { include_key: true },
  budgets: { scope: 'team', subject: 'core', metric: 'usd', limit: 20, period: 'day' },
  combos: {
    name: 'coding',
    strategy: 'priority',
    targets: ['anthropic-team/claude-sonnet-4-5', 'openai-team/gpt-5'],
  },
  connections: { provider: 'anthropic', name: 'anthropic-team', api_key: 'sk-ant-example' },
  keys: {
    name: 'laptop',
    models: ['anthropic/*'],
    owner: 'ann',
    team: 'core',
    budget_usd: 5,
    budget_period: 'day',
  },
  tokens: { name: 'reports', scopes: ['usage:read'], expires_at: '2027-01-31T12:00:00.000Z' },
  tools: {
    id: 'house-tool',
    name: 'House tool',
    binaries: ['house-tool'],
    api: 'openai-chat',
    environment: { OPENAI_BASE_URL: '<base_url>', OPENAI_API_KEY: '<api_key>' },
  },
  tunnels: { kind: 'cloudflared' },
  users: { name: 'bea', password: 'a long secret of bea', role: 'operator' },
  views: { page: 'requests', name: 'Failed this week', search: 'range=7d&outcome=failed' },
};

/** What may be changed of a member, by collection. */
export const changeExamples: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  acp_agents: { enabled: true },
  alerts: { on: ['budget.exceeded', 'provider.down'] },
  aliases: { target: 'openai/gpt-5-mini' },
  budgets: { limit: 40 },
  combos: { strategy: 'round-robin' },
  connections: { priority: 10 },
  keys: { labels: { env: 'ci' }, team: 'data' },
  services: { labels: { owner: 'ops' } },
  settings: { value: 3600 },
  users: { role: 'viewer' },
  views: { name: 'Failures of the week' },
};
