import { type Kysely, type Migration, sql } from 'kysely';

/** On a server too, a change of a request takes the kept sums of its hour and day out of force: a file has these triggers since 0047. */
export const keptSumsOnServers: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [verb, row] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ]) {
      const spans = [3_600_000, 86_400_000].map(
        (ms) => `delete from usage_spans where step_ms = ${ms} and at = ${row}.started_at / ${ms} * ${ms};`,
      );
      await sql
        .raw(
          `create trigger if not exists usage_spans_${verb} after ${verb} on requests begin ${spans.join(' ')} end`,
        )
        .execute(db);
    }
  },
};
