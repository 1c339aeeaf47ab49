import { createHash } from 'node:crypto';
import { isRawJSON, parseJson } from '../codecs/json/lossless.ts';
import { isObject } from '../codecs/json/values.ts';

/** Who asks for what: answers are given again within the same of all these only. */
export interface CacheScope {
  keyId: string;
  format: string;
  /** What the path says beside the model. */
  path: string;
  /** The model or combo that was asked for. */
  requested: string;
  /** What that means at this moment: `connection id/model` of each target, in the order of the alphabet. */
  targets: readonly string[];
  /** What headers say of the request, e.g. `anthropic-beta`. */
  headers: readonly string[];
}

/** Members of a request that change nothing of its answer: who the user is, labels, hints to a provider's own cache. */
const volatile: ReadonlySet<string> = new Set([
  'user',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

/** What the cache reads of a request. */
export interface CacheableRequest {
  key: string;
  /** The member `stream`, whatever it is. */
  stream: unknown;
  /** Whether it brings tools. */
  tools: boolean;
  /** Whether the provider is to store the answer, or the request continues a stored one. */
  stored: boolean;
}

/**
 * Reads a request for the cache. Its key covers the client, the path, the model and the content of the body, whatever the order
 * of its fields. Null for a body that is no JSON object.
 */
export function cacheableRequest(scope: CacheScope, body: readonly Buffer[]): CacheableRequest | null {
  let parsed: unknown;
  try {
    parsed = parseJson(Buffer.concat(body).toString('utf8'));
  } catch {
    return null;
  }
  if (!isObject(parsed)) return null;
  const request = Object.fromEntries(Object.entries(parsed).filter(([name]) => !volatile.has(name)));
  const { format, headers, keyId, path, requested, targets } = scope;
  const text = JSON.stringify([keyId, format, path, requested, targets, headers, request], sorted);
  return {
    key: createHash('sha256').update(text).digest('base64url'),
    stream: request['stream'],
    tools: isFull(request['tools']) || isFull(request['functions']),
    stored: format === 'openai-responses' && request['store'] !== false,
  };
}

function isFull(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null;
}

/** For `JSON.stringify`: objects with their members in the order of their names. */
function sorted(_: string, value: unknown): unknown {
  if (!isObject(value) || isRawJSON(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
}
