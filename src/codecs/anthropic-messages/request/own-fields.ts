import { OwnFields, withOwnFields } from '../../adapt/own-fields.ts';
import { isObject, type JsonObject, listOf, objectOf } from '../../json/values.ts';
import type {
  MessageParam,
  MessagesRequest,
  OutputConfig,
  RequestMetadata,
  ThinkingOption,
  ToolOffer,
} from '../wire.ts';

/** Fields that the neutral model can express, by the object that contains them. */
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
const knownWithTier: ReadonlySet<string> = new Set([...knownFields, 'service_tier']);
/** Objects of a request whose own fields are known. */
const holders = ['output_config', 'metadata'] as const satisfies (keyof MessagesRequest)[];
const knownInside: Readonly<Record<(typeof holders)[number], ReadonlySet<string>>> = {
  output_config: new Set<keyof OutputConfig>(['effort', 'format']),
  metadata: new Set<keyof RequestMetadata>(['user_id']),
};
const knownOfTool: ReadonlySet<string> = new Set<keyof ToolOffer>([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);
const knownThinking: ReadonlySet<unknown> = new Set(['enabled', 'adaptive', 'disabled']);

/** The only tier that a request may name (`service_tier`): without committed capacity. */
export const STANDARD_ONLY = 'standard_only';

const TOOLS = 'tools.';
/** What stands on a message applies from there on (`output_config`, `safeguards`); there is no other place for it. */
const MESSAGES = 'messages.';
const knownOfMessage: ReadonlySet<string> = new Set<keyof MessageParam>(['role', 'content']);

/**
 * Fields of the request that only this format has, and those of its parts by their path. A field of a tool is listed
 * under the tool's name. Null if there are none.
 */
export function ownFields(body: MessagesRequest & JsonObject): JsonObject | null {
  const fields = new OwnFields();
  const tier = body.service_tier;
  // What the vendor does anyway says nothing, and the other tier has a word in the neutral model.
  fields.addFrom(body, tier === 'auto' || tier === STANDARD_ONLY ? knownWithTier : knownFields);
  const { thinking } = body;
  if (isObject(thinking) && !knownThinking.has(objectOf<ThinkingOption>(thinking).type))
    fields.set('thinking', thinking);
  for (const name of holders) {
    const holder = body[name];
    if (isObject(holder)) fields.addFrom(holder, knownInside[name], `${name}.`);
  }
  for (const message of listOf(body.messages))
    if (isObject(message)) fields.addFrom(message, knownOfMessage, MESSAGES);
  for (const tool of listOf(body.tools))
    if (isObject(tool) && isFunction(tool)) fields.addOfTool(tool, tool.name, knownOfTool, TOOLS);
  return fields.collected();
}

type NamedTool = ToolOffer & { name: string };

/** A tool that the client runs: only a server's own has another type. */
function isFunction(tool: ToolOffer): tool is NamedTool {
  const type = tool.type;
  return typeof tool.name === 'string' && (type === undefined || type === null || type === 'custom');
}

/** The request with the fields that `ownFields` found, where they were; those of messages have no place of their own. */
export function putBack(request: MessagesRequest, fields: JsonObject): MessagesRequest {
  const own = Object.entries(fields).filter(([path]) => !path.startsWith(MESSAGES));
  return withOwnFields(request, Object.fromEntries(own), {
    holders,
    tools: TOOLS,
    mapTools: (tools, change) =>
      listOf(tools).map((tool) => (isObject(tool) && isFunction(tool) ? change(tool, tool.name) : tool)),
  });
}
