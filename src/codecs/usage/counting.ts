import { isObject, type JsonObject, objectOf } from '../json/values.ts';

/** How a format's API counts the tokens of a request without answering it. */
export interface Counting {
  /** What follows the format's own path, and the model where the path names it. */
  path: string;
  /** The body that asks, from the request that is to be counted. */
  ask(request: JsonObject, model: string): JsonObject;
  /** The count in an answer; null if there is none. */
  read(answer: JsonObject): number | null;
  write(tokens: number): JsonObject;
}

/** The request with some of its fields. */
export function onlyFields(request: JsonObject, keep: (name: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(request).filter(([name]) => keep(name)));
}

/** The request whose tokens are to be counted: Google's clients may wrap it. */
export function countedRequest(body: JsonObject): JsonObject {
  const wrapped = body['generateContentRequest'];
  return isObject(wrapped) ? objectOf(wrapped) : body;
}
