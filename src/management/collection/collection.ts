import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, Resource } from '../../http/resource.ts';
import type { KeyedMutex } from '../../lib/keyed-mutex.ts';
import type { IdempotencyStore } from '../guard/idempotency.ts';
import type { RateLimiter } from '../guard/rate-limiter.ts';

/** What came to a collection of the management API, after authentication. */
export interface CollectionRequest {
  resource: Resource;
  /** In upper case. */
  method: string;
  /** The parts of the path behind the name of the collection, decoded: `[]` or `['ID']`. */
  rest: readonly string[];
  params: URLSearchParams;
  headers: IncomingHttpHeaders;
  /** The body as JSON; undefined where none was sent. */
  body: unknown;
  caller: Caller;
  /** What hrefs begin with: `/api`, or `/api/v1.0.0` where the caller named a version. Never made of `Host`. */
  prefix: string;
  /** Changes nothing, says what would be changed. */
  dryRun: boolean;
  /** Throws when the caller takes no JSON. Called once the caller's permission is known, before existence is (CONTRACT 3). */
  checkAccept?(): void;
}

/** What was changed, tried or refused, for the audit log. No secret is in it. */
export interface Change {
  caller: Caller;
  /** `create`, `edit`, `delete` or the action's name. */
  action: string;
  /** `keys`. */
  collection: string;
  /** The id of the resource, as in the request where it was not looked up; null where there is none yet. */
  target: string | null;
  /** The member or what changed of it; null where it did not exist, and for actions. */
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
  /** What was given; null where `after` has all of it. */
  input: Record<string, unknown> | null;
  /** `intended` stands before the operation, where that must not be done without a record. */
  outcome: 'intended' | 'success' | 'failure' | 'denied';
  /** The error's code, or what the action said; null for a success. */
  reason: string | null;
}

/** What a request to a collection may use. */
export interface CollectionContext {
  /** Called before each change is answered. When it fails, so does the request, or its part of a bulk request. */
  record(change: Change): Promise<void>;
  /** Failures inside of a bulk request that are the gateway's own, for the log: the answer says only that there was one. */
  report(error: unknown): void;
  /** Who changes the same member waits for the one before. */
  mutex: KeyedMutex;
  once: IdempotencyStore;
  pace: RateLimiter;
  /** Milliseconds since the epoch. */
  now(): number;
}
