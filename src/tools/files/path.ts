import { FileEditError, isObject, type Json, type JsonObject } from './value.ts';

/** The item of a list of objects that has `equals` under `key`; it is appended when the list has none. */
export interface ItemStep {
  key: string;
  equals: string;
}

/** The way to an entry of a configuration file, from its root. */
export type Path = readonly (string | ItemStep)[];

/** A step in a file as it is: a name, or a position in a list. */
export type Key = string | number;

interface ResolvedPath {
  keys: Key[];
  /** Undefined when nothing stands there. */
  existing: Json | undefined;
}

/** Where `path` leads in a file that holds `value`. @throws FileEditError when something else stands in the way */
export function resolvePath(value: JsonObject, path: Path): ResolvedPath {
  const keys: Key[] = [];
  let current: Json | undefined = value;
  for (const [index, step] of path.entries()) {
    const key = keyOf(current, step, path.slice(0, index));
    keys.push(key);
    current = entryOf(current, key);
  }
  return { keys, existing: current };
}

function keyOf(parent: Json | undefined, step: Path[number], way: Path): Key {
  const absent = parent === undefined || parent === null;
  if (typeof step === 'string') {
    if (absent || isObject(parent)) return step;
    throw new FileEditError(`${pathText(way)} is ${kindOf(parent)}, and has to hold named entries`);
  }
  if (absent) return 0;
  if (!Array.isArray(parent))
    throw new FileEditError(`${pathText(way)} is ${kindOf(parent)}, and has to be a list`);
  const index = parent.findIndex((item) => isObject(item) && item[step.key] === step.equals);
  return index === -1 ? parent.length : index;
}

function entryOf(parent: Json | undefined, key: Key): Json | undefined {
  if (Array.isArray(parent)) return typeof key === 'number' ? (parent[key] as Json | undefined) : undefined;
  return isObject(parent) && typeof key === 'string' && Object.hasOwn(parent, key) ? parent[key] : undefined;
}

/** The value with `next` at `path`. Missing parents are made; an item of a list gets the member it is known by. */
export function setAt(value: JsonObject, path: Path, next: Json): JsonObject {
  const result = put(value, path, next);
  if (isObject(result)) return result;
  throw new FileEditError('A configuration file cannot be replaced by a value');
}

function put(current: Json | undefined, path: Path, next: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return next;
  if (typeof step === 'string') {
    const object = isObject(current) ? current : {};
    const own = Object.hasOwn(object, step) ? object[step] : undefined;
    return { ...object, [step]: put(own, rest, next) };
  }
  const list: readonly Json[] = Array.isArray(current) ? current : [];
  const index = list.findIndex((item) => isObject(item) && item[step.key] === step.equals);
  const item = index === -1 ? { [step.key]: step.equals } : list[index];
  const changed = put(item, rest, next);
  return index === -1 ? [...list, changed] : list.map((one, at) => (at === index ? changed : one));
}

/** The value without what stands at `keys`. */
export function removeAt(value: JsonObject, keys: readonly Key[]): JsonObject {
  const result = without(value, keys);
  return isObject(result) ? result : {};
}

function without(current: Json | undefined, keys: readonly Key[]): Json {
  const [key, ...rest] = keys;
  if (key === undefined || current === undefined) return {};
  if (Array.isArray(current)) {
    const list: readonly Json[] = current;
    if (rest.length === 0) return list.filter((_, index) => index !== key);
    return list.map((item, index) => (index === key ? without(item, rest) : item));
  }
  if (!isObject(current)) return current;
  const entries = Object.entries(current);
  if (rest.length === 0) return Object.fromEntries(entries.filter(([name]) => name !== key));
  return Object.fromEntries(entries.map(([name, item]) => [name, name === key ? without(item, rest) : item]));
}

/** A path as people write it: `env.ANTHROPIC_MODEL`, `models[name=x].model`. */
export function pathText(path: Path): string {
  return path
    .map((step) => (typeof step === 'string' ? `.${step}` : `[${step.key}=${step.equals}]`))
    .join('')
    .replace(/^\./, '');
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) return 'a group of named entries';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}
