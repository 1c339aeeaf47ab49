import type { JsonObject } from '../codecs/json/values.ts';

/** One answered request of the responses format, as the gateway keeps it. */
export interface StoredResponse {
  /** `resp_…` */
  id: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  /** The gateway key that asked; no other may see it. */
  keyId: string;
  connectionId: string;
  /** As the client named it. */
  model: string;
  /** The response that it continued; null for a first one. */
  previousId: string | null;
  /** The items that this request brought, those of earlier turns not among them. Each has an id. */
  input: readonly unknown[];
  /** The response object as it was answered. */
  response: JsonObject;
}

export interface SizedResponse extends StoredResponse {
  /** Characters of its JSON, about. */
  length: number;
}

/**
 * What was found by an id: null for one that is unknown, expired or of another key; `unreadable` for one that was sealed
 * with another STORAGE_ENCRYPTION_KEY.
 */
export type Lookup = SizedResponse | 'unreadable' | null;

/** What the gateway remembers of responses. */
export interface ResponseMemory {
  /** Keeps a response; it can be found at once, and is on the disk within a tenth of a second. */
  put(stored: StoredResponse): void;
  get(id: string, keyId: string): Promise<Lookup>;
  /** False for an id that is unknown, expired or of another key. @throws GatewayError when the database is busy */
  remove(id: string, keyId: string): Promise<boolean>;
}
