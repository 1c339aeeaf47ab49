import type { Generated } from 'kysely';

/** The database as Kysely sees it. Times are milliseconds since the epoch, flags 0 or 1, lists JSON text. */
export interface Tables {
  keys: KeyTable;
  /** Which keys were changed, the latest 10,000 times. */
  key_changes: { number: Generated<number>; key_id: string };
  connections: ConnectionTable;
  users: UserTable;
  tokens: TokenTable;
  login_failures: LoginFailureTable;
  services: ServiceTable;
  tasks: TaskTable;
  settings: SettingTable;
  idempotency: IdempotencyTable;
  requests: RequestTable;
  usage_sums: UsageSumTable;
  usage_spans: UsageSpanTable;
  packed_sums: PackedSumsTable;
  /** The spans of several hours or days that there are sums and counts of. */
  sum_rollups: { step_ms: number; at: number; fingerprint: string };
  /** Values of attributes of requests, by the number that `value_counts` has for them. */
  counted_values: { number: Generated<number>; value: string };
  value_counts: ValueCountsTable;
  /** How many runs of tools began in a time, while `usage_spans` is as it was. */
  run_totals: { id: number; since: number; before: number; fingerprint: string; runs: number };
  /** Sums over requests that were removed from the ledger by their age. */
  archived_sums: UsageSumTable & { number: Generated<number> };
  archived_spans: { step_ms: number; at: number };
  responses: ResponseTable;
  response_places: ResponsePlaceTable;
  standings: StandingTable;
  combos: ComboTable;
  aliases: AliasTable;
  leases: LeaseTable;
  budgets: BudgetTable;
  /** What is known of the budgets that several gateways share: the ids of this one, and the tally, as JSON text. */
  budget_tallies: { key: string; own: string; tally: string };
  traces: { id: string; trace: string };
  alerts: AlertTable;
  /** What the digest of an alert has counted so far, as JSON text. */
  alert_digests: { alert_id: string; state: string };
  /** What keys and combos were called that were removed. */
  former_names: { id: string; name: string; removed_at: number };
  budget_thresholds: BudgetThresholdTable;
  revision: { id: number; value: number };
  event_configs: EventConfigTable;
  tunnels: TunnelTable;
  agents: AgentTable;
  saved_views: SavedViewTable;
  nodes: NodeTable;
  /** When the jobs last ran that the gateways of a database do together: times in milliseconds since the epoch, and which gateway did. */
  job_runs: { name: string; at: number; node: string };
}

/** The gateways that share the database. */
export interface NodeTable {
  id: string;
  host: string;
  url: string;
  version: string;
  started_at: number;
  /** When it last said that it is there. */
  seen_at: number;
}

const known: Readonly<Record<keyof Tables, true>> = {
  keys: true,
  key_changes: true,
  connections: true,
  users: true,
  tokens: true,
  login_failures: true,
  services: true,
  tasks: true,
  settings: true,
  idempotency: true,
  requests: true,
  usage_sums: true,
  usage_spans: true,
  packed_sums: true,
  sum_rollups: true,
  counted_values: true,
  value_counts: true,
  run_totals: true,
  archived_sums: true,
  archived_spans: true,
  responses: true,
  response_places: true,
  standings: true,
  combos: true,
  aliases: true,
  leases: true,
  budgets: true,
  traces: true,
  revision: true,
  budget_tallies: true,
  event_configs: true,
  tunnels: true,
  agents: true,
  saved_views: true,
  nodes: true,
  job_runs: true,
  alerts: true,
  alert_digests: true,
  former_names: true,
  budget_thresholds: true,
};

/** Every table, to tell a whole database from one that lacks some. */
export const tableNames: readonly string[] = Object.keys(known);

export interface KeyTable {
  id: string;
  name: string;
  prefix: string;
  hash: string;
  models: string | null;
  created_at: number;
  expires_at: number | null;
  disabled: Generated<number>;
  /** Null: answers are not given again. */
  cache_ttl_seconds: number | null;
  /** The name of a user, or any text. */
  owner: string | null;
  team: string | null;
  /** A JSON object of texts; null for none. */
  labels: string | null;
}

export interface ConnectionTable {
  id: string;
  provider: string;
  name: string;
  auth_type: 'api-key' | 'none' | 'oauth' | 'service-account' | 'client-credentials' | 'aws-keys';
  base_url: string | null;
  /** The sealed credential. */
  credential: string | null;
  default_model: string | null;
  active: Generated<number>;
  priority: Generated<number>;
  prompt_cache_marks: Generated<number>;
  /** How the provider charges: by use, or a plan at a fixed price. */
  billing: Generated<'metered' | 'plan'>;
  models: string | null;
  models_at: number | null;
  /** When it was last asked for them in the background, and why it gave none. */
  models_tried_at: number | null;
  models_error: string | null;
  status: Generated<'untested' | 'ok' | 'failed'>;
  last_error: string | null;
  last_tested_at: number | null;
  created_at: number;
}

export interface AlertTable {
  id: string;
  name: string;
  kind: 'webhook' | 'slack' | 'email' | 'command';
  /** Where it goes, sealed. */
  target: string;
  /** What signs webhooks, sealed. */
  secret: string | null;
  /** Names and patterns of events. */
  events: string;
  condition: string | null;
  digest_ms: number;
  paused: number;
  by_api: number;
  created_at: number;
  updated_at: number;
  active_since: number;
}

export interface UserTable {
  id: string;
  name: string;
  role: 'viewer' | 'operator' | 'admin';
  /** A PHC string. */
  password: string;
  created_at: number;
  updated_at: number;
  /** Never used again for another user, unlike the name. */
  guid: string | null;
  display_name: string | null;
  disabled: Generated<number>;
  /** Counts up with every change of password or state; a token of an older count is worth nothing. */
  credential_version: Generated<number>;
  /** Counts up with every change of role; a token of a login of an older count has ended. */
  role_version: Generated<number>;
  password_changed_at: number | null;
  last_login_at: number | null;
}

/** Tokens of the management API: of a login, or named ones for automation. */
export interface TokenTable {
  /** The accessor: names the token and opens nothing. */
  id: string;
  user_id: string;
  kind: 'api' | 'ui' | 'ws' | 'automation';
  /** SHA-256 of the token, in hexadecimal. */
  hash: string;
  /** Its last characters, to be recognised by. */
  hint: string;
  name: string | null;
  /** Permissions, of automation tokens. */
  scopes: string | null;
  labels: string | null;
  cidrs: string | null;
  /** Which members of collections an automation token reaches; null for all. */
  selectors: string | null;
  credential_version: number;
  role_version: Generated<number>;
  created_at: number;
  expires_at: number;
  /** When the password was proven. */
  auth_at: number | null;
  last_used_at: number | null;
  last_used_address: string | null;
  ttl_seconds: number;
  /** Sliding expiry ends here. */
  max_expires_at: number | null;
}

/** Failed logins of a subject: an account, a client, or both together. */
export interface LoginFailureTable {
  subject: string;
  failures: number;
  first_at: number;
  last_at: number;
  blocked_until: number;
}

/** What is wanted of a service; what it is, it says itself. */
export interface ServiceTable {
  id: string;
  guid: string;
  desired_state: 'running' | 'stopped';
  options: string;
  labels: string;
  revision: number;
  created_at: number;
  updated_at: number;
}

export interface TaskTable {
  id: string;
  name: string;
  target: string | null;
  state: 'Queued' | 'Active' | 'Finished';
  status: 'Ok' | 'Warn' | 'Error';
  message: string;
  user_id: string | null;
  created_at: number;
  updated_at: number;
  /** 0 to 1. */
  progress: number | null;
  result: string | null;
  /** The gateway that does it, where several share the database. */
  node: string | null;
}

/** Requests of the management API that may be repeated and are carried out once. */
export interface IdempotencyTable {
  user_id: string;
  /** The key that the caller chose. */
  name: string;
  fingerprint: string;
  /** Sealed; null while it is carried out, or where that broke off. */
  answer: string | null;
  created_at: number;
}

export interface SettingTable {
  name: string;
  value: string;
}

/** The ledger: one row per model request. */
export interface RequestTable {
  id: string;
  started_at: number;
  key_id: string | null;
  connection_id: string | null;
  connection: string | null;
  provider: string | null;
  format: string;
  requested_model: string | null;
  combo_id: string | null;
  /** Null for none. */
  inner_combo_ids: string | null;
  /** A JSON array of what a translated request asked for and its target was not told; null for nothing. */
  dropped: string | null;
  model: string | null;
  status: number;
  outcome: 'ok' | 'failed' | 'aborted';
  error_code: string | null;
  error_message: string | null;
  streamed: number;
  /** Null in all columns of usage: unknown. Those that came with a later schema are null in older rows, for none. */
  input_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_5m_tokens: number | null;
  cache_write_1h_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  audio_input_tokens: number | null;
  audio_output_tokens: number | null;
  image_input_tokens: number | null;
  image_output_tokens: number | null;
  web_searches: number | null;
  images: number | null;
  audio_seconds: number | null;
  characters: number | null;
  search_units: number | null;
  estimated: number;
  cached: Generated<number>;
  continued: Generated<number>;
  /** Null where none was named. */
  asked_tier: string | null;
  served_tier: string | null;
  /** Null where the answer does not say, and in older rows. */
  finish_reason:
    | 'stop'
    | 'stop_sequence'
    | 'length'
    | 'tool_calls'
    | 'context_window_exceeded'
    | 'content_filter'
    | 'paused'
    | 'other'
    | null;
  raw_finish_reason: string | null;
  /** USD; null where no price is known. */
  cost_usd: number | null;
  price_source: string | null;
  /** USD that the vendor's prompt cache saved, less what storing cost; null where no price is known, and in older rows. */
  cache_savings_usd: number | null;
  /** 1 where the connection was paid by a plan. */
  on_plan: Generated<number>;
  /** USD that the combo saved against its first target; null where there is nothing to compare, and in older rows. */
  routing_savings_usd: number | null;
  /** The session as the client names it; null where it names none, and in older rows. */
  session: string | null;
  ttft_ms: number | null;
  duration_ms: number;
  attempts: number;
  upstream_request_id: string | null;
  user_agent: string | null;
  /** A JSON array of texts; null for none. */
  tags: string | null;
}

/** Sums over the requests that began in a span of time and have a value in common. Amounts as in the ledger. */
export interface UsageSumTable {
  /** What the requests were grouped by. */
  grouping_name: string;
  /** Where the span begins, in milliseconds since the epoch. */
  at: number;
  /** Null where the group was not made by it, and where it was not known. */
  provider: string | null;
  model: string | null;
  connection: string | null;
  key_id: string | null;
  combo_id: string | null;
  owner: string | null;
  team: string | null;
  tag: string | null;
  format: string | null;
  outcome: string | null;
  tier: string | null;
  requests: number;
  failed: number;
  aborted: number;
  estimated: number;
  unpriced: number;
  unpriced_tokens: number;
  cost_usd: number | null;
  cache_savings_usd: number | null;
  billed_usd: number | null;
  plan_usd: number | null;
  routing_savings_usd: number | null;
  duration_ms: number;
  ttft_ms: number | null;
  ttft_count: number;
  input_tokens: number | null;
  cache_read_tokens: number | null;
  cache_write_5m_tokens: number | null;
  cache_write_1h_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  audio_input_tokens: number | null;
  audio_output_tokens: number | null;
  image_input_tokens: number | null;
  image_output_tokens: number | null;
  web_searches: number | null;
  images: number | null;
  audio_seconds: number | null;
  characters: number | null;
  search_units: number | null;
}

/** The spans of time that sums are kept for. A change of a request that began in one deletes it. */
export interface UsageSpanTable {
  step_ms: number;
  /** Where it begins, in milliseconds since the epoch: a multiple of `step_ms`. */
  at: number;
  /** 1 once the sums are kept; 0, or on a server the negative number of whoever makes them, while its requests are summed up. */
  complete: number;
  /** Above 0 where the values of its requests are counted in `value_counts`: another number each time. */
  counted: Generated<number>;
  /** 1 where `packed_sums` has its sums. */
  packed: Generated<number>;
}

/** The sums of all groups of a span of time. */
export interface PackedSumsTable {
  /** What the requests were grouped by. */
  grouping_name: string;
  step_ms: number;
  /** Where the span begins, in milliseconds since the epoch. */
  at: number;
  /** As `src/ledger/kept-sums/packed-sums.ts` writes it. */
  sums: Uint8Array;
}

/** How often the values of an attribute occur in the requests of a span of time. */
export interface ValueCountsTable {
  attribute: string;
  step_ms: number;
  /** Where the span begins, in milliseconds since the epoch. */
  at: number;
  /** As `src/ledger/kept-sums/value-counts.ts` writes it. */
  counts: Uint8Array;
}

export interface BudgetTable {
  id: string;
  scope: 'global' | 'key' | 'combo' | 'connection' | 'team' | 'owner' | 'tag';
  subject: string | null;
  metric: 'usd' | 'tokens' | 'requests' | 'concurrency';
  /** USD, tokens or requests. */
  amount: number;
  period: 'minute' | 'hour' | 'day' | 'week' | 'month' | null;
  soft_percent: number | null;
  unpriced: 'allow' | 'refuse';
  created_at: number;
  updated_at: number;
  reset_at: number | null;
}

/** When a budget reached its warning threshold or its limit. */
export interface BudgetThresholdTable {
  budget_id: string;
  kind: 'soft' | 'exceeded';
  reached_at: number;
  /** USD, tokens or requests. */
  used: number;
  /** A sentence for people. */
  what: string;
}

/** Answers that may be continued. */
export interface ResponseTable {
  id: string;
  created_at: number;
  key_id: string;
  connection_id: string;
  model: string;
  previous_id: string | null;
  /** Length of `input` and `response`. */
  bytes: number;
  /** JSON text; empty where it is sealed. */
  input: string;
  response: string;
  /** Both as one JSON object, sealed; null in a row of an earlier version. */
  sealed: Uint8Array | null;
  /** The name of the key that it is sealed with. */
  sealed_with: string | null;
}

/** Where a response is that its provider keeps. */
export interface ResponsePlaceTable {
  id: string;
  key_id: string;
  connection_id: string;
  created_at: number;
  /** Null in rows of earlier versions. */
  request_id: string | null;
  model: string | null;
}

/** What is held against an account, or against one model at it, since it failed. */
export interface StandingTable {
  connection_id: string;
  /** Empty for the whole account. */
  model: string;
  state: 'ready' | 'cooling' | 'probing' | 'exhausted' | 'needs-attention';
  reason: string;
  since: number;
  until: number | null;
  /** 1 where the upstream named the time. */
  told: number;
  failures: number;
  fingerprint: string | null;
}

/** Routing sets. At most one is active. */
export interface ComboTable {
  id: string;
  name: string;
  strategy: string;
  /** JSON text. */
  targets: string;
  options: string;
  active: Generated<number>;
  created_at: number;
  updated_at: number;
}

/** Other names of models. */
export interface AliasTable {
  id: string;
  name: string;
  target: string;
  created_at: number;
}

/** Who may do something that only one process may do at a time, and until when. */
export interface LeaseTable {
  name: string;
  owner: string;
  /** Milliseconds since the epoch. */
  until: number;
}

/** The configurations of events that were put into force. */
export interface EventConfigTable {
  number: Generated<number>;
  /** YAML or JSON, as it stood in the file. */
  text: string;
  created_at: number;
  /** The name of whoever changed it. */
  author: string;
  via: 'file' | 'api' | 'rollback';
}

export interface TunnelTable {
  id: 'cloudflared' | 'tailscale' | 'ngrok';
  domain: string | null;
  desired_state: 'running' | 'stopped';
  created_at: number;
}

/** What was decided about ACP agents: one row for each of which something was. */
export interface AgentTable {
  id: string;
  enabled: number;
  /** JSON text: how it is run. */
  settings: string;
  /** JSON text that describes an agent which was added; null for one of the catalogue. */
  custom: string | null;
  /** 1 where it was added through the management API: then only allowed programs are run. */
  by_api: number;
  created_at: number;
  updated_at: number;
}

/** Filters of a page of the dashboard that a user saved. */
export interface SavedViewTable {
  id: string;
  user_id: string;
  page: string;
  name: string;
  /** A query string. */
  search: string;
  created_at: number;
  updated_at: number;
}
