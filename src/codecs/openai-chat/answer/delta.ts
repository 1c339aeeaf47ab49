import { isObject, objectOf } from '../../json/values.ts';
import type { ChatChoice, ChatMessage } from '../wire.ts';

/** What a chunk's choice adds. Some vendors send the whole `message` in a chunk instead of a delta. */
export function deltaOf(choice: ChatChoice): ChatMessage {
  return isObject(choice.delta) ? choice.delta : objectOf(choice.message);
}

/** Whether a field of a delta adds nothing. */
export function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
