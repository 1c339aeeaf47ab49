import { isObject, type JsonObject, objectOf } from '../../json/values.ts';

/** What a chunk's choice adds. Some vendors send the whole `message` in a chunk instead of a delta. */
export function deltaOf(choice: JsonObject): JsonObject {
  return isObject(choice['delta']) ? choice['delta'] : objectOf(choice['message']);
}

/** Whether a member of a delta adds nothing. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
