/** Numbers as people read them. All take the language of the page; none invents a value for what is unknown. */

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
  return new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD', ...digits }).format(usd);
}

/** All digits that the ledger has, for totals that are compared: at least two decimals. */
export function exactMoney(usd: number | null, locale: string): string {
  if (usd === null) return DASH;
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: 12,
  }).format(usd);
}

/** 12.4k, 3.1M. */
export function compact(value: number | null, locale: string): string {
  if (value === null) return DASH;
  return new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'];

/** 12 kB, 3.1 MB: by thousands, as disks are sold. */
export function bytes(value: number | null, locale: string): string {
  if (value === null) return DASH;
  const step = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), BYTE_UNITS.length - 1);
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: BYTE_UNITS[step] ?? 'byte',
    unitDisplay: step === 0 ? 'long' : 'short',
    maximumFractionDigits: step === 0 ? 0 : 1,
  }).format(value / 1000 ** step);
}

export function exact(value: number | null, locale: string): string {
  return value === null ? DASH : new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }).format(value);
}

/** 0–1 as 12 %; small shares keep a digit that is not zero, and what is less than all is never 100 %. */
export function percent(share: number | null, locale: string): string {
  if (share === null) return DASH;
  const shown = share < 1 && share > 0.9995 ? 0.999 : share;
  const digits = (share > 0 && share < 0.01) || (share > 0.99 && share < 1) ? 1 : 0;
  return new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: digits }).format(shown);
}

/** 840 ms, 2.4 s, 3 min 5 s. */
export function duration(ms: number | null, locale: string): string {
  if (ms === null) return DASH;
  const unit = (value: number, name: string, digits = 0) =>
    new Intl.NumberFormat(locale, {
      style: 'unit',
      unit: name,
      unitDisplay: name === 'minute' ? 'short' : 'narrow',
      maximumFractionDigits: digits,
    }).format(value);
  if (ms < 1000) return spaced(unit(Math.round(ms), 'millisecond'));
  if (ms < 60_000) return spaced(unit(ms / 1000, 'second', 1));
  const minutes = Math.floor(ms / 60_000);
  const seconds = Math.round((ms % 60_000) / 1000);
  return `${unit(minutes, 'minute')} ${spaced(unit(seconds, 'second'))}`;
}

/** Narrow units stand without a blank in some languages: 840ms. */
function spaced(text: string): string {
  return text.replace(/(\d)(\p{L})/u, '$1 $2');
}
