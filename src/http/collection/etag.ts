import { createHash } from 'node:crypto';
import { GatewayError } from '../../lib/error.ts';

/** Fields that the gateway measures itself: a difference in them is not a change made by another caller. */
const measured: ReadonlySet<string> = new Set([
  'uptime_seconds',
  'observed_at',
  'health',
  'last_used_at',
  'last_used_ip',
  'last_login_at',
]);

/** Of these not even a caller's copy grows old: they follow from the clock and the rest. */
const clocked: ReadonlySet<string> = new Set(['uptime_seconds']);

/**
 * The strong ETag of a resource as it is shown: `"REVISION.CONTENT"`. `If-Match` compares the first part, which changes
 * when a caller changes the resource, but not when the resource is used or shown in another way. The second part covers
 * everything that is shown.
 * @param revision how often the resource was changed; null if that is not counted
 */
export function etagOf(
  row: Readonly<Record<string, unknown>>,
  shown: object,
  revision: string | null,
): string {
  return `"${revisionPart(row, revision)}.${digest(shown, clocked)}"`;
}

/** The strong ETag of anything that is only read. */
export function etagOfContent(shown: object): string {
  return `"${digest(shown, clocked)}"`;
}

/**
 * Refuses a change of a resource that has changed since the caller read it.
 * @param header the value of `If-Match`
 * @throws GatewayError `precondition_failed`
 */
export function checkIfMatch(
  header: string | undefined,
  row: Readonly<Record<string, unknown>>,
  revision: string | null,
): void {
  if (header === undefined || header.trim() === '*') return;
  const current = revisionPart(row, revision);
  const isCurrent = tagsIn(header).some((tag) => /^"([^".]*)\.[^".]*"$/.exec(tag)?.[1] === current);
  if (!isCurrent)
    throw new GatewayError(
      'precondition_failed',
      'It has changed since you read it: read it again and repeat the change',
      { param: 'if-match' },
    );
}

/** Whether the caller's copy is still what would be sent (RFC 9110, 13.1.2: weak and strong tags compare alike). */
export function isFresh(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return tagsIn(header).some((tag) => tag.replace(/^W\//, '') === etag);
}

function tagsIn(header: string): string[] {
  return header.split(',').map((tag) => tag.trim());
}

function revisionPart(row: Readonly<Record<string, unknown>>, revision: string | null): string {
  return digest(revision === null ? row : { id: row['id'], revision }, measured);
}

/** 96 bits of the SHA-256 of a value's JSON, its fields in order of their names. */
function digest(value: object, without: ReadonlySet<string>): string {
  const canonical = JSON.stringify(value, (_name, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).filter(([name]) => !without.has(name));
    return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
  });
  return createHash('sha256').update(canonical).digest('hex').slice(0, 24);
}
