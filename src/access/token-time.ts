/** Expiry is kept to the second, as it is told (`expires_on`). */
export function wholeSecond(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** `2026-11-21T10:00:00.000Z`, as all times of rows. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
