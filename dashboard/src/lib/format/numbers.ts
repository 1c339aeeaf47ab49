/** Numbers as people read them. All take the language of the page; none invents a value for what is unknown. */

import { numberFormat } from './formatters.ts';

const DASH = '–';

/** US dollars with enough digits to be true: $12.34, $0.00042, never $0.00 for what is more than nothing. */
export function money(usd: number | null, locale: string): string {
  if (usd === null) return DASH;
  const size = Math.abs(usd);
  const digits =
    size === 0 || size >= 1
      ? { minimumFractionDigits: 2, maximumFractionDigits: 2 }
      : size >= 0.01
        ? { minimumFractionDigits: 2, maximumFractionDigits: 4 }
        : { maximumSignificantDigits: 2 };
  return numberFormat(locale, { style: 'currency', currency: 'USD', ...digits }).format(usd);
}

/** All digits that the ledger has, for totals that are compared: at least two decimals. */
export function exactMoney(usd: number | null, locale: string): string {
  if (usd === null) return DASH;
  return numberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: 12,
    // As text, which is formatted as the decimal number that it is.
  }).format(decimalText(usd));
}

/** How many decimals an amount has, 12 at most. */
export function decimalsOf(usd: number | null): number {
  return usd === null ? 0 : (decimalText(usd).split('.')[1] ?? '').length;
}

/** US dollars with so many decimals, parted behind the cents, for columns whose digits stand below each other. */
export function moneyParts(usd: number, locale: string, decimals: number): [main: string, rest: string] {
  const digits = Math.max(2, decimals);
  const text = numberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).formatToParts(decimalText(usd));
  const cents = text.findIndex(({ type }) => type === 'fraction');
  const before = text
    .slice(0, cents)
    .map(({ value }) => value)
    .join('');
  const fraction = text[cents]?.value ?? '';
  const after = text
    .slice(cents + 1)
    .map(({ value }) => value)
    .join('');
  return [before + fraction.slice(0, 2), fraction.slice(2) + after];
}

const UNITS = 12;

/** The sum of amounts as the decimal numbers that they are: 0.1 and 0.2 are 0.3. Null where none is known. */
export function sumOfMoney(amounts: readonly (number | null)[]): number | null {
  const known = amounts.filter((amount) => amount !== null);
  if (known.length === 0) return null;
  const sum = known.reduce((all, amount) => all + unitsOf(amount), 0n);
  const sign = sum < 0n ? '-' : '';
  const digits = String(sum < 0n ? -sum : sum).padStart(UNITS + 1, '0');
  return Number(`${sign}${digits.slice(0, -UNITS)}.${digits.slice(-UNITS)}`);
}

function unitsOf(amount: number): bigint {
  const [whole = '0', fraction = ''] = decimalText(amount).split('.');
  const units = BigInt(whole.replace('-', '')) * 10n ** BigInt(UNITS) + BigInt(fraction.padEnd(UNITS, '0'));
  return amount < 0 ? -units : units;
}

/** The shortest decimal number that is this one, without an exponent, to 12 decimals. */
function decimalText(value: number): `${number}` {
  const text = String(value);
  const decimal = /^-?\d+(\.\d{1,12})?$/.test(text) ? text : value.toFixed(UNITS).replace(/\.?0+$/, '');
  return decimal as `${number}`;
}

/** 12.4k, 3.1M. */
export function compact(value: number | null, locale: string): string {
  if (value === null) return DASH;
  return numberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

/** 12 kB, 3.1 MB: by thousands, as disks are sold. */
export function bytes(value: number | null, locale: string): string {
  if (value === null) return DASH;
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), BYTE_UNITS.length - 1);
  return numberFormat(locale, {
    style: 'unit',
    unit: BYTE_UNITS[step] ?? 'byte',
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: step === 0 ? 0 : 1,
  }).format(value / 1000 ** step);
}

export function exact(value: number | null, locale: string): string {
  return value === null ? DASH : numberFormat(locale, { maximumFractionDigits: 6 }).format(value);
}

/** 0–1 as 12 %; small shares keep a digit that is not zero, and what is less than all is never 100 %. */
export function percent(share: number | null, locale: string): string {
  if (share === null) return DASH;
  const shown = share < 1 && share > 0.9995 ? 0.999 : share;
  const digits = (share > 0 && share < 0.01) || (share > 0.99 && share < 1) ? 1 : 0;
  return numberFormat(locale, { style: 'percent', maximumFractionDigits: digits }).format(shown);
}

/** 840 ms, 2.4 s, 3 min 5 s, 12 h 30 min. */
export function duration(ms: number | null, locale: string): string {
  if (ms === null) return DASH;
  const unit = (value: number, name: string, digits = 0) =>
    numberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: name === 'minute' ? 'short' : 'narrow',
      maximumFractionDigits: digits,
    }).format(value);
  if (ms < 1000) return spaced(unit(Math.round(ms), 'millisecond'));
  if (ms < 60_000) return spaced(unit(ms / 1000, 'second', 1));
  const [whole, part, step]: [string, string, number] =
    ms < 3_600_000 ? ['minute', 'second', 60_000] : ['hour', 'minute', 3_600_000];
  // Rounded first: 119.7 s are 2 min, not 1 min 60 s.
  const rounded = Math.round(ms / (step / 60)) * (step / 60);
  const rest = (rounded % step) / (step / 60);
  const parts = [unit(Math.floor(rounded / step), whole), ...(rest === 0 ? [] : [unit(rest, part)])];
  return parts.map(spaced).join(' ');
}

/** Narrow units stand without a blank in some languages: 840ms. */
function spaced(text: string): string {
  return text.replace(/(\d)(\p{L})/u, '$1 $2');
}
