import { type Kysely, type Migration, sql } from 'kysely';

/** What is used beside text: tokens of pictures, and what is counted in other units than tokens. */
const columns = {
  image_input_tokens: 'integer',
  image_output_tokens: 'integer',
  images: 'integer',
  audio_seconds: 'real',
  characters: 'integer',
  search_units: 'real',
} as const;

export const media: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const [name, type] of Object.entries(columns))
      await sql.raw(`alter table requests add column ${name} ${type}`).execute(db);
  },
};
