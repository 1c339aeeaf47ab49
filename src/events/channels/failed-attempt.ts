/** An attempt to bring an event to its processor that failed. */
export interface FailedAttempt {
  /** 1 for the first. */
  readonly attempt: number;
  /** When it ended, in milliseconds since the epoch. */
  readonly at: number;
  /** The HTTP status of the answer; null where there was none. */
  readonly status: number | null;
  readonly error: string;
}

/** The first one says how it began, the latest how it ended; what is between them goes first. */
const MOST = 16;
const LONGEST_ERROR = 256;

/** The failed attempts of an event, the oldest first, with the latest one: no more than `MOST`, with short errors. */
export function withFailure(
  before: readonly FailedAttempt[],
  { error, ...latest }: FailedAttempt,
): readonly FailedAttempt[] {
  const all = [...before, { ...latest, error: error.slice(0, LONGEST_ERROR) }];
  return all.length > MOST ? [...all.slice(0, 1), ...all.slice(1 - MOST)] : all;
}

/** As databases keep them; null for none. */
export const failuresText = (failures: readonly FailedAttempt[]): string | null =>
  failures.length === 0 ? null : JSON.stringify(failures);

/** @returns what `failuresText` wrote; nothing for what it did not write, for none of it decides about an event */
export function failuresOf(text: unknown): readonly FailedAttempt[] {
  if (typeof text !== 'string') return [];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.filter(isFailedAttempt) : [];
  } catch {
    return [];
  }
}

function isFailedAttempt(value: unknown): value is FailedAttempt {
  if (typeof value !== 'object' || value === null) return false;
  const { at, attempt, error, status } = value as Partial<Record<keyof FailedAttempt, unknown>>;
  const isStatus = status === null || typeof status === 'number';
  return typeof at === 'number' && typeof attempt === 'number' && typeof error === 'string' && isStatus;
}
