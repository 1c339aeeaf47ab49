import { isObject, type JsonObject, listOf, objectOf } from '../../json/values.ts';
import { extraMembers } from '../../json/wire-check.ts';
import type {
  MessageParam,
  MessagesRequest,
  OutputConfig,
  RequestMetadata,
  ThinkingOption,
  ToolOffer,
} from '../wire.ts';

/** Members that the neutral model has words for, by the object that they stand in. */
const knownFields: ReadonlySet<string> = new Set<keyof MessagesRequest>([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'stream',
]);
const knownInside: Readonly<Record<string, ReadonlySet<string>>> = {
  output_config: new Set<keyof OutputConfig>(['effort', 'format']),
  metadata: new Set<keyof RequestMetadata>(['user_id']),
};
const insides = Object.entries(knownInside);
const knownOfTool: ReadonlySet<string> = new Set<keyof ToolOffer>([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);
const knownThinking: ReadonlySet<unknown> = new Set(['enabled', 'adaptive', 'disabled']);

/** The one tier that may be asked for (`service_tier`): no capacity that was committed to. */
export const STANDARD_ONLY = 'standard_only';

const TOOLS = 'tools.';
/** What stands on a message applies from there on (`output_config`, `safeguards`); there is no other place for it. */
const MESSAGES = 'messages.';
const knownOfMessage: ReadonlySet<string> = new Set<keyof MessageParam>(['role', 'content']);

/**
 * What only this format can say: members of the request, and by their path those of its parts. What a member of
 * tools says is listed by the tool's name. Null when there is nothing.
 */
export function ownMembers(body: MessagesRequest & JsonObject): JsonObject | null {
  const members = new Map<string, unknown>();
  const add = (prefix: string, found: JsonObject | null) => {
    if (found !== null) for (const name of Object.keys(found)) members.set(prefix + name, found[name]);
  };
  add('', extraMembers(body, knownFields));
  // What the vendor does anyway says nothing, and the other tier has a word in the neutral model.
  const tier = members.get('service_tier');
  if (tier === 'auto' || tier === STANDARD_ONLY) members.delete('service_tier');
  const { thinking } = body;
  if (isObject(thinking) && !knownThinking.has(objectOf<ThinkingOption>(thinking).type))
    members.set('thinking', thinking);
  for (const [name, names] of insides) {
    const inner = body[name];
    if (isObject(inner)) add(`${name}.`, extraMembers(inner, names));
  }
  for (const message of listOf(body.messages))
    if (isObject(message)) add(MESSAGES, extraMembers(message, knownOfMessage));
  add(TOOLS, membersOfTools(listOf(body.tools)));
  return members.size === 0 ? null : Object.fromEntries(members);
}

/** Members of tools that only this format knows, each with its values by the names of their tools. */
function membersOfTools(tools: readonly unknown[]): JsonObject | null {
  let ofTools: Map<string, Map<string, unknown>> | null = null;
  for (const tool of tools) {
    if (!isObject(tool) || !isFunction(tool)) continue;
    const extraFields = extraMembers(tool, knownOfTool);
    if (extraFields === null) continue;
    ofTools ??= new Map();
    for (const [key, value] of Object.entries(extraFields)) {
      const byName = ofTools.get(key) ?? new Map<string, unknown>();
      ofTools.set(key, byName.set(tool.name, value));
    }
  }
  if (ofTools === null) return null;
  return Object.fromEntries([...ofTools].map(([key, byName]) => [key, Object.fromEntries(byName)]));
}

type NamedTool = ToolOffer & { name: string };

/** A tool that the client runs: only a server's own has another type. */
function isFunction(tool: ToolOffer): tool is NamedTool {
  const type = tool.type;
  return typeof tool.name === 'string' && (type === undefined || type === null || type === 'custom');
}

/** The request with the members that `ownMembers` found, where they were. */
export function putBack(request: MessagesRequest, members: JsonObject): MessagesRequest {
  const result: MessagesRequest & JsonObject = { ...request };
  for (const [path, value] of Object.entries(members)) {
    if (path.startsWith(MESSAGES)) continue;
    const [name = '', key = ''] = split(path);
    if (name === 'tools') result.tools = listOf(result.tools).map((tool) => withMember(tool, key, value));
    else if (key !== '') result[name] = { ...objectOf(result[name]), [key]: value };
    else result[name] = value;
  }
  return result;
}

function split(path: string): string[] {
  const name = ['tools', ...Object.keys(knownInside)].find((candidate) => path.startsWith(`${candidate}.`));
  return name === undefined ? [path] : [name, path.slice(name.length + 1)];
}

function withMember(tool: unknown, key: string, byName: unknown): unknown {
  if (!isObject(tool) || !isFunction(tool)) return tool;
  const { name } = tool;
  const values = objectOf(byName);
  return Object.hasOwn(values, name) ? { ...tool, [key]: values[name] } : tool;
}
