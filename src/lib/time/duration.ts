export type ParsedDuration =
  | { readonly ok: true; readonly milliseconds: number }
  | { readonly ok: false; readonly reason: string };

/** Milliseconds of each unit, in the order in which they stand. */
const dateUnits = { W: 604_800_000, D: 86_400_000 } as const;
const timeUnits = { H: 3_600_000, M: 60_000, S: 1_000 } as const;

/**
 * Reads a duration of ISO 8601 in weeks, days, hours, minutes and seconds, such as `PT6S`, `PT1H30M` or `P1DT0.5H`. The last
 * unit may have a fraction, after a dot or a comma. Years and months are refused, because they have no fixed length, and so
 * are signs and lower case.
 * @returns milliseconds, not rounded, or why the text is none
 */
export function parseDuration(text: string): ParsedDuration {
  if (!text.startsWith('P')) return refuse('it must begin with P');
  const [date = '', time, ...more] = text.slice(1).split('T');
  if (more.length > 0) return refuse('it has more than one T');
  if (/[YM]/.test(date)) return refuse('years and months have no fixed length; minutes stand behind a T');
  if (date === '' && time === undefined) return refuse('it names no time');
  const days = sumOf(date, dateUnits);
  const hours = time === undefined ? { milliseconds: 0, fraction: false } : sumOf(time, timeUnits);
  if (days === null || hours === null || time === '')
    return refuse('it must be numbers with the units W, D, and behind a T the units H, M, S, in this order');
  if (days.fraction && time !== undefined) return refuse('only the last number may have a fraction');
  const milliseconds = days.milliseconds + hours.milliseconds;
  return Number.isSafeInteger(Math.ceil(milliseconds))
    ? { ok: true, milliseconds }
    : refuse('it is too long');
}

const refuse = (reason: string): ParsedDuration => ({ ok: false, reason });

/** @returns null when the text has other units, or in another order, or a fraction before the last of them */
function sumOf(
  text: string,
  units: Readonly<Record<string, number>>,
): { milliseconds: number; fraction: boolean } | null {
  let rest = text;
  let milliseconds = 0;
  let fraction = false;
  for (const [unit, factor] of Object.entries(units)) {
    const end = rest.indexOf(unit);
    if (end === -1) continue;
    const number = rest.slice(0, end);
    if (fraction || !/^\d{1,15}(?:[.,]\d{1,15})?$/.test(number)) return null;
    fraction = /[.,]/.test(number);
    milliseconds += Number(number.replace(',', '.')) * factor;
    rest = rest.slice(end + 1);
  }
  return rest === '' ? { milliseconds, fraction } : null;
}
