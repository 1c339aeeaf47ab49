import type { Config, ConfigSource } from '../config.ts';
import { type SettingsFile, valueIn } from './file.ts';

/** One setting of the configuration. */
export interface Setting {
  /** In `config.json`, where it can stand there: `limits.body_bytes`. */
  name: string;
  /** What is in force. Never a secret. */
  read(config: Config): unknown;
  /** Set where something else than `config.json` may decide. */
  source?: keyof Config['sources'];
  /** Where it can be set from: everything but these two can stand in `config.json`. */
  outside?: true;
}

/** Every setting, in the order in which they are shown. */
export const settings: readonly Setting[] = [
  { name: 'data_dir', read: ({ dataDir }) => dataDir, source: 'dataDir', outside: true },
  { name: 'host', read: ({ host }) => host, source: 'host' },
  { name: 'port', read: ({ port }) => port, source: 'port' },
  { name: 'workers', read: ({ workers }) => workers, source: 'workers' },
  { name: 'auth.required', read: ({ authRequired }) => authRequired, source: 'authRequired' },
  {
    name: 'storage_encryption_key',
    read: ({ storageKey }) => (storageKey === null ? null : '(set)'),
    source: 'storageKey',
    outside: true,
  },
  {
    name: 'database_url',
    read: ({ database }) => (database === null ? null : '(set)'),
    source: 'database',
    outside: true,
  },
  {
    name: 'redis_url',
    read: ({ redis }) => (redis === null ? null : '(set)'),
    source: 'redis',
    outside: true,
  },
  { name: 'smtp_url', read: ({ smtp }) => (smtp === null ? null : '(set)'), source: 'smtp', outside: true },
  { name: 'smtp_from', read: ({ smtp }) => smtp?.from ?? null, source: 'smtp', outside: true },
  {
    name: 'events_private_networks',
    read: ({ privateEventTargets }) => privateEventTargets,
    source: 'privateEventTargets',
    outside: true,
  },
  {
    name: 'alerts_commands_by_api',
    read: ({ alertCommandsByApi }) => alertCommandsByApi,
    source: 'alertCommandsByApi',
    outside: true,
  },
  {
    name: 'acp_commands',
    read: ({ agentCommands }) => agentCommands,
    source: 'agentCommands',
    outside: true,
  },
  { name: 'redis.timeout_ms', read: ({ redis }) => redis?.timeoutMs ?? null },
  { name: 'redis.failure_mode', read: ({ redis }) => redis?.failureMode ?? null },
  { name: 'log_level', read: ({ logLevel }) => logLevel, source: 'logLevel' },
  { name: 'access_log', read: ({ accessLog }) => accessLog, source: 'accessLog' },
  { name: 'limits.header_bytes', read: ({ limits }) => limits.headerBytes },
  { name: 'limits.headers_timeout_ms', read: ({ limits }) => limits.headersTimeoutMs },
  { name: 'limits.body_timeout_ms', read: ({ limits }) => limits.bodyTimeoutMs },
  { name: 'limits.body_bytes', read: ({ limits }) => limits.bodyBytes },
  { name: 'limits.connections', read: ({ limits }) => limits.connections },
  { name: 'timeouts.connect_ms', read: ({ timeouts }) => timeouts.connectMs },
  { name: 'timeouts.headers_ms', read: ({ timeouts }) => timeouts.headersMs },
  { name: 'timeouts.first_byte_ms', read: ({ timeouts }) => timeouts.firstByteMs },
  { name: 'timeouts.idle_ms', read: ({ timeouts }) => timeouts.idleMs },
  { name: 'timeouts.total_ms', read: ({ timeouts }) => timeouts.totalMs },
  { name: 'upstream.http_client', read: ({ upstreamClient }) => upstreamClient },
  { name: 'api.token_ttl_seconds', read: ({ api }) => api.tokenTtlSeconds },
  { name: 'api.ui_token_ttl_seconds', read: ({ api }) => api.uiTokenTtlSeconds },
  { name: 'api.token_renewal', read: ({ api }) => api.tokenRenewal },
  { name: 'api.token_max_lifetime_seconds', read: ({ api }) => api.tokenMaxLifetimeSeconds },
  { name: 'backups.every_hours', read: ({ backups }) => backups.everyHours },
  { name: 'backups.keep', read: ({ backups }) => backups.keep },
  { name: 'audit.retention_months', read: ({ auditMonths }) => auditMonths },
  { name: 'ledger.retention_days', read: ({ ledgerDays }) => ledgerDays },
  { name: 'responses.retention_days', read: ({ responses }) => responses.retentionDays },
  { name: 'responses.max_bytes', read: ({ responses }) => responses.maxBytes },
  {
    name: 'models.refresh_hours',
    read: ({ modelsMaxAgeMs }) => (modelsMaxAgeMs === null ? null : modelsMaxAgeMs / 3_600_000),
  },
  { name: 'cache.max_bytes', read: ({ cache }) => cache.maxBytes },
  { name: 'cache.ttl_seconds', read: ({ cache }) => Math.round(cache.ttlMs / 1000) },
  { name: 'agents.max_processes', read: ({ agents }) => agents.processes },
  { name: 'agents.max_waiting', read: ({ agents }) => agents.waiting },
  { name: 'agents.wait_ms', read: ({ agents }) => agents.waitMs },
  { name: 'agents.idle_ms', read: ({ agents }) => agents.idleMs },
  { name: 'tools.remote_detection', read: ({ remoteDetection }) => remoteDetection },
  { name: 'events.fallback_actions', read: ({ eventFallbacks }) => eventFallbacks },
  { name: 'allowed_hosts', read: ({ allowedHosts }) => allowedHosts },
  { name: 'trusted_proxies', read: ({ trustedProxies }) => trustedProxies },
  { name: 'keepalive_ms', read: ({ keepAliveMs }) => keepAliveMs },
  { name: 'drain_ms', read: ({ drainMs }) => drainMs },
  { name: 'drain_delay_ms', read: ({ drainDelayMs }) => drainDelayMs },
  { name: 'prices', read: ({ prices }) => prices },
  { name: 'header_tags.names', read: ({ headerTags }) => headerTags.names },
  { name: 'header_tags.trusted_keys', read: ({ headerTags }) => headerTags.trustedKeys },
  { name: 'tag_rules', read: ({ tagRules }) => tagRules },
];

/** Where the value in force comes from. `file` is what the process was started with. */
export function sourceOf({ name, source }: Setting, config: Config, file: SettingsFile): ConfigSource {
  if (source !== undefined) return config.sources[source];
  return valueIn(file, name) === undefined ? 'default' : 'file';
}
