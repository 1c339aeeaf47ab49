import { isObject, type JsonObject, listOf, objectOf } from '../json/values.ts';
import { hasCacheControl } from '../prompt-cache/cache-control.ts';
import { CACHE_CONTROL } from '../request-fields.ts';

/** Whether a field is one of earlier messages: it came with an answer, perhaps of another server. */
export function isOfMessages(path: string): boolean {
  return path.startsWith('messages.');
}

export function hasField(request: JsonObject, path: string): boolean {
  if (path === CACHE_CONTROL) return hasCacheControl(request);
  const [first = '', second] = path.split('.');
  const value = request[first];
  if (second !== undefined && isOfMessages(path))
    return bearers(value).some((one) => one[second] !== undefined);
  return (second === undefined ? value : isObject(value) ? value[second] : undefined) !== undefined;
}

/** The request without a field, and without the object that it leaves empty. */
export function withoutField(request: JsonObject, path: string): JsonObject {
  const [first = '', second] = path.split('.');
  const { [first]: value, ...rest } = request;
  if (second !== undefined && isOfMessages(path))
    return { ...request, messages: listOf(value).map((message) => withoutOwn(message, second)) };
  if (second === undefined || !isObject(value)) return rest;
  const { [second]: _, ...others } = value;
  return Object.keys(others).length === 0 ? rest : { ...request, [first]: others };
}

/** The messages and the calls in them. */
function bearers(messages: unknown): JsonObject[] {
  return listOf(messages).flatMap((message) => {
    const own = objectOf(message);
    return [own, ...listOf(own['tool_calls']).map(objectOf)];
  });
}

function withoutOwn(bearer: unknown, name: string): unknown {
  if (!isObject(bearer)) return bearer;
  const { [name]: _, ...rest } = bearer;
  const calls = rest['tool_calls'];
  return Array.isArray(calls) ? { ...rest, tool_calls: calls.map((call) => withoutOwn(call, name)) } : rest;
}
