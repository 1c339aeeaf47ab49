import { adapt } from '../adapt/adapt.ts';
import { hasField, withoutField } from '../adapt/optional-fields.ts';
import { outputCapOf, withOutputCap } from '../adapt/output-cap.ts';
import type { SharedSettings } from '../adapt/shared-tools.ts';
import type { ToolNames } from '../adapt/tool-names.ts';
import type { TranslationCodec } from '../codec.ts';
import { unreadFields } from '../json/read-fields.ts';
import type { JsonObject } from '../json/values.ts';
import { clientWord } from '../model/client-words.ts';
import { type Concept, concepts } from '../model/concept.ts';
import type { Conversation } from '../model/conversation.ts';
import type { Dialect } from '../model/dialect.ts';
import { withLatestCacheMarks } from '../prompt-cache/cache-control.ts';
import { CACHE_CONTROL } from '../request-fields.ts';
import type { FitSchema } from '../schema/fit.ts';

/** Where a request comes from, where it goes, and what is known of both beside their formats. */
export interface RequestRoute {
  from: TranslationCodec;
  to: TranslationCodec;
  /** The model's name at the target. */
  model: string;
  dialect: Dialect;
  /** Whose encrypted reasoning the target can read; null takes that of any owner. */
  owner: string | null;
  /** Fields of the target's format that it does not take. */
  refused: readonly string[];
  /** Tokens that the target writes at most; null where that is not known. */
  most: number | null;
  /** Whether marks for the prompt cache are added where the client sets none. */
  cacheMarks: boolean;
  /** Fits the schema of a tool to what the target takes, where that is not done anew for each. */
  fit?: FitSchema | undefined;
  /** Where what tools became is kept for other requests of the conversation by the same route. */
  shared?: SharedSettings | undefined;
  /** Turns that may have fields which are not read; absent for all. */
  unknownTurns?: readonly unknown[] | undefined;
  /** The conversation that is meant by the one in the request: with earlier turns, or with an answer that was begun. */
  complete?(conversation: Conversation): Conversation;
  /** Adds what one server requires besides to the request in its format. */
  amend?(request: JsonObject): JsonObject;
}

/** What the requests of one conversation share (`RequestRoute.shared`): nothing yet. */
export function emptySharedSettings(): SharedSettings {
  return { read: null, last: null, rules: null, missed: null, unread: null };
}

/** A request in the target's format, and what is needed to bring its answer back. */
export interface RequestTranslation {
  body: JsonObject;
  /** The conversation that it stands for. */
  conversation: Conversation;
  /** What the target cannot express, under the client's names, in order. */
  dropped: string[];
  /** The bound of the answer that the client set and the target does not take, and what it is now: `max_tokens=8192`. */
  lowered: string | null;
  /** Whether a user turn was added that the client did not write, because the format requires one there. */
  addsTurn: boolean;
  tools: ToolNames;
  /** Whether the client allows one tool call at most. */
  oneCall: boolean;
  /** The tools that the answer may call, by the client's names; null for all. */
  allowedTools: readonly string[] | null;
}

/**
 * Translates a request through the neutral model: reads it, adapts it to what the target can express, writes it, limits
 * it to the target's token limit, marks it for its prompt cache, and removes what the target refuses.
 * @param request as the decoder of `from` takes it, with `model` and `stream` where the path says them
 * @throws GatewayError `invalid_request`, `not_translatable`
 */
export function translateConversation(request: JsonObject, route: RequestRoute): RequestTranslation {
  const { dialect, fit, from, model, most, owner, refused, shared, to } = route;
  const read = from.conversation.decodeRequest(request, shared ?? null);
  const completed = route.complete?.(read) ?? read;
  const marks = route.cacheMarks && !refused.includes(CACHE_CONTROL);
  const wordOf = (concept: Concept) => clientWord(from.conversation, concept, request);
  const wordsOf = (some: readonly Concept[]) =>
    some.filter((concept) => concepts[concept].isRequested(completed)).map(wordOf);
  const { conversation, dropped, hasMarks, tools, written } = adapt(completed, {
    from,
    to,
    dialect,
    owner,
    ...(fit === undefined ? {} : { fit }),
    ...(shared === undefined ? {} : { shared }),
    wordOf,
    model,
    unwanted: unwantedAt(to, { marks, refused }),
  });
  const mostMarks = to.conversation.mostCacheMarks ?? Number.POSITIVE_INFINITY;
  const marked = hasMarks ? withLatestCacheMarks(conversation, mostMarks) : conversation;
  const unencodable: Concept[] = marked === conversation ? [] : ['cacheMarks'];
  const plain = to.conversation.encodeRequest({ ...marked, model }, dialect, unencodable, written);
  const addsTurn = to.conversation.addsTurn?.(plain) ?? false;
  const capped = most === null ? plain : withOutputCap(to, plain, most);
  const amended = route.amend?.(capped) ?? capped;
  const encoded = marks
    ? (to.conversation.markCache?.(amended, completed.cacheKey !== null, dialect) ?? amended)
    : amended;
  const left = refused.filter((path) => hasField(encoded, path));
  const refusedWords = left.flatMap((path) => {
    const concepts = conceptsOf(path, to);
    return concepts.length === 0 ? [path] : wordsOf(concepts);
  });
  const lost = [...dropped, ...unreadIn(request, route), ...wordsOf(unencodable), ...refusedWords];
  return {
    body: left.reduce(withoutField, encoded),
    conversation: completed,
    dropped: lost.length === 0 ? lost : [...new Set(lost)].sort(),
    lowered: most === null ? null : loweredCap(outputCapOf(from, request), most),
    addsTurn,
    tools,
    oneCall: concepts.parallelToolCalls.isRequested(completed),
    allowedTools: completed.toolChoice?.kind === 'allowed' ? completed.toolChoice.names : null,
  };
}

/** What is not read of a request. Of the fields beside its turns that is known where other requests have the same. */
function unreadIn(request: JsonObject, { from, shared, to, unknownTurns }: RequestRoute): readonly string[] {
  const { conversation, requestFields } = from;
  const { readable, spelling } = conversation;
  const unread = (fields: JsonObject) =>
    unreadFields(fields, readable, { own: to.format === from.format, spelling });
  const { turns } = requestFields;
  if (shared === undefined || turns === undefined) return unread(request);
  shared.unread ??= unread({ ...request, [turns]: null });
  return [...shared.unread, ...unread({ [turns]: unknownTurns ?? request[turns] })];
}

/** The concepts of the prompt cache that may not be written: marks that were refused, and a key that only marks would justify. */
function unwantedAt(
  { conversation }: TranslationCodec,
  { marks, refused }: { marks: boolean; refused: readonly string[] },
): Concept[] {
  const unwanted: Concept[] = refused.includes(CACHE_CONTROL) ? ['cacheMarks'] : [];
  const { cacheKey, cacheMarks } = conversation.names;
  if (cacheKey !== undefined && cacheKey === cacheMarks && !marks) unwanted.push('cacheKey');
  return unwanted;
}

/** What may be long and no answer looks at, of the formats that do not repeat the request in it. */
const long: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'contents',
  'systemInstruction',
  'system_instruction',
  'prompt',
]);

/** What an answer may need of the request. The rest would outlive the wait for it, and be moved by the collector again and again. */
export function withoutTurns(request: JsonObject): JsonObject {
  const rest: JsonObject = {};
  for (const name of Object.keys(request)) {
    const value = request[name];
    if (!long.has(name)) rest[name] = name === 'tools' && Array.isArray(value) ? [] : value;
  }
  return rest;
}

function loweredCap(requested: ReturnType<typeof outputCapOf>, most: number): string | null {
  return requested === null || requested.cap <= most ? null : `${requested.name}=${most}`;
}

/** What a field of the target's request stands for. */
function conceptsOf(path: string, { conversation: { names } }: TranslationCodec): Concept[] {
  return (Object.keys(names) as Concept[]).filter((one) => names[one] === path.replace(/\.effort$/, ''));
}
