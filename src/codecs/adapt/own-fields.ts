import { type JsonObject, objectOf } from '../json/values.ts';
import { extraFields } from '../json/wire-check.ts';

/** The fields of a request that only its own format can say, each by its path, as they are found. */
export class OwnFields {
  readonly #fields = new Map<string, unknown>();
  /** Fields of tools, each with its values by the names of the tools. */
  readonly #ofTools = new Map<string, Map<string, unknown>>();

  /** Adds one field. */
  set(path: string, value: unknown): void {
    this.#fields.set(path, value);
  }

  /** Adds the fields of an object that are not in `knownNames`; `prefix` stands before their names. */
  addFrom(holder: JsonObject, knownNames: ReadonlySet<string>, prefix = ''): void {
    const extra = extraFields(holder, knownNames);
    if (extra !== null) for (const name of Object.keys(extra)) this.#fields.set(prefix + name, extra[name]);
  }

  /** Adds the fields of a tool, which are kept by the name of the tool. */
  addOfTool(tool: JsonObject, toolName: string, knownNames: ReadonlySet<string>, prefix: string): void {
    const extra = extraFields(tool, knownNames);
    if (extra === null) return;
    for (const name of Object.keys(extra)) {
      const values = this.#ofTools.get(prefix + name) ?? new Map<string, unknown>();
      this.#ofTools.set(prefix + name, values.set(toolName, extra[name]));
    }
  }

  /** All that was found; null where there is nothing. */
  collected(): JsonObject | null {
    for (const [path, values] of this.#ofTools) this.#fields.set(path, Object.fromEntries(values));
    return this.#fields.size === 0 ? null : Object.fromEntries(this.#fields);
  }
}

/** Where fields are put back. */
export interface OwnFieldPlaces {
  /** Objects of the request whose fields have the names of these before their own: `metadata.`. */
  holders: readonly string[];
  /** What stands before the names of fields of tools. */
  tools: string;
  /** The tools of a request with a change to each tool that the client runs, by its name. */
  mapTools(tools: unknown, change: (tool: JsonObject, name: string) => JsonObject): unknown;
}

/** The request with the fields that were found, where they were. */
export function withOwnFields(
  request: JsonObject,
  fields: JsonObject,
  { holders, mapTools, tools }: OwnFieldPlaces,
): JsonObject {
  const result: JsonObject = { ...request };
  for (const [path, value] of Object.entries(fields)) {
    const holder = holders.find((name) => path.startsWith(`${name}.`));
    if (path.startsWith(tools)) {
      const key = path.slice(tools.length);
      const values = objectOf(value);
      result['tools'] = mapTools(result['tools'], (tool, name) =>
        Object.hasOwn(values, name) ? { ...tool, [key]: values[name] } : tool,
      );
    } else if (holder === undefined) result[path] = value;
    else result[holder] = { ...objectOf(result[holder]), [path.slice(holder.length + 1)]: value };
  }
  return result;
}
