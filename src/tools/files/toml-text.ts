import { FileEditError, isObject, type Json, type JsonObject } from './value.ts';

export function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : basicString(key);
}

/** A value in one line. @throws FileEditError for null, which TOML does not have */
export function inlineValue(value: Json): string {
  if (value === null) throw new FileEditError('TOML has no null');
  if (typeof value === 'string') return basicString(value);
  if (typeof value !== 'object') return String(value);
  if (!isObject(value)) return `[${value.map(inlineValue).join(', ')}]`;
  const entries = Object.entries(value).map(([key, item]) => `${keyText(key)} = ${inlineValue(item)}`);
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`;
}

/** The lines of a table: its own values below `header`, then its tables, each with a header of its own. */
export function tableText(header: string, keys: readonly string[], value: JsonObject): string[] {
  const entries = Object.entries(value);
  const own = entries.filter(([, item]) => !isObject(item));
  const tables = entries.flatMap(([key, item]) => {
    const inner = [...keys, key];
    return isObject(item) ? [tableText(`[${inner.map(keyText).join('.')}]`, inner, item)] : [];
  });
  const lines = own.map(([key, item]) => `${keyText(key)} = ${inlineValue(item)}`);
  const needed = own.length > 0 || tables.length === 0 || header.startsWith('[[');
  const blocks = needed ? [[header, ...lines], ...tables] : tables;
  return blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** TOML escapes as JSON does, and the delete character besides. */
function basicString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}
