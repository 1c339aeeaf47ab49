import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Sums over requests that were removed from the ledger by their age, and the spans of time that they are for. Unlike those of
 * `usage_sums` they cannot be made again.
 */
export const archivedUsage: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table archived_sums (
        number integer primary key autoincrement, grouping_name text not null, at integer not null, provider text,
        model text, connection text, key_id text, combo_id text, owner text, team text, tag text, format text,
        outcome text, tier text, requests integer not null, failed integer not null, aborted integer not null,
        estimated integer not null, unpriced integer not null, unpriced_tokens integer not null, cost_usd real,
        cache_savings_usd real, billed_usd real, plan_usd real, routing_savings_usd real,
        duration_ms integer not null, ttft_ms integer, ttft_count integer not null, input_tokens integer,
        cache_read_tokens integer, cache_write_5m_tokens integer, cache_write_1h_tokens integer,
        output_tokens integer, reasoning_tokens integer, audio_input_tokens integer, audio_output_tokens integer,
        image_input_tokens integer, image_output_tokens integer, web_searches integer, images integer,
        audio_seconds real, characters integer, search_units integer
      )`.execute(db);
    await sql`create index archived_sums_by_time on archived_sums (grouping_name, at)`.execute(db);
    await sql`
      create table archived_spans (step_ms integer not null, at integer not null, primary key (step_ms, at))`.execute(
      db,
    );
  },
};
