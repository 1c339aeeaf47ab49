import type { IncomingMessage } from 'node:http';
import type { IndexedMember } from '../lib/indexed-set.ts';
import type { ResponseSink } from './response-sink.ts';

/** What is known of a request beside its body. */
export type RequestHead = Pick<IncomingMessage, 'headers' | 'method' | 'rawHeaders' | 'socket'> &
  Partial<Pick<IncomingMessage, 'url'>>;

/** One request and where its answer goes, whatever carries the two. */
export interface AnyExchange extends IndexedMember {
  request: RequestHead;
  response: ResponseSink;
  /** `req_…`, which every answer carries as `x-request-id`. */
  id: string;
  /** Path as sent, without the query. */
  path: string;
  /** What follows the first `?`, without it. */
  query: string;
  /** Arrival, in milliseconds since the epoch. */
  startedAt: number;
  /** Arrival on the monotonic clock (`performance.now()`), in milliseconds. */
  clock: number;
}
