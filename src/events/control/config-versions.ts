import { sql } from 'kysely';
import type { Store } from '../../store/database.ts';

/** A configuration that was put into force. */
export interface ConfigVersion {
  /** Counts up, and is never used again. */
  readonly number: number;
  /** YAML or JSON, as it stood in the file. */
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly author: string;
  /** How it came: from the file itself, by the API, or by going back to an earlier one. */
  readonly via: 'file' | 'api' | 'rollback';
}

export interface ConfigVersions {
  newest(): Promise<ConfigVersion | null>;
  find(number: number): Promise<ConfigVersion | null>;
  /** The newest first, without their texts. */
  list(): Promise<readonly Omit<ConfigVersion, 'text'>[]>;
  /** @returns it with its number. The oldest make room for it. */
  add(version: Omit<ConfigVersion, 'number'>): Promise<ConfigVersion>;
  /** Takes back one that could not be put into force after all. */
  remove(number: number): Promise<void>;
}

const MOST_VERSIONS = 100;
const MOST_TEXT_CHARACTERS = 16_777_216;

export function configVersions({ db }: Pick<Store, 'db'>): ConfigVersions {
  const columns = ['number', 'created_at as at', 'author', 'via'] as const;
  return {
    async newest() {
      const row = await db
        .selectFrom('event_configs')
        .select([...columns, 'text'])
        .orderBy('number', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ?? null;
    },
    async find(number) {
      const row = await db
        .selectFrom('event_configs')
        .select([...columns, 'text'])
        .where('number', '=', number)
        .executeTakeFirst();
      return row ?? null;
    },
    list: () => db.selectFrom('event_configs').select(columns).orderBy('number', 'desc').execute(),
    async add({ at, author, text, via }) {
      const { number } = await db
        .insertInto('event_configs')
        .values({ text, created_at: at, author, via })
        .returning('number')
        .executeTakeFirstOrThrow();
      await sql`
        delete from event_configs where number != ${number} and number in (
          select number from (
            select number, row_number() over (order by number desc) as place,
              sum(length(text)) over (order by number desc) as characters
            from event_configs
          ) as each_version where place > ${MOST_VERSIONS} or characters > ${MOST_TEXT_CHARACTERS}
        )`.execute(db);
      return { number, at, author, text, via };
    },
    async remove(number) {
      await db.deleteFrom('event_configs').where('number', '=', number).execute();
    },
  };
}
