import { type Kysely, type Migration, sql } from 'kysely';

/**
 * Sums over the ledger that are kept, so that a report over months does not read millions of rows, and the spans of time
 * that they are complete for. A span ends to be there with each change of a request that began in it.
 */
export const largeInstallations: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`
      create table usage_sums (
        grouping_name text not null, at integer not null, provider text, model text, connection text, key_id text,
        combo_id text, owner text, team text, tag text, format text, outcome text, tier text,
        requests integer not null, failed integer not null, aborted integer not null, estimated integer not null,
        unpriced integer not null, unpriced_tokens integer not null, cost_usd real, cache_savings_usd real,
        billed_usd real, plan_usd real, routing_savings_usd real, duration_ms integer not null, ttft_ms integer,
        ttft_count integer not null, input_tokens integer, cache_read_tokens integer, cache_write_5m_tokens integer,
        cache_write_1h_tokens integer, output_tokens integer, reasoning_tokens integer, audio_input_tokens integer,
        audio_output_tokens integer, image_input_tokens integer, image_output_tokens integer, web_searches integer,
        images integer, audio_seconds real, characters integer, search_units integer
      )`.execute(db);
    await sql`create index usage_sums_by_time on usage_sums (grouping_name, at)`.execute(db);
    await sql`
      create table usage_spans (
        step_ms integer not null, at integer not null, complete integer not null, primary key (step_ms, at)
      )`.execute(db);
    for (const [verb, row] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ]) {
      const spans = [3_600_000, 86_400_000].map(
        (ms) => `delete from usage_spans where step_ms = ${ms} and at = ${row}.started_at / ${ms} * ${ms};`,
      );
      await sql
        .raw(`create trigger usage_spans_${verb} after ${verb} on requests begin ${spans.join(' ')} end`)
        .execute(db);
    }
    await createKeyChanges(db);
  },
};

/** Which keys were changed last, so that a running gateway reads those alone. */
async function createKeyChanges(db: Kysely<unknown>): Promise<void> {
  await sql`create table key_changes (number integer primary key autoincrement, key_id text not null)`.execute(
    db,
  );
  for (const [verb, row] of [
    ['insert', 'new'],
    ['update', 'new'],
    ['delete', 'old'],
  ]) {
    await sql
      .raw(`
        create trigger key_changes_${verb} after ${verb} on keys begin
          insert into key_changes (key_id) values (${row}.id);
          delete from key_changes where number <= (select max(number) from key_changes) - 10000;
        end`)
      .execute(db);
  }
}
