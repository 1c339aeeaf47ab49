import type { Generated } from 'kysely';

/** The database as Kysely sees it. Times are milliseconds since the epoch, flags 0 or 1, lists JSON text. */
export interface Tables {
  keys: KeyTable;
  connections: ConnectionTable;
  users: UserTable;
  settings: SettingTable;
  requests: RequestTable;
  responses: ResponseTable;
  revision: { id: number; value: number };
}

export interface KeyTable {
  id: string;
  name: string;
  prefix: string;
  hash: string;
  models: string | null;
  created_at: number;
  expires_at: number | null;
  disabled: Generated<number>;
}

export interface ConnectionTable {
  id: string;
  provider: string;
  name: string;
  auth_type: 'api-key' | 'none';
  base_url: string | null;
  /** The sealed credential. */
  credential: string | null;
  default_model: string | null;
  active: Generated<number>;
  priority: Generated<number>;
  models: string | null;
  models_at: number | null;
  status: Generated<'untested' | 'ok' | 'failed'>;
  last_error: string | null;
  last_tested_at: number | null;
  created_at: number;
}

export interface UserTable {
  id: string;
  name: string;
  role: 'admin';
  /** A PHC string. */
  password: string;
  created_at: number;
  updated_at: number;
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
  /** USD; null where no price is known. */
  cost_usd: number | null;
  price_source: string | null;
  ttft_ms: number | null;
  duration_ms: number;
  attempts: number;
  upstream_request_id: string | null;
  user_agent: string | null;
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
  /** JSON text. */
  input: string;
  response: string;
}
