import type { OutgoingHttpHeaders } from 'node:http';

/** What a request of the management API is answered with. */
export interface Answer {
  status: number;
  /** Null for no body: 204 and 304. */
  body: object | null;
  /** In the place of the body, where it is no JSON. */
  content?: { type: string; bytes: string | Uint8Array };
  headers: OutgoingHttpHeaders;
}
