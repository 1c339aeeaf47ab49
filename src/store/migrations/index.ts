import type { Migration } from 'kysely';
import { first } from './0001-first.ts';
import { responses } from './0002-responses.ts';
import { media } from './0003-media.ts';
import { management } from './0004-management.ts';

/** Every change of the schema, oldest first. A released one is never edited; none is ever undone. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-first': first,
  '0002-responses': responses,
  '0003-media': media,
  '0004-management': management,
};
