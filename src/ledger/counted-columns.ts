import { type RawBuilder, sql } from 'kysely';
import type { CountedAttribute } from './schema.ts';

/** The program of the user agent: what stands before its first slash or blank. */
export const clientColumn: RawBuilder<unknown> = sql`substr(user_agent, 1, min(
  instr(user_agent || '/', '/'), instr(user_agent || ' ', ' ')) - 1)`;

/** An attribute whose values are counted. */
export type ValueAttribute = Exclude<CountedAttribute, 'started_at'>;

/** What requests are counted by, as columns. */
export const countedColumns: Readonly<Record<ValueAttribute, RawBuilder<unknown>>> = {
  outcome: sql`outcome`,
  status: sql`status`,
  client: clientColumn,
  key_id: sql`key_id`,
  requested_model: sql`requested_model`,
  connection: sql`connection`,
};

export const valueAttributes = Object.keys(countedColumns) as readonly ValueAttribute[];
