import { useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type ApiClient, useApi } from './client.ts';
import { ApiError } from './error.ts';

/** What a form edits of a member, by the names that the API has for it. */
export type Fields = Readonly<Record<string, unknown>>;

/** A field that somebody else or the form has changed. */
export interface Difference {
  field: string;
  /** What the form would save; undefined where it leaves the field as it is. */
  mine: unknown;
  theirs: unknown;
}

/** What somebody else made of a member while a form of it was open. */
export interface Stale<Row> {
  theirs: Row;
  differences: readonly Difference[];
}

/** Thrown in place of saving over what somebody else has changed. */
export class ChangedMeanwhile extends Error {
  constructor() {
    super('Somebody else has changed this meanwhile');
    this.name = 'ChangedMeanwhile';
  }
}

/** Saves what a form changed, unless somebody else was faster. */
export interface Change<Row> {
  /** What stopped the last `send`; null where nothing did. */
  stale: Stale<Row> | null;
  /**
   * Sends the fields that were changed; nothing where there are none.
   * @param opened the member as the form began with it
   * @returns the member as it is now
   * @throws ChangedMeanwhile with `stale` saying what differs; ApiError
   */
  send(opened: Row, change: Fields): Promise<Row>;
  /** Lets the next `send` save over what `stale` shows. */
  accept(): void;
}

/**
 * For a form that changes members of a collection.
 * @param fieldsOf what the form shows of a member: only a difference in these is another's change
 */
export function useChange<Row extends { id: string }>(
  collection: string,
  fieldsOf: (row: Row) => Fields,
): Change<Row> {
  const api = useApi();
  const queries = useQueryClient();
  const [stale, setStale] = useState<Stale<Row> | null>(null);
  const accepted = useRef<Row | null>(null);
  return {
    stale,
    async send(opened, change) {
      const path = `${collection}/${encodeURIComponent(opened.id)}`;
      const sent = await changeMember(api, path, { seen: accepted.current ?? opened, change, fieldsOf });
      setStale(sent.stale);
      if (sent.stale === null) {
        accepted.current = null;
        return sent.member;
      }
      // The page behind the form shows what they made of it.
      void queries.invalidateQueries({ queryKey: [collection] });
      throw new ChangedMeanwhile();
    },
    accept() {
      accepted.current = stale?.theirs ?? null;
    },
  };
}

interface ChangeInput<Row> {
  /** The member as its editor knows it. */
  seen: Row;
  change: Fields;
  fieldsOf(row: Row): Fields;
}

type Done<Row, Result> = { stale: null; result: Result } | { stale: Stale<Row> };
type Sent<Row> = { stale: null; member: Row } | { stale: Stale<Row> };

/** So often a member is read again whose version moved on without a change that the form shows. */
const ATTEMPTS = 3;

/**
 * Changes a member in the version that is compared with what was seen.
 * @throws ApiError
 */
export async function changeMember<Row>(
  api: Pick<ApiClient, 'open' | 'patch'>,
  path: string,
  input: ChangeInput<Row>,
): Promise<Sent<Row>> {
  const { change, seen } = input;
  if (Object.keys(change).length === 0) return { stale: null, member: seen };
  const done = await unlessChanged(api, path, input, (headers) => api.patch<Row>(path, change, { headers }));
  return done.stale === null ? { stale: null, member: done.result } : done;
}

/**
 * Does something to a member in the version that is compared with what was seen. It is read first, for the rows of a page
 * come without their versions.
 * @param send with the headers that name the version
 * @throws ApiError
 */
export async function unlessChanged<Row, Result>(
  api: Pick<ApiClient, 'open'>,
  path: string,
  { change, fieldsOf, seen }: ChangeInput<Row>,
  send: (headers: Record<string, string>) => Promise<Result>,
): Promise<Done<Row, Result>> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await api.open(path);
    const now = (await response.json()) as Row;
    const before = fieldsOf(seen);
    const theirs = fieldsOf(now);
    if (wasChanged(before, theirs, change))
      return { stale: { theirs: now, differences: differencesOf(before, theirs, change) } };
    try {
      return { stale: null, result: await send(ifMatch(response)) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 412 || attempt === ATTEMPTS) throw error;
    }
  }
}

/** A proxy that compresses marks the version as weak, which `If-Match` never fits; the gateway's own are strong. */
function ifMatch(response: Response): Record<string, string> {
  const version = response.headers.get('etag');
  return version === null ? {} : { 'if-match': version.replace(/^W\//, '') };
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Whether somebody else changed a field to something else than the form would. */
function wasChanged(before: Fields, theirs: Fields, change: Fields): boolean {
  return Object.keys(theirs).some(
    (field) =>
      !same(before[field], theirs[field]) && !(field in change && same(change[field], theirs[field])),
  );
}

function differencesOf(before: Fields, theirs: Fields, change: Fields): Difference[] {
  return Object.keys(theirs)
    .filter((field) => field in change || !same(before[field], theirs[field]))
    .map((field) => ({ field, mine: change[field], theirs: theirs[field] }));
}
