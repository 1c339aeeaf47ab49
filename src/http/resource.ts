import type { z } from 'zod';
import type { Attributes } from './collection/attributes.ts';

/** Who calls the management API, and what they may do. Decided once, before anything else is looked at. */
export interface Caller {
  /** The user; an automation token acts for its owner. */
  userId: string;
  name: string;
  role: string;
  via: 'basic' | 'token' | 'automation' | 'local';
  /** The accessor id of the token, where there is one. */
  tokenId: string | null;
  /** When the password was last proven, in milliseconds since the epoch; null where none was. */
  passwordAt: number | null;
  /** Of the user's credential when they were let in: it grows with every change of the password. Null for the owner of the machine. */
  credentialVersion: number | null;
  /** The peer's address. */
  address: string;
  requestId: string;
  /** Whether they hold a permission, e.g. `keys:create`. */
  can(permission: string): boolean;
  /**
   * Whether the login ended with a change of the user's role: forbidden requests then get 403, and all others
   * 401, to log in again.
   */
  ended: boolean;
  /** Whether their token reaches some members of a collection only. */
  narrowed(collection: string): boolean;
  /** Whether they reach a member of a collection, as far as their token narrows it. */
  reaches(collection: string, row: Row): boolean;
}

/** One member of a collection as it is shown. Times are ISO 8601 UTC, ids strings, and no secret is in it. */
export type Row = { id: string } & Record<string, unknown>;

/** What an action or a change came to. */
export interface Outcome {
  success: boolean;
  message: string;
  /** The task that does the work, where it takes longer. */
  taskId?: string;
  /** What the action gives back, e.g. a new key, which is shown this once. */
  result?: Record<string, unknown>;
}

export interface Action {
  summary: string;
  /** Who may: a permission of the table. */
  permission: string;
  /** The fields beside `action`; none when absent. */
  input?: z.ZodObject;
  /** Whether it can be done to the member now; it is advertised only then. */
  possible?(row: Row): boolean;
  /** The member that is meant where a request to the collection names none, e.g. the caller's own record. */
  implied?(caller: Caller): string;
  /** How often a caller may do it, where it is costly; as often as they like when absent. */
  perMinute?: number;
  /** It waits for another service, and so runs beside changes of the resource instead of in turn with them. */
  beside?: boolean;
  /** Changes nothing, shows what would be changed (`?dry_run=true`). */
  preview?(row: Row, input: Record<string, unknown>, caller: Caller): Promise<Outcome>;
  run(row: Row, input: Record<string, unknown>, caller: Caller): Promise<Outcome>;
}

/** A change of the collection that `create` and `update` make. Both throw GatewayErrors that name the field. */
export interface Write {
  permission: string;
  input: z.ZodObject;
  /** How often a caller may do it, where it is costly; as often as they like when absent. */
  perMinute?: number;
  /** Fields that are secrets although their names do not show it: they are not written to the audit log. */
  secrets?: readonly string[];
}

/** What was made. */
export interface CreateResult {
  row: Row;
  /** What is shown this once, beside the row. */
  secret?: Record<string, unknown>;
  /** The task that makes it, where that takes longer; of the row only its id counts then. */
  taskId?: string;
}

/** A condition on a field: `state = 'running'`. All conditions of a group hold, of the groups any. */
export interface Condition {
  attribute: string;
  operator: '=' | '!=' | '<' | '<=' | '>' | '>=' | '==' | '!==' | '=~' | '!~';
  value: string | number | boolean | null | readonly (string | number)[];
}

/** Which rows of a collection a caller requested. */
export interface ListQuery {
  groups: readonly (readonly Condition[])[];
  sort: readonly { attribute: string; descending: boolean }[];
  ignoreCase: boolean;
  limit: number;
  offset: number;
}

export interface Page {
  /** The rows of this page, in order. */
  rows: Row[];
  /** All that the caller may see, and all that fit the filter. */
  count: number;
  filtered: number;
}

/**
 * A collection of the management API, as data. The engine (`management/`) makes its routes, paging, filters, errors,
 * audit and documentation; a resource only describes its content and its changes.
 */
export interface Resource {
  /** The path below `/api` and the plural name: `keys`. */
  name: string;
  title: string;
  summary: string;
  /** The record as it is shown. Its fields may be filtered, sorted by and chosen, unless `hidden` has them. */
  record: z.ZodObject;
  /** Who may read: a permission of the table. */
  read: string;
  /** What a filter may name beside the fields of the record, e.g. the `top` of sums. */
  filters?: Attributes;
  /** Fields that only holders of a permission see: `process: 'services:operate'`. */
  guarded?: Readonly<Record<string, string>>;
  /** All rows, for collections that fit in memory. */
  list?(caller: Caller): Promise<Row[]>;
  /**
   * One page, for resources that do not list all rows. Beside a `list`, it answers the queries that it can answer
   * without reading all rows, and returns null for the others.
   */
  page?(query: ListQuery, caller: Caller): Promise<Page | null>;
  /** One row by id or another name of it; null when there is none, or the caller may not see it. */
  find(id: string, caller: Caller): Promise<Row | null>;
  create?: Write & {
    /** Whether a task makes it. */
    slow?: boolean;
    /** What is shown beside the new member, this once. */
    secret?: z.ZodObject;
    run(input: Record<string, unknown>, caller: Caller): Promise<CreateResult>;
  };
  update?: Write & {
    run(row: Row, input: Record<string, unknown>, caller: Caller): Promise<Row>;
  };
  remove?: {
    permission: string;
    /** Whether the member can be removed at all; it is advertised only then. */
    possible?(row: Row): boolean;
    run(row: Row, caller: Caller): Promise<void>;
  };
  /** Of one member, by name: `start`. */
  actions?: Readonly<Record<string, Action>>;
  /** Counts up with every change of a row, where it has one; the ETag is made of it, else of the row itself. */
  revisionOf?(row: Row): string;
}
