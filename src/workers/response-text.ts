import { parseJson } from '../codecs/json/lossless.ts';
import type { SizedResponse, StoredResponse } from '../responses/stored.ts';

/** A stored response as JSON: a message would lose the digits of numbers that no double holds. */
export function responseText(stored: StoredResponse): string {
  return JSON.stringify(stored);
}

/** What `responseText` has written of it. */
export function responseOf<Response extends StoredResponse | SizedResponse>(text: string): Response {
  return parseJson(text) as Response;
}
