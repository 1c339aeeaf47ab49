import { utf8Bytes } from '../../lib/bytes.ts';
import { parseObject, textOf } from '../json/values.ts';
import type {
  Conversation,
  CustomTool,
  FunctionTool,
  Message,
  Part,
  Tool,
  ToolChoice,
} from '../model/conversation.ts';
import type { RestorePlan } from '../schema/restore.ts';
import { mapChanged } from './map-changed.ts';

/** What a format accepts as the name of a tool. */
export interface NameRule {
  /** Matches a name that needs no change. */
  name: RegExp;
  maxName: number;
}

/** A tool by the client's name. */
export interface ClientTool {
  name: string;
  kind: 'function' | 'custom';
  namespace?: string;
}

/** The upstream's names of tools, and back. */
export interface ToolNames {
  /** The upstream's name for a tool of the client. */
  wireName(tool: { name: string; namespace?: string }): string;
  /** The client's tool for a name of the upstream; null for one that was never sent. */
  clientTool(wireName: string): ClientTool | null;
  /** How arguments for a name of the upstream become those that the client's schema asks for; null when they already are. */
  plan(wireName: string): RestorePlan | null;
}

/** Longest id of a tool call that every format takes. */
const MAX_ID = 64;

/** Names of tools, both ways. */
interface Names {
  byWire: Map<string, ClientTool>;
  byKey: Map<string, string>;
  /** The number to try next for a name that is taken: trying all of them anew would take its time with many tools. */
  suffixes: Map<string, number>;
}

/** The names of the tools that a conversation offers. They are not changed: other requests may have the same. */
export interface ToolTable {
  names: Names;
  plans: ReadonlyMap<string, RestorePlan>;
  rule: NameRule;
  keepNamespaces: boolean;
}

const emptyNames = (): Names => ({ byWire: new Map(), byKey: new Map(), suffixes: new Map() });

/**
 * Names for the tools of a conversation that `rule` accepts, flattened out of their namespaces as
 * `namespace__name`. The same conversation gets the same names, so that prompt caches keep hitting.
 */
export function toolTable(
  tools: readonly Tool[],
  rule: NameRule,
  keepNamespaces: boolean,
  plans: ReadonlyMap<Tool, RestorePlan> = new Map(),
): ToolTable {
  const planned = new Map<string, RestorePlan>();
  const table: ToolTable = { names: emptyNames(), plans: planned, rule, keepNamespaces };
  for (const tool of tools) {
    if (tool.kind !== 'function' && tool.kind !== 'custom') continue;
    const wire = wireNameOf(tool, [table.names]) ?? addName(knownTool(tool), table, [table.names]);
    const plan = plans.get(tool);
    if (plan !== undefined) planned.set(wire, plan);
  }
  return table;
}

/** The names of one request: those of the tools that it offers, and of others that stand in its earlier turns. */
export function toolNames(table: ToolTable): ToolNames {
  const all = [emptyNames(), table.names] as const;
  return {
    // A tool of an earlier turn that is no longer offered is named by the same rule.
    wireName: (tool) => wireNameOf(tool, all) ?? addName({ ...tool, kind: 'function' }, table, all),
    clientTool: (wire) => table.names.byWire.get(wire) ?? all[0].byWire.get(wire) ?? null,
    plan: (wire) => table.plans.get(wire) ?? null,
  };
}

/** `toolNames` of tools that no other request shares. */
export function nameTools(...args: Parameters<typeof toolTable>): ToolNames {
  return toolNames(toolTable(...args));
}

function keyOf({ name, namespace }: { name: string; namespace?: string }): string {
  return `${namespace ?? ''}\u0000${name}`;
}

function wireNameOf(tool: { name: string; namespace?: string }, all: readonly Names[]): string | null {
  const key = keyOf(tool);
  for (const { byKey } of all) {
    const wire = byKey.get(key);
    if (wire !== undefined) return wire;
  }
  return null;
}

/** @param all the names that are taken; it is added to the first */
function addName(
  tool: ClientTool,
  { keepNamespaces, rule }: Pick<ToolTable, 'keepNamespaces' | 'rule'>,
  all: readonly [Names, ...Names[]],
): string {
  const [own] = all;
  const flat = tool.namespace === undefined || keepNamespaces ? tool.name : `${tool.namespace}__${tool.name}`;
  const legal = legalName(flat, rule);
  const isTaken = (wire: string) => all.some(({ byWire }) => byWire.has(wire));
  const next = Math.max(...all.map(({ suffixes }) => suffixes.get(legal) ?? 2));
  let wire = legal;
  for (let suffix = next; isTaken(wire); suffix += 1) {
    wire = `${legal.slice(0, rule.maxName - `_${suffix}`.length)}_${suffix}`;
    own.suffixes.set(legal, suffix + 1);
  }
  own.byWire.set(wire, tool);
  own.byKey.set(keyOf(tool), wire);
  return wire;
}

function knownTool({ kind, name, namespace }: FunctionTool | CustomTool): ClientTool {
  return { kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

function legalName(name: string, { maxName, name: pattern }: NameRule): string {
  if (pattern.test(name) && name.length <= maxName) return name;
  const clean = name.replace(/[^a-zA-Z0-9_-]/g, '_');
  const started = /^[a-zA-Z_]/.test(clean) ? clean : `_${clean}`;
  return shortened(started, name, maxName);
}

/** The id of a tool call as every format takes it: unchanged when it is safe, else the same safe one every time. */
export function safeId(id: string): string {
  if (/^[a-zA-Z0-9_-]{1,64}$/.test(id)) return id;
  const clean = id.replace(/[^a-zA-Z0-9_-]/g, '_');
  return shortened(`${clean}_${digest(id)}`, id, MAX_ID);
}

/** `text` in at most `max` characters; a longer one ends in a digest of `whole`, the same every time. */
export function shortened(text: string, whole: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 9)}_${digest(whole)}`;
}

/** Longest name of a user or a cache that OpenAI takes (API reference, `safety_identifier`, `prompt_cache_key`). */
const MAX_IDENTIFIER = 64;

/** A name of a user or a cache in the length that OpenAI takes. */
export function identifier(text: string | null): string | null {
  return text === null ? null : shortened(text, text, MAX_IDENTIFIER);
}

/** Nine letters and digits for `text`, the same every time. */
export function nineLetters(text: string): string {
  return `c${digest(text)}`;
}

/** 32 bits of FNV-1a, in hexadecimal: enough to tell apart the few names and ids of one conversation. */
function digest(text: string): string {
  let hash = 0x811c9dc5;
  for (const byte of utf8Bytes(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

export interface Bridging {
  names: ToolNames;
  /** Whether the target takes tools with free text as they are. */
  custom: boolean;
  namespaces: boolean;
}

/** The conversation with its tools, calls and results as the target can say them. */
export function bridgeTools(conversation: Conversation, bridging: Bridging): Conversation {
  return bridgeCalls(conversation, bridgedTools(conversation.tools, bridging), bridging);
}

/** @param tools those of the conversation, bridged */
export function bridgeCalls(conversation: Conversation, tools: Tool[], bridging: Bridging): Conversation {
  return {
    ...conversation,
    tools,
    toolChoice: bridgeChoice(conversation.toolChoice, conversation.tools, bridging.names),
    messages: mapChanged(conversation.messages, (message) => bridgeMessage(message, bridging)),
  };
}

export function bridgedTools(tools: readonly Tool[], bridging: Bridging): Tool[] {
  return tools.map((tool) => bridgeTool(tool, bridging));
}

function bridgeTool(tool: Tool, { custom, names, namespaces }: Bridging): Tool {
  if (tool.kind !== 'function' && tool.kind !== 'custom') return tool;
  const { namespace, ...plain } = tool;
  const named = {
    ...plain,
    name: names.wireName(tool),
    ...(namespaces && namespace !== undefined ? { namespace } : {}),
  };
  return named.kind === 'custom' && !custom ? asFunction(named) : named;
}

/** A tool with free text as a function with one text. */
function asFunction({ description, grammar, name }: CustomTool): FunctionTool {
  const format =
    grammar === null
      ? 'The input is free text.'
      : `The input is text in this ${grammar.syntax} grammar:\n${grammar.definition}`;
  return {
    kind: 'function',
    name,
    description: description === null || description === '' ? format : `${description}\n\n${format}`,
    // No more than every target takes: it is not fitted.
    schema: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The whole input of the tool, as text' } },
      required: ['input'],
    },
    strict: null,
  };
}

function bridgeChoice(
  choice: ToolChoice | null,
  tools: readonly Tool[],
  names: ToolNames,
): ToolChoice | null {
  const wire = (name: string) => {
    const tool = tools.find((candidate) => 'name' in candidate && candidate.name === name);
    const namespace = tool !== undefined && 'namespace' in tool ? tool.namespace : undefined;
    return names.wireName({ name, ...(namespace === undefined ? {} : { namespace }) });
  };
  switch (choice?.kind) {
    case 'tool':
      return { kind: 'tool', name: wire(choice.name) };
    case 'allowed':
      return { ...choice, names: choice.names.map(wire) };
    default:
      return choice;
  }
}

function bridgeMessage(message: Message, bridging: Bridging): Message {
  const parts = mapChanged(message.parts, (part) => bridgePart(part, bridging));
  return parts === message.parts ? message : { ...message, parts };
}

function bridgePart(part: Part, { custom, names, namespaces }: Bridging): Part {
  if (part.type === 'tool-result') {
    const callId = safeId(part.callId);
    const kind = custom ? part.kind : 'function';
    return callId === part.callId && kind === part.kind ? part : { ...part, callId, kind };
  }
  if (part.type !== 'tool-call') return part;
  const id = safeId(part.id);
  const name = names.wireName(part);
  const isAlike = id === part.id && name === part.name && part.kind === 'function';
  if (isAlike && (namespaces || part.namespace === undefined)) return part;
  const { namespace, ...call } = part;
  const named = {
    ...call,
    id,
    name,
    ...(namespaces && namespace !== undefined ? { namespace } : {}),
  };
  if (part.kind === 'function' || custom) return named;
  return { ...named, kind: 'function', input: JSON.stringify({ input: part.input }) };
}

/** The free text in the arguments of a function that stands for a custom tool; the arguments themselves when they are no such object. */
export function customInput(text: string): string {
  const parsed = parseObject(text);
  return parsed !== null && typeof parsed['input'] === 'string' ? textOf(parsed['input']) : text;
}
