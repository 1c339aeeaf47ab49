import { parseMediaType } from './media-type.ts';

/** CloudEvents 1.0, Naming Conventions. `data` is taken by the event formats. */
export const isAttributeName = (name: string): boolean => /^[a-z0-9]+$/.test(name) && name !== 'data';

/** No control characters, no code points that are no characters, no half of a surrogate pair. */
export function isAttributeText(text: string): boolean {
  if (/^[\x20-\x7e]*$/.test(text)) return true;
  return text.isWellFormed() && !/[\0-\x1f\x7f-\x9f\ufdd0-\ufdef]/.test(text) && !hasNoncharacter(text);
}

/** The last two code points of each plane are no characters. */
function hasNoncharacter(text: string): boolean {
  for (const character of text) if (((character.codePointAt(0) ?? 0) & 0xfffe) === 0xfffe) return true;
  return false;
}

/**
 * A URI reference of RFC 3986. Characters beyond ASCII pass as well (RFC 3987), because producers write them; white space,
 * the delimiters that no URI may have, and broken percent signs do not.
 */
export function isUriReference(text: string): boolean {
  return text !== '' && !/[\x20"<>\\^`{|}]|%(?![0-9A-Fa-f]{2})/.test(text);
}

/** An absolute URI: one with a scheme. */
export function isUri(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:./.test(text) && isUriReference(text);
}

/** A timestamp of RFC 3339, on a day that exists. */
export function isTimestamp(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-](\d\d):(\d\d))$/.exec(
    text,
  );
  if (match === null) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ...offset] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0));
  const [offsetHour = 0, offsetMinute = 0] = offset;
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return false;
  // A leap second is the sixtieth.
  return hour < 24 && minute < 60 && second <= 60 && offsetHour < 24 && offsetMinute < 60;
}

function daysIn(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
}

export const isMediaType = (text: string): boolean => parseMediaType(text) !== null;

/** Integers of CloudEvents have 32 bits. */
export const isInteger = (value: number): boolean => (value | 0) === value;
