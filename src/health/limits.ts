import type { IncomingHttpHeaders } from 'node:http';
import { parseRetryTime } from './wait.ts';

/** One limit of an account as its last answers reported it. */
export interface RateLimitStatus {
  /** As the vendor calls it: `requests`, `tokens`, `input-tokens`, `unified-5h`. */
  name: string;
  /** Null where the limit counts for the whole account. */
  model: string | null;
  limit: number | null;
  remaining: number | null;
  /** The share that is left, 0 to 1; null where it cannot be fields. */
  left: number | null;
  /** When it is whole again, in milliseconds since the epoch. */
  resetAt: number | null;
  /** When it was fields. */
  observedAt: number;
}

/**
 * Families of headers. `name` is missing where an upstream counts one thing only. Sources: OpenAI, Groq, Azure, xAI and
 * Fireworks (`x-ratelimit-remaining-tokens`), Cerebras (`…-requests-day`), Mistral (`…-tokens-minute`), OpenRouter and
 * Together (`x-ratelimit-remaining`), Anthropic (`anthropic-ratelimit-tokens-remaining`, and for subscriptions
 * `…-unified-5h-utilization`, a share that is used), RFC draft `ratelimit-remaining`.
 */
const families: readonly RegExp[] = [
  /^x-ratelimit-(?<field>limit|remaining|reset)(?:-(?<name>.+))?$/,
  /^anthropic-ratelimit-(?<name>.+)-(?<field>limit|remaining|reset|utilization|status)$/,
  /^anthropic-ratelimit-(?<name>unified)-(?<field>reset|status)$/,
  /^ratelimit-(?<field>limit|remaining|reset)$/,
];

/** What a header reports, and of which limit. */
interface Field {
  name: string;
  field: keyof LimitFields;
}

/** Of the names of headers that were seen; null for those that tell of no limit. Every answer of an upstream has the same. */
const fieldsByHeader = new Map<string, Field | null>();
/** An upstream may make up any number of names. */
const MOST_NAMES = 256;

function fieldOf(header: string): Field | null {
  const existing = fieldsByHeader.get(header);
  if (existing !== undefined) return existing;
  const groups = families.map((family) => family.exec(header)?.groups).find((one) => one !== undefined);
  const field =
    groups === undefined
      ? null
      : { name: groups['name'] ?? 'requests', field: groups['field'] as keyof LimitFields };
  if (fieldsByHeader.size >= MOST_NAMES) fieldsByHeader.clear();
  fieldsByHeader.set(header, field);
  return field;
}

type LimitFields = Partial<Record<'limit' | 'remaining' | 'reset' | 'utilization' | 'status', string>>;

/** Whether any header reports limits; cheap, because it runs for every answer. */
export function hasRateLimitHeaders(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) if (name.includes('ratelimit')) return true;
  return false;
}

/** The limits that the headers of an answer tell of. */
export function parseRateLimits(
  headers: IncomingHttpHeaders,
  model: string | null,
  now: number,
): RateLimitStatus[] {
  const fields = new Map<string, LimitFields>();
  for (const [header, value] of Object.entries(headers)) {
    if (typeof value !== 'string' || !header.includes('ratelimit')) continue;
    const field = fieldOf(header);
    if (field === null) continue;
    const one = fields.get(field.name) ?? {};
    one[field.field] = value;
    fields.set(field.name, one);
  }
  return [...fields].flatMap(([name, one]) => limitOf(name, one, model, now) ?? []);
}

function limitOf(
  name: string,
  fields: LimitFields,
  model: string | null,
  now: number,
): RateLimitStatus | null {
  const limit = amountOf(fields.limit);
  const used = amountOf(fields.utilization);
  const rejected = fields.status === 'rejected';
  const remaining = amountOf(fields.remaining) ?? (rejected ? 0 : null);
  if (limit === null && remaining === null && used === null) return null;
  const share =
    used !== null ? 1 - used : limit !== null && limit > 0 && remaining !== null ? remaining / limit : null;
  const left =
    rejected || remaining === 0
      ? 0
      : share === null
        ? null
        : Math.round(1e6 * Math.min(1, Math.max(0, share))) / 1e6;
  const resetAt = fields.reset === undefined ? null : parseRetryTime(fields.reset, now);
  return { name, model, limit, remaining, left, resetAt, observedAt: now };
}

function amountOf(text: string | undefined): number | null {
  const amount = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(amount) && amount >= 0 ? amount : null;
}

/** Whether a limit still says something: it has not become whole since. */
export function isCurrent({ resetAt, observedAt }: RateLimitStatus, now: number): boolean {
  return resetAt === null ? now - observedAt < UNDATED_MS : resetAt > now;
}

/** A limit without a reset time is not believed for longer. */
const UNDATED_MS = 60_000;
