import { type RawBuilder, sql } from 'kysely';

/** The tags of requests are one column, a JSON array of texts. Only this file knows how they are looked for in it. */

/** Whether a request has a tag. */
export function hasTag(tag: string): RawBuilder<boolean> {
  return hasTagThat((value) => sql`${value} = ${tag}`);
}

/** Whether a request has a tag that passes a test. */
export function hasTagThat(test: (tag: RawBuilder<unknown>) => RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(requests.tags is not null and exists (
    select 1 from json_each(requests.tags) as tag where ${test(sql`tag.value`)}))`;
}

/** The value of the tag of a name; null where a request has none. */
export function tagValue(name: string): RawBuilder<string | null> {
  const prefix = `${name}=`;
  return sql<string | null>`(
    select substr(tag.value, ${sql.lit(prefix.length + 1)}) from json_each(requests.tags) as tag
    where substr(tag.value, 1, ${sql.lit(prefix.length)}) = ${prefix} limit 1)`;
}

/** One row for each tag of each request, and one with null for a request without tags: to be joined with requests. */
export const eachTag = sql<{ value: string | null }>`json_each(coalesce(requests.tags, '[null]'))`;
