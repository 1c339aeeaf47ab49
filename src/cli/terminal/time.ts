import type { Options } from '../command.ts';
import { usageError } from './failure.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The time of `--since`, in milliseconds since the epoch; undefined when it was not given. @throws exit 2 */
export function sinceOf(options: Options, now: number): number | undefined {
  return timeOf(options, 'since', now);
}

/** The time that a flag names, likewise. @throws exit 2 */
export function timeOf(options: Options, flag: string, now: number): number | undefined {
  const text = options.text(flag);
  if (text === undefined) return undefined;
  const [, amount, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (amount !== undefined && unit !== undefined) return now - Number(amount) * (unitMs[unit] ?? 0);
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw usageError(`--${flag} must be a time such as 6h, 2d or 2026-11-21T08:00:00Z, not "${text}"`);
  return at;
}
