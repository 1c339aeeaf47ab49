/** Text for people: colours, amounts and times. Nothing here writes anywhere. */

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const;

export type StyleName = keyof typeof styles;

export function styleText(style: StyleName, text: string): string {
  return `\u001b[${styles[style]}m${text}\u001b[0m`;
}

/** Text from outside, safe for a terminal: control characters become spaces. */
export function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').trim();
}

/** An amount of money with enough digits to see a small one. Null is unknown, never zero. */
export function dollars(amount: number | null): string {
  if (amount === null) return 'unknown';
  if (amount === 0) return '$0';
  return amount < 0.01 ? `$${amount.toPrecision(2)}` : `$${amount.toFixed(2)}`;
}

export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

/** Milliseconds as `4 d 3 h`, `3 h 12 min`, `12 min 4 s`, `4 s` or `87 ms`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.floor(ms / 1000);
  const units: readonly (readonly [string, number])[] = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3600) % 24],
    ['min', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ];
  const first = units.findIndex(([, amount]) => amount > 0);
  return units
    .slice(first, first + 2)
    .filter(([, amount]) => amount > 0)
    .map(([unit, amount]) => `${amount} ${unit}`)
    .join(' ');
}

/** Epoch milliseconds as ISO 8601 in UTC; null stays null. */
export function iso(ms: number): string;
export function iso(ms: number | null): string | null;
export function iso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** Epoch milliseconds as local date and time to the second, for tables. */
export function localTime(ms: number | null): string {
  if (ms === null) return '-';
  const date = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return date.toISOString().slice(0, 19).replace('T', ' ');
}
