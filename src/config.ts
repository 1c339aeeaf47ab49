import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { GatewayError } from './lib/error.ts';
import { defaultDataDirectory } from './lib/files/data-directory.ts';
import { type OtelSettings, readOtelVariables } from './lib/otel-variables.ts';
import { weaknessOf } from './lib/secrets/secret-strength.ts';
import { tagFault } from './lib/tags.ts';

/** A rate in USD per million tokens, flat or with a higher rate above a number of input tokens. */
const rate = z.union(
  [
    z.number().nonnegative(),
    z.strictObject({
      base: z.number().nonnegative(),
      tiers: z.array(z.strictObject({ above: z.int().nonnegative(), rate: z.number().nonnegative() })).min(1),
    }),
  ],
  'a rate is a number from 0 up, or {"base", "tiers": [{"above", "rate"}, …]}',
);

const unit = z.number('a price is a number from 0 up').nonnegative();

const overrideRates = z.strictObject({
  input: rate.optional(),
  output: rate.optional(),
  cache_read: rate.optional(),
  cache_write_5m: rate.optional(),
  cache_write_1h: rate.optional(),
  reasoning: rate.optional(),
  audio_input: rate.optional(),
  audio_output: rate.optional(),
  image_input: rate.optional(),
  image_output: rate.optional(),
  /** USD per picture made. */
  image: unit.optional(),
  /** USD per hour of recorded speech. */
  audio_hour: unit.optional(),
  /** USD per million characters spoken. */
  characters: unit.optional(),
  /** USD per thousand units of reranking. */
  search_unit: unit.optional(),
});

/** Whether rates are enough to price by. */
const checkRates = (context: z.core.ParsePayload<Readonly<Record<string, unknown>>>): void => {
  const { value: rates } = context;
  const fault = (message: string) => context.issues.push({ code: 'custom', message, input: rates });
  if (Object.keys(rates).length === 0) fault('a price names at least one rate');
  if ((rates['input'] === undefined) !== (rates['output'] === undefined))
    fault('input and output are given together; 0 says that one costs nothing');
};

const tierName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_.-]{0,39}$/, 'a tier is named as answers name it, e.g. priority or flex')
  .refine((name) => name !== 'default', 'the price itself is that of the default tier');

const priceOverride = overrideRates
  .extend({
    /** What service tiers cost beside the usual one, by the tier that answers name. */
    tiers: z.record(tierName, overrideRates.check(checkRates)).optional(),
  })
  .check(checkRates);

/** What the owner says a model costs: USD per million tokens, where nothing else is said. */
export type PriceOverride = z.infer<typeof priceOverride>;

const pattern = z.string().min(1, 'a pattern is not empty; * stands for any text').max(300);

const tagRule = z.strictObject({
  when: z
    .strictObject({ client: pattern, key: pattern, model: pattern, path: pattern })
    .partial()
    .refine((when) => Object.keys(when).length > 0, 'a rule names client, key, model or path'),
  tags: z
    .array(
      z.string().check((tag) => {
        const fault = tagFault(tag.value);
        if (fault !== null) tag.issues.push({ code: 'custom', message: fault, input: tag.value });
      }),
    )
    .min(1, 'a rule adds at least one tag')
    .max(16, 'a rule adds at most 16 tags'),
});

/** Tags that are put on requests of a client (by its user agent), a key (by name), a model (as it is asked for) or a path. */
export type TagRule = z.infer<typeof tagRule>;

/** Which tags a client may name in the header `x-gateway-tags`. `*` in a pattern stands for any text. */
export interface HeaderTags {
  /** Patterns of names that every key may send; null for all names but `owner` and `team`. */
  names: readonly string[] | null;
  /** Patterns of the names of keys that may send any tag. */
  trustedKeys: readonly string[];
}

/** More processes than that on one machine share more than they compute. */
/** The longest period of a budget is a month: what it counts must be in the ledger. */
export const LEAST_LEDGER_DAYS = 32;
const MOST_WORKERS = 128;
const workers = z.union([z.int().min(1).max(MOST_WORKERS), z.literal('auto')]);

const milliseconds = z.int().min(1).max(86_400_000);
const tokenSeconds = z.int().min(1).max(2_592_000);
const logLevel = z.enum(['debug', 'info', 'warn', 'error', 'silent']);

/** Headers that frame an answer or speak for the connection are the server's. */
const ownHeader =
  /^(?:connection|content-length|date|keep-alive|set-cookie|te|trailer|transfer-encoding|upgrade|www-authenticate)$/;

const fallbackAction = z.strictObject({
  status: z.int().min(400).max(599),
  headers: z
    .record(
      z
        .string()
        .regex(/^[a-z0-9-]{1,64}$/, 'a header is named in lower case')
        .refine((name) => !ownHeader.test(name), 'the gateway sets this header itself'),
      z.string().regex(/^[\x20-\x7e]{0,1024}$/, 'a header has printable ASCII characters'),
    )
    .default({}),
  /** Text, or what is sent as JSON. */
  body: z.union([z.string(), z.looseObject({}), z.null()]).default(null),
});

/** The `HttpRequestFallbackAction` of a fault tolerance rule. */
export type FallbackAction = z.infer<typeof fallbackAction>;

/** `DATA_DIR/config.json`. Environment variables and flags win over it. */
export const configFile = z.strictObject({
  host: z.string().min(1).optional(),
  port: z.int().min(0).max(65_535).optional(),
  workers: workers.optional(),
  auth: z.strictObject({ required: z.boolean() }).optional(),
  log_level: logLevel.optional(),
  access_log: z.boolean().optional(),
  limits: z
    .strictObject({
      header_bytes: z.int().min(4096).max(1_048_576),
      headers_timeout_ms: milliseconds,
      body_timeout_ms: milliseconds,
      body_bytes: z.int().min(1024).max(1_073_741_824),
      connections: z.int().min(1).max(10_000_000).nullable(),
    })
    .partial()
    .optional(),
  timeouts: z
    .strictObject({
      connect_ms: milliseconds,
      headers_ms: milliseconds,
      first_byte_ms: milliseconds,
      idle_ms: milliseconds,
      total_ms: milliseconds,
    })
    .partial()
    .optional(),
  upstream: z
    .strictObject({ http_client: z.enum(['undici', 'own']) })
    .partial()
    .optional(),
  api: z
    .strictObject({
      token_ttl_seconds: tokenSeconds,
      ui_token_ttl_seconds: tokenSeconds,
      token_renewal: z.enum(['fixed', 'sliding']),
      token_max_lifetime_seconds: tokenSeconds,
    })
    .partial()
    .optional(),
  backups: z
    .strictObject({
      every_hours: z.int().min(1).max(8784).nullable(),
      keep: z.int().min(1).max(1000),
    })
    .partial()
    .optional(),
  audit: z.strictObject({ retention_months: z.int().min(1).max(1200).nullable() }).optional(),
  ledger: z
    .strictObject({ retention_days: z.int().min(LEAST_LEDGER_DAYS).max(36_500).nullable() })
    .optional(),
  responses: z
    .strictObject({
      retention_days: z.int().min(0).max(36_500),
      max_bytes: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
    })
    .partial()
    .optional(),
  models: z.strictObject({ refresh_hours: z.int().min(1).max(8760).nullable() }).optional(),
  cache: z
    .strictObject({ max_bytes: z.int().min(0), ttl_seconds: z.int().min(1).max(2_592_000) })
    .partial()
    .optional(),
  redis: z
    .strictObject({ timeout_ms: z.int().min(1).max(60_000), failure_mode: z.enum(['refuse', 'local']) })
    .partial()
    .optional(),
  agents: z
    .strictObject({
      max_processes: z.int().min(1).max(256),
      max_waiting: z.int().min(0).max(10_000),
      wait_ms: milliseconds,
      idle_ms: milliseconds,
    })
    .partial()
    .optional(),
  events: z
    .strictObject({ fallback_actions: z.record(z.string().min(1).max(128), fallbackAction) })
    .partial()
    .optional(),
  tools: z.strictObject({ remote_detection: z.boolean() }).partial().optional(),
  allowed_hosts: z.array(z.string().min(1)).optional(),
  trusted_proxies: z
    .array(
      z.union(
        [z.cidrv4(), z.cidrv6(), z.ipv4(), z.ipv6()],
        'a network is written like 10.0.0.0/8 or fd00::/8, or is one address',
      ),
    )
    .max(100)
    .optional(),
  keepalive_ms: milliseconds.optional(),
  drain_ms: milliseconds.optional(),
  drain_delay_ms: z.int().min(0).max(600_000).optional(),
  header_tags: z
    .strictObject({
      names: z.array(pattern).max(100, 'there may be 100 names').nullable(),
      trusted_keys: z.array(pattern).max(100, 'there may be 100 keys'),
    })
    .partial()
    .optional(),
  tag_rules: z.array(tagRule).max(100, 'there may be 100 rules').optional(),
  prices: z
    .record(z.string().regex(/^[^/]+\/.+$/, 'a price is named provider/model'), priceOverride)
    .optional(),
});

type ConfigFile = z.infer<typeof configFile>;

/** Everything the process is told from outside, parsed once. Times in milliseconds, sizes in bytes. */
export interface Config {
  dataDir: string;
  host: string;
  port: number;
  /** Processes that serve the model endpoints; 1: this one does, beside all else. */
  workers: number;
  /** False lets model requests in without a key; refused on a non-loopback bind. */
  authRequired: boolean;
  /** STORAGE_ENCRYPTION_KEY, or null: then a key file in the data directory serves. */
  storageKey: string | null;
  /** Answers that are given again, where a key or a combo wants that. */
  cache: { maxBytes: number; ttlMs: number };
  /** Processes of ACP agents in all, requests that wait for one and for how long, and when an idle one is ended. */
  agents: { processes: number; waiting: number; waitMs: number; idleMs: number };
  /** REDIS_URL, where several gateways share their limits; null: each by itself. It may hold a password. */
  redis: { url: string; timeoutMs: number; failureMode: 'refuse' | 'local' } | null;
  /** DATABASE_URL, where the state of several gateways is; null: in the data directory. It may hold a password. */
  database: string | null;
  /** EVENTS_DATABASE_URL, where gateways remember together which events were handled; null: each by itself. It may hold a password. */
  sharedEventDatabase: string | null;
  /** EVENTS_LFS_DIR and EVENTS_DFS_URL: where events of sources wait; null: in the data directory, and nowhere. */
  eventStorage: { localFolder: string | null; distributedUrl: string | null };
  /** What events that a limit refuses are answered with, by the name in a fault tolerance rule. */
  eventFallbacks: Readonly<Record<string, FallbackAction>>;
  /** SMTP_URL and SMTP_FROM, where alerts are sent by mail; null: none can be. The address may hold a password. */
  smtp: { url: string; from: string } | null;
  /** OTEL_…: where traces and metrics are sent by OTLP; null: nowhere. Addresses and headers may hold a secret. */
  otel: OtelSettings | null;
  /** Whether webhooks and alerts that were set up through the API may reach loopback and private networks. */
  privateEventTargets: boolean;
  /** Whether alerts that run programs may be set up through the API. */
  alertCommandsByApi: boolean;
  /** ACP_COMMANDS: names and paths of the programs that agents may run that are added through the API. */
  agentCommands: readonly string[];
  logLevel: z.infer<typeof logLevel>;
  /** Whether each request gets a line in the log, at `info`. */
  accessLog: boolean;
  limits: {
    headerBytes: number;
    headersTimeoutMs: number;
    bodyTimeoutMs: number;
    bodyBytes: number;
    /** Clients that may be connected at once; null for as many as the limit of open files leaves room for. */
    connections: number | null;
  };
  timeouts: { connectMs: number; headersMs: number; firstByteMs: number; idleMs: number; totalMs: number };
  /** Who speaks HTTP/1.1 with the providers: undici, or the gateway's own client (`http/client`). */
  upstreamClient: 'undici' | 'own';
  /** Tokens of logins to the management API, in seconds. */
  api: {
    tokenTtlSeconds: number;
    uiTokenTtlSeconds: number;
    tokenRenewal: 'fixed' | 'sliding';
    tokenMaxLifetimeSeconds: number;
  };
  /** After how many hours the next backup is made, null for none; and how many of those are kept. */
  backups: { everyHours: number | null; keep: number };
  /** Months for which the audit log is kept; null for ever. */
  auditMonths: number | null;
  /** Days for which requests stay in the ledger; null for ever. */
  ledgerDays: number | null;
  /** Days for which responses are kept, 0 for memory alone; and characters of all of them together. */
  responses: { retentionDays: number; maxBytes: number };
  /** Age at which lists of models are asked for anew, in milliseconds; null for never. */
  modelsMaxAgeMs: number | null;
  /** Whether callers on other machines may have the programs of coding tools looked for and run. */
  remoteDetection: boolean;
  /** Names of this gateway beside those of this machine, under which the management API may be spoken to. */
  allowedHosts: readonly string[];
  /** Networks of proxies whose word about where a request came from counts. */
  trustedProxies: readonly string[];
  /** A stream that was silent for so long carries a keep-alive. */
  keepAliveMs: number;
  /** How long open requests may finish after SIGTERM. */
  drainMs: number;
  /** How long after SIGTERM it goes on taking requests while `/readyz` says that it stops, for load balancers to see it. */
  drainDelayMs: number;
  prices: Readonly<Record<string, PriceOverride>>;
  /** Which requests get which tags, beside those of their key and their header. */
  tagRules: readonly TagRule[];
  headerTags: HeaderTags;
  /** Where each of the main settings came from, for `config show`. */
  sources: Readonly<
    Record<
      | 'dataDir'
      | 'host'
      | 'port'
      | 'workers'
      | 'authRequired'
      | 'storageKey'
      | 'database'
      | 'redis'
      | 'smtp'
      | 'privateEventTargets'
      | 'alertCommandsByApi'
      | 'agentCommands'
      | 'logLevel'
      | 'accessLog',
      ConfigSource
    >
  >;
}

export type ConfigSource = 'flag' | 'environment' | 'file' | 'default';

export interface ConfigInput {
  env?: Readonly<Record<string, string | undefined>>;
  flags?: { host?: string; port?: string | number; workers?: string; dataDir?: string };
  /** What `config.json` would say, to see what would come of it; absent to read the file. */
  file?: unknown;
}

/**
 * The configuration of this process: flags, then environment, then `DATA_DIR/config.json`, then defaults.
 * @throws GatewayError `invalid_request` that names the setting, where it stands and what it may be.
 */
export function loadConfig({ env = process.env, file: candidate, flags = {} }: ConfigInput = {}): Config {
  if (flags.host === '') throw emptyFlag('--host');
  const dataDir = dataDirectory(env, flags.dataDir);
  const file =
    candidate === undefined
      ? readConfigFile(join(dataDir.value, 'config.json'))
      : parseWith(configFile, candidate, 'config.json');
  const host = pick(flags.host, env['GATEWAY_HOST'], file.host, '127.0.0.1');
  const port = pick(flags.port, env['GATEWAY_PORT'], file.port, 20_128);
  const workerCount = pick<string | number>(flags.workers, env['GATEWAY_WORKERS'], file.workers, 1);
  const auth = pick(undefined, booleanVariable(env, 'GATEWAY_AUTH_REQUIRED'), file.auth?.required, true);
  const level = pick(undefined, env['GATEWAY_LOG_LEVEL'], file.log_level, 'info');
  const accessLog = pick(undefined, booleanVariable(env, 'GATEWAY_ACCESS_LOG'), file.access_log, true);
  const storageKey = env['STORAGE_ENCRYPTION_KEY'];
  const config: Config = {
    dataDir: dataDir.value,
    host: host.value,
    port: portNumber(port.value, port.source),
    workers: workersOf(workerCount.value, workerCount.source),
    authRequired: auth.value,
    storageKey: storageSecret(storageKey),
    redis: redisFrom(env['REDIS_URL'], file.redis),
    database: postgresUrl('DATABASE_URL', env['DATABASE_URL']),
    sharedEventDatabase: postgresUrl('EVENTS_DATABASE_URL', env['EVENTS_DATABASE_URL']),
    eventStorage: {
      localFolder: env['EVENTS_LFS_DIR'] || null,
      distributedUrl: env['EVENTS_DFS_URL'] || null,
    },
    eventFallbacks: file.events?.fallback_actions ?? {},
    smtp: smtpFrom(env),
    otel: readOtelVariables(env),
    privateEventTargets: booleanVariable(env, 'EVENTS_PRIVATE_NETWORKS') ?? false,
    alertCommandsByApi: booleanVariable(env, 'ALERTS_COMMANDS_BY_API') ?? false,
    agentCommands: listVariable(env, 'ACP_COMMANDS'),
    logLevel: parseWith(logLevel, level.value, 'GATEWAY_LOG_LEVEL'),
    accessLog: accessLog.value,
    limits: {
      headerBytes: file.limits?.header_bytes ?? 65_536,
      headersTimeoutMs: file.limits?.headers_timeout_ms ?? 15_000,
      bodyTimeoutMs: file.limits?.body_timeout_ms ?? 120_000,
      bodyBytes: file.limits?.body_bytes ?? 64 * 1024 * 1024,
      connections: file.limits?.connections ?? null,
    },
    timeouts: {
      connectMs: file.timeouts?.connect_ms ?? 10_000,
      headersMs: file.timeouts?.headers_ms ?? 600_000,
      firstByteMs: file.timeouts?.first_byte_ms ?? 300_000,
      idleMs: file.timeouts?.idle_ms ?? 900_000,
      totalMs: file.timeouts?.total_ms ?? 3_600_000,
    },
    upstreamClient: file.upstream?.http_client ?? 'own',
    backups: { everyHours: file.backups?.every_hours ?? null, keep: file.backups?.keep ?? 7 },
    auditMonths: file.audit === undefined ? 6 : file.audit.retention_months,
    ledgerDays: file.ledger?.retention_days ?? null,
    responses: {
      // As long as OpenAI keeps them by default (API reference, `store`).
      retentionDays: file.responses?.retention_days ?? 30,
      maxBytes: file.responses?.max_bytes ?? 1024 ** 3,
    },
    modelsMaxAgeMs: modelsMaxAge(file),
    cache: cacheBounds(file),
    agents: {
      processes: file.agents?.max_processes ?? 8,
      waiting: file.agents?.max_waiting ?? 32,
      waitMs: file.agents?.wait_ms ?? 60_000,
      idleMs: file.agents?.idle_ms ?? 300_000,
    },
    remoteDetection: file.tools?.remote_detection ?? false,
    allowedHosts: file.allowed_hosts ?? [],
    trustedProxies: file.trusted_proxies ?? [],
    api: tokensOf(file.api),
    keepAliveMs: file.keepalive_ms ?? 15_000,
    drainMs: file.drain_ms ?? 30_000,
    drainDelayMs: file.drain_delay_ms ?? 0,
    prices: file.prices ?? {},
    tagRules: file.tag_rules ?? [],
    headerTags: {
      names: file.header_tags?.names ?? null,
      trustedKeys: file.header_tags?.trusted_keys ?? [],
    },
    sources: {
      dataDir: dataDir.source,
      host: host.source,
      port: port.source,
      workers: workerCount.source,
      authRequired: auth.source,
      storageKey: storageKey ? 'environment' : 'default',
      database: env['DATABASE_URL'] ? 'environment' : 'default',
      redis: env['REDIS_URL'] ? 'environment' : 'default',
      smtp: env['SMTP_URL'] ? 'environment' : 'default',
      privateEventTargets: env['EVENTS_PRIVATE_NETWORKS'] ? 'environment' : 'default',
      alertCommandsByApi: env['ALERTS_COMMANDS_BY_API'] ? 'environment' : 'default',
      agentCommands: env['ACP_COMMANDS'] ? 'environment' : 'default',
      logLevel: level.source,
      accessLog: accessLog.source,
    },
  };
  if (!config.authRequired && !isLoopback(config.host)) {
    throw new GatewayError(
      'invalid_request',
      `auth.required=false is only allowed on a loopback address, and host is ${config.host}: set auth.required to true or host to 127.0.0.1`,
      { param: 'auth.required' },
    );
  }
  return config;
}

/** @throws GatewayError for a secret that can be guessed; it is not repeated */
function storageSecret(secret: string | undefined): string | null {
  if (secret === undefined || secret === '') return null;
  const weakness = weaknessOf(secret);
  if (weakness === null) return secret;
  throw new GatewayError(
    'invalid_request',
    `STORAGE_ENCRYPTION_KEY is too weak: ${weakness}. Make one with \`openssl rand -base64 32\`. If it is in use already, set the new one, put the old one into STORAGE_ENCRYPTION_KEY_OLD and run \`gateway storage rotate-key\``,
    { param: 'STORAGE_ENCRYPTION_KEY' },
  );
}

function tokensOf(api: ConfigFile['api']): Config['api'] {
  return {
    tokenTtlSeconds: api?.token_ttl_seconds ?? 600,
    uiTokenTtlSeconds: api?.ui_token_ttl_seconds ?? 3600,
    tokenRenewal: api?.token_renewal ?? 'fixed',
    tokenMaxLifetimeSeconds: api?.token_max_lifetime_seconds ?? 43_200,
  };
}

function cacheBounds({ cache }: ConfigFile): Config['cache'] {
  return { maxBytes: cache?.max_bytes ?? 64 * 1024 * 1024, ttlMs: (cache?.ttl_seconds ?? 3600) * 1000 };
}

function modelsMaxAge({ models }: ConfigFile): number | null {
  const hours = models === undefined ? 6 : models.refresh_hours;
  return hours === null ? null : hours * 3_600_000;
}

/** How long a request waits for Redis where no lease covers it. */
const REDIS_TIMEOUT_MS = 2_000;

/** @throws GatewayError for what is no address of Redis; it is not repeated, for it may hold a password */
function redisFrom(url: string | undefined, file: ConfigFile['redis']): Config['redis'] {
  if (url === undefined || url === '') return null;
  if (/^rediss?:\/\//.test(url) && URL.canParse(url))
    return {
      url,
      timeoutMs: file?.timeout_ms ?? REDIS_TIMEOUT_MS,
      failureMode: file?.failure_mode ?? 'refuse',
    };
  const message = 'REDIS_URL must look like redis://HOST:PORT or rediss://HOST:PORT';
  throw new GatewayError('invalid_request', message, { param: 'REDIS_URL' });
}

/** @throws GatewayError for what is no address of PostgreSQL; it is not repeated, for it may hold a password */
function postgresUrl(name: string, url: string | undefined): string | null {
  if (url === undefined || url === '') return null;
  if (/^postgres(?:ql)?:\/\//.test(url) && URL.canParse(url)) return url;
  const message = `${name} must look like postgres://USER:PASSWORD@HOST:PORT/DATABASE`;
  throw new GatewayError('invalid_request', message, { param: name });
}

/** @throws GatewayError for what is no address of a mail server; it is not repeated, for it may hold a password */
function smtpFrom(env: NonNullable<ConfigInput['env']>): Config['smtp'] {
  const written = readVariable('SMTP_URL', env);
  if (written === undefined) return null;
  const url = written.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) =>
    encodeURIComponent(readVariable(name, env) ?? ''),
  );
  if (!/^smtps?:\/\//.test(url) || !URL.canParse(url))
    throw new GatewayError(
      'invalid_request',
      'SMTP_URL must look like smtp://USER:PASSWORD@HOST:587 or smtps://USER:PASSWORD@HOST',
      { param: 'SMTP_URL' },
    );
  const from = env['SMTP_FROM'] ?? '';
  if (!from.includes('@'))
    throw new GatewayError('invalid_request', 'SMTP_FROM must be the address that mails come from', {
      param: 'SMTP_FROM',
    });
  return { url, from };
}

/** True for addresses that only this machine can reach (127.0.0.0/8, ::1, localhost). */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** The value of an environment variable that the user named, e.g. with `--api-key-env`. Undefined when unset or empty. */
export function readVariable(name: string, env: ConfigInput['env'] = process.env): string | undefined {
  const value = env[name];
  return value === '' ? undefined : value;
}

/** All of this process's environment, for a program that is started in the place of this one. */
export function inheritedEnvironment(
  env: ConfigInput['env'] = process.env,
): Record<string, string | undefined> {
  return { ...env };
}

/** Which of `names` are set to something. The values are not read out. */
export function setVariables(names: readonly string[], env: ConfigInput['env'] = process.env): string[] {
  return names.filter((name) => readVariable(name, env) !== undefined);
}

/** An unset shell variable in quotes: neither every address nor the working directory is what was meant. */
function emptyFlag(flag: string): GatewayError {
  return new GatewayError('invalid_request', `${flag} is empty: give a value, or leave it out`);
}

interface SourcedValue<T> {
  value: T;
  source: ConfigSource;
}

function pick<T>(
  flag: T | undefined,
  variable: T | undefined,
  file: T | undefined,
  fallback: T,
): SourcedValue<T> {
  if (flag !== undefined) return { value: flag, source: 'flag' };
  if (variable !== undefined && variable !== '') return { value: variable, source: 'environment' };
  if (file !== undefined) return { value: file, source: 'file' };
  return { value: fallback, source: 'default' };
}

/**
 * The data directory alone, which can be known where `config.json` is wrong.
 * @throws GatewayError `invalid_request` for a flag that is wrong, `--port` too
 */
export function dataDirectoryOf({
  env = process.env,
  flags = {},
}: Pick<ConfigInput, 'env' | 'flags'>): string {
  if (flags.port !== undefined) portNumber(flags.port, 'flag');
  return dataDirectory(env, flags.dataDir).value;
}

/** STORAGE_ENCRYPTION_KEY alone, which does not depend on `config.json`. @throws GatewayError for one that can be guessed */
export function storageSecretOf(env: NonNullable<ConfigInput['env']> = process.env): string | null {
  return storageSecret(env['STORAGE_ENCRYPTION_KEY']);
}

/** DATABASE_URL alone, which does not depend on `config.json`. @throws GatewayError for what is no address */
export function databaseUrlOf(env: NonNullable<ConfigInput['env']> = process.env): string | null {
  return postgresUrl('DATABASE_URL', env['DATABASE_URL']);
}

function dataDirectory(env: NonNullable<ConfigInput['env']>, flag: string | undefined): SourcedValue<string> {
  if (flag === '') throw emptyFlag('--data-dir');
  const { source, value } = pick<string | null>(flag, env['DATA_DIR'], undefined, null);
  return { value: resolve(value ?? defaultDataDirectory(env)), source };
}

function readConfigFile(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    // ENOTDIR: the data directory is a file, or below one, which whoever needs it says.
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return {};
    throw new GatewayError('invalid_request', `${path} cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw new GatewayError('invalid_request', `${path} is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return parseWith(configFile, json, path);
}

function parseWith<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  // That a name is not valid says nothing; why it is not stands one level down.
  const message = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  throw new GatewayError('invalid_request', `${where}: ${field ? `${field}: ` : ''}${message ?? 'invalid'}`, {
    param: field || where,
  });
}

function portNumber(value: string | number, source: ConfigSource): number {
  const port = typeof value === 'number' ? value : /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  const name = source === 'flag' ? '--port' : 'GATEWAY_PORT';
  throw new GatewayError('invalid_request', `${name} must be a port from 0 to 65535, not "${value}"`, {
    param: 'port',
  });
}

/** @throws GatewayError for what is neither a number of workers nor `auto`, and for more than one on Windows */
function workersOf(value: string | number, source: ConfigSource): number {
  const name =
    source === 'flag' ? '--workers' : source === 'environment' ? 'GATEWAY_WORKERS' : 'config.json: workers';
  const number = typeof value === 'string' && /^\d{1,3}$/.test(value) ? Number(value) : value;
  const parsed = workers.safeParse(number);
  if (!parsed.success)
    throw new GatewayError(
      'invalid_request',
      `${name} must be a number from 1 to ${MOST_WORKERS}, or auto for one for each core, not "${value}"`,
      { param: 'workers' },
    );
  if (process.platform === 'win32' && parsed.data !== 1 && parsed.data !== 'auto')
    throw new GatewayError('invalid_request', `${name}: on Windows a gateway is one process: leave it out`, {
      param: 'workers',
    });
  if (parsed.data !== 'auto') return parsed.data;
  return process.platform === 'win32' ? 1 : Math.min(MOST_WORKERS, availableParallelism());
}

/** The values of a variable, with commas between them. */
function listVariable(env: NonNullable<ConfigInput['env']>, name: string): string[] {
  const values = (env[name] ?? '').split(',').map((value) => value.trim());
  return values.filter((value) => value !== '');
}

function booleanVariable(env: NonNullable<ConfigInput['env']>, name: string): boolean | undefined {
  const value = env[name]?.toLowerCase();
  if (value === undefined || value === '') return undefined;
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw new GatewayError('invalid_request', `${name} must be true or false, not "${env[name]}"`, {
    param: name,
  });
}
