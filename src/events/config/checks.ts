import type { Report } from './problem.ts';

/** What every check of a configuration needs. */
export interface Checks {
  readonly report: Report;
  /** Take durations such as P6S for PT6S, and numbers without a time unit for what others take them for, with a warning. */
  readonly lenient: boolean;
}

/**
 * A number of the schema that must be at least `least`. Integers of 64 bits that JavaScript cannot hold are refused.
 * @returns null when it was reported
 */
export function numberAtLeast(
  value: bigint | number,
  least: number,
  path: string,
  { report }: Checks,
): number | null {
  const number = Number(value);
  if (number >= least && Number.isSafeInteger(number)) return number;
  report.error(path, number < least ? `It must be at least ${least}` : 'It is too large');
  return null;
}
