import { GatewayError } from '../../lib/error.ts';
import type { ConversationCodec, TranslationCodec } from '../codec.ts';
import { withFilesAsText } from '../files/text-file.ts';
import { textOf } from '../json/values.ts';
import { type Concept, type ConceptNames, type ConceptRow, concepts } from '../model/concept.ts';
import { type Content, contentOf } from '../model/content.ts';
import type {
  Conversation,
  EncryptedReasoning,
  Message,
  NativePart,
  Part,
  Tool,
} from '../model/conversation.ts';
import type { Dialect } from '../model/dialect.ts';
import { withoutCacheMarks } from '../prompt-cache/cache-control.ts';
import { fitOutput, fitTools } from '../schema/conversation.ts';
import type { FitSchema } from '../schema/fit.ts';
import type { WireFormat } from '../wire-format.ts';
import { tellingAllowedTools } from './allowed-tools.ts';
import { withoutAnswerImages } from './answer-images.ts';
import { withContextInText } from './in-text.ts';
import { setOff } from './joined-texts.ts';
import { mapChanged } from './map-changed.ts';
import {
  type AdaptedTools,
  areSameTools,
  type SharedSettings,
  type TargetRules,
  type WrittenTools,
} from './shared-tools.ts';
import { isMissed, targetWords } from './target-words.ts';
import {
  type Bridging,
  bridgeCalls,
  bridgedTools,
  type ToolNames,
  toolNames,
  toolTable,
} from './tool-names.ts';

/** A conversation as the target can say it. */
export interface Adapted {
  conversation: Conversation;
  /** What the client asked for and the target cannot say, in the client's own words. */
  dropped: string[];
  tools: ToolNames;
  /** Whether the client set marks for the prompt cache. */
  hasMarks: boolean;
  /** Passed to the encoder of its tools; null where nothing of them is cached. */
  written: WrittenTools | null;
}

interface Route {
  from: Pick<TranslationCodec, 'conversation' | 'format'>;
  to: Pick<TranslationCodec, 'conversation' | 'format'>;
  dialect: Dialect;
  /** Whose encrypted reasoning can be read (`encrypted-reasoning/owner.ts`); null takes that of any owner. */
  owner: string | null;
  /** The model's name at the target. */
  model: string;
  /** What the request calls a concept (`client-words.ts`); default: its format's first name. */
  wordOf?: (concept: Concept) => string;
  /** Fits a tool's schema, where that is not done anew for each. */
  fit?: FitSchema;
  /** Where what tools became is kept for other requests of the conversation; nothing is where it is absent. */
  shared?: SharedSettings;
  /** What is not to be said besides. */
  unwanted?: readonly Concept[];
}

/**
 * Makes a conversation fit for another format: names and kinds of tools, ids, what only the client's format has.
 * @throws GatewayError `not_translatable` with `param` when leaving something out would change what was asked
 */
export function adapt(requested: Conversation, route: Route): Adapted {
  const { dialect, from, owner, shared, to } = route;
  const wordOf = route.wordOf ?? ((concept: Concept) => wordsOf(from.conversation)[concept] ?? concept);
  const rules = shared?.rules ?? rulesOf(route);
  if (shared !== undefined) shared.rules = rules;
  const { canExpress, unsupported } = rules;
  const content = contentOf(requested);
  const missed = () => missingConcepts(requested, content, rules.missing, wordOf, to.format);
  const isAsBefore = shared !== undefined && requested.tools === shared.read?.tools && !asks(content, rules);
  const dropped = [...(isAsBefore ? missedOnce(shared, missed) : missed())];
  const conversation = withContextInText(requested, content, canExpress);
  const { output } = conversation;
  const fields = conversation.extras?.format === to.format ? null : conversation.extras?.fields;
  dropped.push(...Object.keys(fields ?? {}));
  if (!to.conversation.tools.namespaces)
    dropped.push(...Object.keys(conversation.namespaces).map((name) => `tools.${name}.description`));
  const target = { format: to.format, name: dialect.schema };
  const expressible = withoutConcepts(conversation, content, unsupported);
  const offered = adaptedTools(expressible.tools, route);
  dropped.push(...offered.dropped);
  const names = toolNames(offered.names);
  const { searchCalls } = to.conversation;
  const fitted: Conversation = {
    ...expressible,
    cacheKey: canExpress('cacheKey')
      ? (conversation.cacheKey ?? keyForMarks(conversation, content, to.conversation, canExpress))
      : null,
    tools: offered.fitted,
    output: output.kind === 'schema' ? fitOutput(output, target, wordOf('schemaOutput'), dropped) : output,
    messages: ownMessages(
      shownMessages(expressible, content, to.conversation),
      content,
      { format: to.format, owner, searchCalls, googleSignatures: dialect.googleSignatures },
      dropped,
    ),
    extras: fields === null ? conversation.extras : null,
  };
  const bridged = bridgeCalls(fitted, offered.bridged, { ...bridgingOf(route), names });
  return {
    conversation: canExpress('allowedTools') ? bridged : tellingAllowedTools(bridged),
    dropped: dropped.length === 0 ? dropped : [...new Set(dropped)].sort(),
    tools: names,
    hasMarks: content.marks,
    written: offered.written,
  };
}

function missedOnce(shared: SharedSettings, missed: () => readonly string[]): readonly string[] {
  shared.missed ??= missed();
  return shared.missed;
}

/** Whether the turns themselves ask for something that this target may not be able to say. */
function asks({ calls, marks, media, names }: Content, { missing }: TargetRules): boolean {
  return marks || media || names || (calls && missing.includes('toolCalls'));
}

function rulesOf({ dialect, model, to, unwanted = [] }: Route): TargetRules {
  const words = targetWords(dialect, to.conversation);
  const own = [...(to.conversation.unsupportedBy?.(model) ?? []), ...unwanted];
  return {
    missing: [
      ...words.missing,
      ...own.filter((concept) => words.expressible.has(concept) && isMissed(concept)),
    ],
    unsupported: [...own, ...words.refused],
    canExpress: (concept) => words.expressible.has(concept) && !own.includes(concept),
  };
}

/** The tools as the target takes them; what they became before, where another request of the conversation had the same. */
function adaptedTools(requested: readonly Tool[], route: Route): AdaptedTools {
  const { shared = null } = route;
  const last = shared?.last ?? null;
  if (last !== null && areSameTools(last.requested, requested)) return last;
  const { dialect, fit, to } = route;
  const dropped: string[] = [];
  const offeredTools = keptTools(requested, to.format, dropped);
  const { plans, tools } = fitTools(offeredTools, { format: to.format, name: dialect.schema }, dropped, fit);
  const { maxName, name, namespaces } = to.conversation.tools;
  const names = toolTable(tools, { name, maxName }, namespaces, plans);
  const bridged = bridgedTools(tools, { ...bridgingOf(route), names: toolNames(names) });
  const result = {
    requested,
    fitted: tools,
    bridged,
    names,
    dropped,
    written: shared === null ? null : new WeakMap(),
  };
  if (shared !== null) shared.last = result;
  return result;
}

function bridgingOf({ dialect, to }: Route): Omit<Bridging, 'names'> {
  const { custom, namespaces } = to.conversation.tools;
  return { custom: custom || (to.format === 'openai-chat' && dialect.customTools), namespaces };
}

/** The messages with what they show where the target can see it. */
function shownMessages(
  { messages }: Conversation,
  { media }: Content,
  { answerImages, names }: ConversationCodec,
): Message[] {
  if (!media) return messages;
  const shown = answerImages ? messages : withoutAnswerImages(messages);
  if (names.fileInput !== undefined) return shown;
  return mapChanged(shown, (message) =>
    message.parts.some(holdsFile) ? { ...message, parts: withFilesAsText(message.parts) } : message,
  );
}

function holdsFile(part: Part): boolean {
  return (
    part.type === 'file' || (part.type === 'tool-result' && part.parts.some(({ type }) => type === 'file'))
  );
}

/** What clients of a format call what they ask for. */
export function wordsOf({
  acceptedOnly,
  names,
}: Pick<ConversationCodec, 'acceptedOnly' | 'names'>): ConceptNames {
  return { ...acceptedOnly, ...names };
}

/**
 * Where a cache is found by a key and is not sure to have marks, a client that marks what to keep has its key in its user: agents
 * name their session there, whose requests begin alike.
 */
function keyForMarks(
  { userId }: Conversation,
  { marks }: Content,
  { onTrial = [] }: ConversationCodec,
  canExpress: (concept: Concept) => boolean,
): string | null {
  const isMarked = canExpress('cacheMarks') && !onTrial.includes('cacheMarks');
  return !isMarked && marks ? userId : null;
}

/** What a model or a server refuses must not be written: it would answer nothing else. */
function withoutConcepts(
  conversation: Conversation,
  { marks }: Content,
  unsupported: readonly Concept[],
): Conversation {
  const isUnmarked = marks && unsupported.includes('cacheMarks');
  const silenced = unsupported.some((concept) => concept === 'stop' || concept in silences);
  if (!isUnmarked && !silenced) return conversation;
  const own = isUnmarked ? withoutCacheMarks(conversation) : { ...conversation };
  for (const concept of unsupported) {
    if (concept === 'stop') own.stop = [];
    else if (concept in silences) own[concept as keyof typeof silences] = null;
  }
  return own;
}

/** Concepts that are one field of the conversation, which says nothing as null. */
const silences = {
  temperature: null,
  topP: null,
  topK: null,
  frequencyPenalty: null,
  presencePenalty: null,
  seed: null,
  reasoning: null,
  verbosity: null,
  serviceTier: null,
} as const satisfies Partial<Record<Concept, null>>;

function missingConcepts(
  conversation: Conversation,
  content: Content,
  missing: readonly Concept[],
  wordOf: (concept: Concept) => string,
  target: WireFormat,
): string[] {
  const dropped: string[] = [];
  for (const concept of missing) {
    const { isRequested, within, without }: ConceptRow = concepts[concept];
    if ((within !== undefined && !content[within]) || !isRequested(conversation)) continue;
    const name = wordOf(concept);
    if (without === 'refuse') throw refusal(name, `${target} has no way to say "${name}"`);
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

/** Anthropic's searches for tools: the tools that they would find are all sent, so that nothing is missing without. */
const TOOL_SEARCH = 'tool_search_tool_';

/**
 * Tools that only another format has: Anthropic's are refused by name, because the model would be offered abilities
 * that do not exist; those of the responses format are offered by Codex on every request and left out.
 */
function keptTools(tools: readonly Tool[], target: WireFormat, dropped: string[]): Tool[] {
  return tools.filter((tool) => {
    if (tool.kind !== 'native' || tool.format === target) return true;
    if (tool.format === 'anthropic-messages' && !tool.name.startsWith(TOOL_SEARCH))
      throw refusal('tools', `${target} has no tool of the type "${tool.name}"`);
    dropped.push(`tools.${tool.name}`);
    return false;
  });
}

/** Where each format has the turns of a conversation, in words for an error. */
const turns: Readonly<Partial<Record<WireFormat, string>>> = {
  'openai-responses': 'input',
  gemini: 'contents',
};

/**
 * Why a part cannot be translated. A compaction of the vendor's holds all that was said before it, encrypted; one of
 * the gateway's own is written as text, and arrives here only where it was damaged.
 */
function untranslatable({ format, name }: NativePart, target: WireFormat): GatewayError {
  const param = turns[format] ?? 'messages';
  if (name !== 'compaction') return refusal(param, `${target} has nothing like "${name}"`);
  return new GatewayError(
    'not_translatable',
    'OpenAI compacted this conversation, and only OpenAI can read what it wrote ("compaction" in the input). To go on with this model, choose an OpenAI model again and ask it for a summary (not /compact), then start a new session with that (in Codex: /new). To be able to change vendors later, compact while a model of another vendor is chosen: the gateway then writes the summary itself, and every model can read it',
    { param },
  );
}

/** What of a conversation belongs to one target alone. */
interface Owner {
  format: WireFormat;
  owner: string | null;
  googleSignatures: boolean;
  searchCalls: boolean;
}

/** The messages without what belongs to another target. */
function ownMessages(messages: Message[], { owned }: Content, target: Owner, dropped: string[]): Message[] {
  if (!owned) return messages;
  return messages.flatMap((message) =>
    message.parts.some(mayBelong) ? ownMessage(message, target, dropped) : [message],
  );
}

/** Whether a part may be for one target alone. */
function mayBelong(part: Part): boolean {
  const { type } = part;
  return type === 'native' || type === 'search' || (type === 'reasoning' && part.encrypted !== null);
}

function ownMessage({ parts, ...message }: Message, target: Owner, dropped: string[]): Message[] {
  const worded = new Set<Part>();
  const supportedParts = parts.flatMap((part) => {
    const own = ownPart(part, target, dropped);
    if (part.type === 'native' || part.type === 'search')
      for (const one of own) if (one.type === 'text') worded.add(one);
    return own;
  });
  if (supportedParts.length === 0 && parts.length > 0) return [];
  // The user's blocks are paragraphs anyway.
  const isSpaced = worded.size === 0 || message.role !== 'assistant';
  return [
    { ...message, parts: isSpaced ? supportedParts : setOff(supportedParts, (part) => worded.has(part)) },
  ];
}

function isForeign({ format, owner }: EncryptedReasoning, target: Owner): boolean {
  const other = owner !== undefined && target.owner !== null && owner !== target.owner;
  if (format === target.format) return other;
  // Chat servers have a place for Google's signatures: Google's own, and those that gave them.
  if (format !== 'gemini' || target.format !== 'openai-chat') return true;
  return owner === undefined ? !target.googleSignatures : other;
}

function ownPart(part: Part, target: Owner, dropped: string[]): Part[] {
  if (part.type === 'reasoning' && part.encrypted !== null && isForeign(part.encrypted, target)) {
    // Only its maker can read it; a new one would be a forgery.
    return part.text === '' ? [] : [{ ...part, encrypted: null }];
  }
  if (part.type === 'search' && !target.searchCalls && part.native.format !== target.format) {
    dropped.push(...part.native.values.map((value) => textOf(value['type'])));
    return [{ type: 'text', text: part.text }];
  }
  if (part.type !== 'native' || part.format === target.format) return [part];
  if (part.text === null) throw untranslatable(part, target.format);
  dropped.push(part.name);
  return part.text === '' ? [] : [{ type: 'text', text: part.text }];
}
