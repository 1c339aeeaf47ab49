import { stringify } from 'yaml';
import type { Key } from './path.ts';
import type { Json } from './value.ts';

/** The lines of an entry of a block: `key: value`, or `- value` where the key is a position in a list. */
export function blockLines(key: Key, value: Json, indent: string, unit: string): string[] {
  const entry = typeof key === 'number' ? [value] : { [key]: value };
  const text = stringify(entry, { indent: unit.length, lineWidth: 0 });
  return text
    .trimEnd()
    .split('\n')
    .map((line) => (line === '' ? line : indent + line));
}

/** An entry in one line: `key: value` in a flow, or the value alone. JSON is YAML, and plain text stays plain. */
export function flowText(key: Key | null, value: Json): string {
  const plain = typeof value === 'string' && /^[A-Za-z][\w./-]*(:[\w./-]+)*$/.test(value);
  const quoted = !plain || stringify(value, { lineWidth: 0 }).trim() !== value;
  const text = quoted ? JSON.stringify(value) : String(value);
  return typeof key === 'string' ? `${JSON.stringify(key)}: ${text}` : text;
}
