/** Formatters of `Intl`, each made once: making one takes a hundred times as long as using it. */

const made = new Map<string, unknown>();

function once<Format>(kind: string, locale: string, options: object, make: () => Format): Format {
  const key = `${kind} ${locale} ${JSON.stringify(options)}`;
  const known = made.get(key);
  // The kind is a part of the key, so that it is one of these.
  if (known !== undefined) return known as Format;
  const format = make();
  made.set(key, format);
  return format;
}

export function numberFormat(locale: string, options: Intl.NumberFormatOptions): Intl.NumberFormat {
  return once('number', locale, options, () => new Intl.NumberFormat(locale, options));
}

export function timeFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return once('time', locale, options, () => new Intl.DateTimeFormat(locale, options));
}

export function relativeFormat(
  locale: string,
  options: Intl.RelativeTimeFormatOptions,
): Intl.RelativeTimeFormat {
  return once('relative', locale, options, () => new Intl.RelativeTimeFormat(locale, options));
}
