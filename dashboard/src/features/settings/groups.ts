import type { Setting } from './queries.ts';

/** The groups in which settings are shown, in order. A name that ends in a dot stands for all below it. */
const groups = [
  [
    'server',
    [
      'data_dir',
      'host',
      'port',
      'workers',
      'auth.required',
      'allowed_hosts',
      'trusted_proxies',
      'keepalive_ms',
      'drain_ms',
      'drain_delay_ms',
      'log_level',
      'access_log',
    ],
  ],
  ['requests', ['limits.', 'timeouts.', 'upstream.']],
  ['data', ['storage_encryption_key', 'backups.', 'audit.', 'ledger.', 'responses.', 'cache.']],
  ['access', ['api.']],
  ['shared', ['database_url', 'redis_url', 'redis.']],
  ['events', ['events_private_networks', 'events.', 'alerts_commands_by_api', 'smtp_url', 'smtp_from']],
  ['tools', ['tools.', 'acp_commands', 'agents.']],
  ['accounting', ['models.', 'prices', 'tag_rules', 'header_tags.']],
] as const satisfies readonly (readonly [string, readonly string[]])[];

export type SettingGroup = (typeof groups)[number][0] | 'other';

/** The settings by group, in the order of the groups and within each in that of its names; empty groups are left out. */
export function grouped(settings: readonly Setting[]): { group: SettingGroup; settings: Setting[] }[] {
  const parts: { group: SettingGroup; settings: Setting[] }[] = groups.map(([group, names]) => ({
    group,
    settings: names.flatMap((name) => settings.filter((setting) => stands(setting.name, name))),
  }));
  const known = new Set(parts.flatMap((part) => part.settings));
  parts.push({ group: 'other', settings: settings.filter((setting) => !known.has(setting)) });
  return parts.filter((part) => part.settings.length > 0);
}

function stands(name: string, pattern: string): boolean {
  return pattern.endsWith('.') ? name.startsWith(pattern) : name === pattern;
}
