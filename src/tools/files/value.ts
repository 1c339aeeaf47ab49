/** What a configuration file can hold. Dates of TOML are kept as text. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export type JsonObject = { readonly [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A configuration file that cannot be changed safely. It is left as it is. */
export class FileEditError extends Error {
  override name = 'FileEditError';
}
