import { GatewayError } from '../lib/error.ts';
import { withoutAnswerImages } from './answer-images.ts';
import type { Codec, ConversationCodec } from './codec.ts';
import { type Concept, type ConceptNames, concepts, untranslatable } from './concept.ts';
import type { Conversation, Message, Part, Sealed, Tool } from './conversation.ts';
import type { Dialect } from './dialect.ts';
import type { WireFormat } from './model.ts';
import { fitOutput, fitTools } from './schema/conversation.ts';
import type { FitSchema } from './schema/fit.ts';
import { withFilesAsText } from './text-file.ts';
import { bridgeTools, nameTools, type ToolNames } from './tool-names.ts';
import { textOf } from './values.ts';

/** A conversation as the target can say it. */
export interface Adapted {
  conversation: Conversation;
  /** What the caller asked for and the target cannot say, in the caller's own words. */
  dropped: string[];
  tools: ToolNames;
}

interface Route {
  from: Codec & { conversation: ConversationCodec };
  to: Codec & { conversation: ConversationCodec };
  dialect: Dialect;
  /** Whose seals can be read (`seal-owner.ts`); null takes those of any owner. */
  owner: string | null;
  /** The model's name at the target. */
  model: string;
  /** Fits a tool's schema, where that is not done anew for each. */
  fit?: FitSchema;
}

/**
 * Makes a conversation fit for another format: names and kinds of tools, ids, what only the caller's format knows.
 * @throws GatewayError `not_translatable` with `param` when leaving something out would change what was asked
 */
export function adapt(conversation: Conversation, { dialect, fit, from, model, owner, to }: Route): Adapted {
  const lacking = [...(to.conversation.lacks?.(model) ?? []), ...refusedBy(dialect, to.conversation)];
  const { names: theirs } = to.conversation;
  const canSay = (concept: Concept): boolean =>
    theirs[concept] !== undefined && !untranslatable.includes(concept) && !lacking.includes(concept);
  const dropped = missingConcepts(conversation, wordsOf(from.conversation), canSay, to.format);
  const members = conversation.extras?.format === to.format ? null : conversation.extras?.members;
  dropped.push(...Object.keys(members ?? {}));
  const target = { format: to.format, name: dialect.schema };
  const kept = keptTools(conversation.tools, to.format, dropped);
  const { plans, tools } = fitTools(kept, target, dropped, fit);
  const { searchCalls } = to.conversation;
  const { custom, maxName, name, namespaces } = to.conversation.tools;
  const names = nameTools(tools, { name, maxName }, namespaces, plans);
  const own: Conversation = {
    ...withoutConcepts(conversation, lacking),
    cacheKey: conversation.cacheKey ?? keyForMarks(conversation, canSay),
    tools,
    output: fitOutput(conversation.output, target, from.conversation.names.schemaOutput ?? 'output', dropped),
    messages: shownMessages(conversation, to.conversation).flatMap((message) =>
      ownMessage(
        message,
        { format: to.format, owner, searchCalls, googleSeals: dialect.googleSeals },
        dropped,
      ),
    ),
    extras: members === null ? conversation.extras : null,
  };
  return {
    conversation: bridgeTools(own, {
      names,
      custom: custom || (to.format === 'openai-chat' && dialect.customTools),
      namespaces,
    }),
    dropped: [...new Set(dropped)].sort(),
    tools: names,
  };
}

/** The messages with what they show where the target can see it. */
function shownMessages({ messages }: Conversation, { answerImages, names }: ConversationCodec): Message[] {
  const shown = answerImages ? messages : withoutAnswerImages(messages);
  if (names.fileInput !== undefined) return shown;
  return shown.map((message) => ({ ...message, parts: withFilesAsText(message.parts) }));
}

/** What the format can say and this server refuses. */
function refusedBy(
  { memberNames, vendorMembers }: Dialect,
  { names, vendorOnly }: ConversationCodec,
): Concept[] {
  const refused = vendorMembers ? [] : [...vendorOnly];
  for (const [name, other] of Object.entries(memberNames)) {
    if (other !== null) continue;
    if (name === 'user' && !vendorMembers) refused.push('userId');
    for (const [concept, word] of Object.entries(names)) if (word === name) refused.push(concept as Concept);
  }
  return refused;
}

/** What callers of a format call what they ask for. */
export function wordsOf({ heard, names }: Pick<ConversationCodec, 'heard' | 'names'>): ConceptNames {
  return { ...heard, ...names };
}

/**
 * Where a cache is found by a key and has no marks, a caller that marks what to keep has its key in its user: agents
 * name their session there, whose requests begin alike.
 */
function keyForMarks(conversation: Conversation, canSay: (concept: Concept) => boolean): string | null {
  const keyed = canSay('cacheKey') && !canSay('cacheMarks');
  return keyed && concepts.cacheMarks.asked(conversation) ? conversation.userId : null;
}

/** What a model or a server refuses must not be written: it would answer nothing else. */
function withoutConcepts(conversation: Conversation, lacking: readonly Concept[]): Conversation {
  const own = { ...conversation };
  for (const concept of lacking) {
    if (concept === 'stop') own.stop = [];
    else if (concept in silences) own[concept as keyof typeof silences] = null;
  }
  return own;
}

/** Concepts that are one member of the conversation, which says nothing as null. */
const silences = {
  ...{ temperature: null, topP: null, topK: null, frequencyPenalty: null, presencePenalty: null },
  ...{ seed: null, reasoning: null, verbosity: null, serviceTier: null },
} as const satisfies Partial<Record<Concept, null>>;

const rows = Object.entries(concepts) as [Concept, (typeof concepts)[Concept]][];

function missingConcepts(
  conversation: Conversation,
  from: ConceptNames,
  canSay: (concept: Concept) => boolean,
  target: WireFormat,
): string[] {
  const dropped: string[] = [];
  for (const [concept, row] of rows) {
    if (row.without === 'hold' || canSay(concept) || !row.asked(conversation)) continue;
    const name = from[concept] ?? concept;
    if (row.without === 'refuse') throw refusal(name, `${target} has no way to say "${name}"`);
    dropped.push(name);
  }
  return dropped;
}

function refusal(param: string, what: string): GatewayError {
  return new GatewayError(
    'not_translatable',
    `${what}, and the answer would mean something else without it: leave it out, or choose a model whose provider speaks the format of this request`,
    { param },
  );
}

/**
 * Tools that only another format knows: Anthropic's are refused by name, for the model would be told of abilities
 * that nobody has; those of the responses format are offered by Codex on every request and left out (V-06).
 */
function keptTools(tools: readonly Tool[], target: WireFormat, dropped: string[]): Tool[] {
  return tools.filter((tool) => {
    if (tool.kind !== 'native' || tool.format === target) return true;
    if (tool.format === 'anthropic-messages')
      throw refusal('tools', `${target} has no tool of the type "${tool.name}"`);
    dropped.push(`tools.${tool.name}`);
    return false;
  });
}

/** What of a conversation belongs to one target alone. */
interface Owner {
  format: WireFormat;
  owner: string | null;
  googleSeals: boolean;
  searchCalls: boolean;
}

function ownMessage({ parts, role }: Message, target: Owner, dropped: string[]): Message[] {
  const kept = parts.flatMap((part) => ownPart(part, target, dropped));
  return kept.length === 0 && parts.length > 0 ? [] : [{ role, parts: kept }];
}

function isForeign({ format, owner }: Sealed, target: Owner): boolean {
  const other = owner !== undefined && target.owner !== null && owner !== target.owner;
  if (format === target.format) return other;
  // Chat servers have a place for Google's seals: Google's own, and those that gave them.
  if (format !== 'gemini' || target.format !== 'openai-chat') return true;
  return owner === undefined ? !target.googleSeals : other;
}

function ownPart(part: Part, target: Owner, dropped: string[]): Part[] {
  if (part.type === 'reasoning' && part.sealed !== null && isForeign(part.sealed, target)) {
    // Only its maker can read it; a new seal would be a forgery.
    return part.text === '' ? [] : [{ ...part, sealed: null }];
  }
  if (part.type === 'search' && !target.searchCalls && part.native.format !== target.format) {
    dropped.push(...part.native.values.map((value) => textOf(value['type'])));
    return [{ type: 'text', text: part.text }];
  }
  if (part.type !== 'native' || part.format === target.format) return [part];
  if (part.text === null) throw refusal('messages', `${target.format} has nothing like "${part.name}"`);
  dropped.push(part.name);
  return part.text === '' ? [] : [{ type: 'text', text: part.text }];
}
