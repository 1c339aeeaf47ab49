import { adapt } from '../../codecs/adapt/adapt.ts';
import { continued, isContinuable } from '../../codecs/adapt/continuation.ts';
import { CACHE_CONTROL, hasMember, withoutMember } from '../../codecs/adapt/optional-members.ts';
import { outputCapOf, withOutputCap } from '../../codecs/adapt/output-cap.ts';
import type { ToolNames } from '../../codecs/adapt/tool-names.ts';
import type { Codec, ConversationCodec, StreamCodec } from '../../codecs/codec.ts';
import { sealOwner } from '../../codecs/encrypted-reasoning/owner.ts';
import { codecOf } from '../../codecs/index.ts';
import { unreadMembers } from '../../codecs/json/read-members.ts';
import { isObject, type JsonObject, listOf, parseObject } from '../../codecs/json/values.ts';
import { clientWord } from '../../codecs/model/client-words.ts';
import { type Concept, concepts } from '../../codecs/model/concept.ts';
import { type Dialect, dialectOf } from '../../codecs/model/dialect.ts';
import { withLatestCacheMarks } from '../../codecs/prompt-cache/cache-control.ts';
import { type FitSchema, fitSchema } from '../../codecs/schema/fit.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/resolve.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Call } from '../dispatch/call.ts';
import { prefillOf } from '../dispatch/prefill.ts';
import { joined, textTokens } from '../metering/meter.ts';
import { conversationOf, echoOf } from '../responses-state/response-state.ts';
import { carryLongTexts, holdsCarried } from './long-texts.ts';

/** A request in the target's format, and what is needed to bring its answer back. */
export interface TranslatedRequest {
  body: Buffer;
  /** What the target cannot say, in the caller's words. */
  dropped: string[];
  /** Whether the user says something in it that the client did not write, for its format wants a turn there. */
  addsTurn: boolean;
  tools: ToolNames;
  /** The caller's request; of formats whose answers do not repeat it without its turns and tools. */
  request: JsonObject;
  stream: boolean;
  includeUsage: boolean;
  /** Whether another target could go on with its answer. */
  continuable: boolean;
  /** Whether the caller wants one call of a tool at most. */
  oneCall: boolean;
  /** The tools that the answer may call, as the caller knows them; null for all. */
  allowedTools: readonly string[] | null;
  /** The bound of the answer that the caller set and the target does not take, and what it is now: `max_tokens=8192`. */
  lowered: string | null;
}

/** What is known of a target beside its format. */
export interface Known {
  /** Members that it does not take. */
  refused: readonly string[];
  /** Tokens that it writes at most; null where that is not known. */
  most: number | null;
  /** The answer that it shall go on with; '' where it begins one. */
  begun: string;
  /** Fits the schema of a tool to what it takes. */
  fit: FitSchema;
  /** Whether it is told what to keep in its prompt cache, where the client does not say so. */
  cacheMarks: boolean;
}

const nothing: Known = { refused: [], most: null, begun: '', fit: fitSchema, cacheMarks: true };

/** The parts of a call that its translation is made from. */
type Asked = Pick<Call, 'body' | 'named' | 'target'> & { turn?: Call['turn'] };

/**
 * Translates a request from the caller's format to the target's.
 * @throws GatewayError `invalid_json`, `invalid_request`, `not_translatable`
 */
export function translateRequest(
  asked: Asked,
  format: WireFormat,
  known: Partial<Known> = {},
): TranslatedRequest {
  return translate(asked, format, { ...nothing, ...known });
}

function translate(asked: Asked, format: WireFormat, known: Known): TranslatedRequest {
  try {
    const body = joined(asked.body).toString('utf8');
    const carried = carrying(asked, format, known, body);
    if (carried !== null) return carried;
    const { json, ...rest } = translated(asked, format, known, requestIn(body, asked));
    return { ...rest, body: Buffer.from(json) };
  } catch (error) {
    // JSON can be read to any depth and written only as deep as the stack goes.
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError('invalid_json', 'The request body is nested too deeply to be translated');
  }
}

/** With its long texts passing by; null where there are none, or they might be looked into. */
function carrying(asked: Asked, format: WireFormat, known: Known, body: string): TranslatedRequest | null {
  const [from, to] = [codecOf(format), codecOf(asked.target.format)];
  const isBlind = from.conversation?.opaqueText === 'read' && to.conversation?.opaqueText === 'written';
  const carried = isBlind && !asked.turn ? carryLongTexts(body) : null;
  if (carried === null) return null;
  const request = requestIn(carried.body, asked);
  const { messages: _, system: __, ...others } = request;
  if (holdsCarried(others)) return null;
  const { json, ...rest } = translated(asked, format, known, request);
  const whole = carried.putBack(json);
  return whole === null ? null : { ...rest, body: Buffer.from(whole) };
}

/** The request as its format's decoder takes it. @throws GatewayError `invalid_json` */
export function requestIn(body: string, { named }: Pick<Call, 'named'>): JsonObject {
  const sent = parseObject(body);
  if (sent === null) throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  return named === null ? sent : { ...sent, model: named.model, stream: named.stream };
}

function translated(
  { target, turn = null }: Asked,
  format: WireFormat,
  { begun, cacheMarks, fit, most, refused }: Known,
  request: JsonObject,
): Omit<TranslatedRequest, 'body'> & { json: string } {
  const from = conversationCodec(format);
  const to = conversationCodec(target.format);
  const dialect = dialectOf(target.provider.dialect);
  const read = from.conversation.decodeRequest(request);
  const whole = turn === null ? read : conversationOf(read, turn);
  const asked = begun === '' ? whole : continued(whole, begun, textTokens(Buffer.byteLength(begun)));
  const marks = cacheMarks && !refused.includes(CACHE_CONTROL);
  const wordOf = (concept: Concept) => clientWord(from.conversation, concept, request);
  const wordsOf = (some: readonly Concept[]) =>
    some.filter((concept) => concepts[concept].asked(asked)).map(wordOf);
  const { readable, spelling } = from.conversation;
  const { conversation, dropped, tools } = adapt(asked, {
    from,
    to,
    dialect,
    owner: ownerOf(target),
    fit,
    wordOf,
    model: target.model,
    unwanted: unwantedAt(to, { marks, refused }),
  });
  const marked = withLatestCacheMarks(
    conversation,
    to.conversation.mostCacheMarks ?? Number.POSITIVE_INFINITY,
  );
  const unsaid: Concept[] = marked === conversation ? [] : ['cacheMarks'];
  const plain = to.conversation.encodeRequest({ ...marked, model: target.model }, dialect, unsaid);
  const addsTurn = to.conversation.addsTurn?.(plain) ?? false;
  const capped = most === null ? plain : withOutputCap(target.format, plain, most);
  const begins = begun === '' ? capped : prefilled(capped, target);
  const encoded = marks ? markedFor(to, begins, asked.cacheKey !== null, dialect) : begins;
  const left = refused.filter((path) => hasMember(encoded, path));
  const kept = left.reduce(withoutMember, encoded);
  const refusedWords = left.flatMap((path) => {
    const meant = conceptsOf(path, to);
    return meant.length === 0 ? [path] : wordsOf(meant);
  });
  return {
    json: JSON.stringify(kept),
    dropped: [
      ...new Set([
        ...dropped,
        ...unreadMembers(request, readable, { own: to.format === format, spelling }),
        ...wordsOf(unsaid),
        ...refusedWords,
      ]),
    ].sort(),
    addsTurn,
    tools,
    request: turn === null ? withoutTurns(request) : echoOf(request, turn),
    stream: asked.stream,
    includeUsage: asked.includeUsage,
    continuable: asked.stream && isContinuable(asked),
    oneCall: concepts.parallelToolCalls.asked(asked),
    allowedTools: asked.toolChoice?.kind === 'allowed' ? asked.toolChoice.names : null,
    lowered: most === null ? null : loweredCap(outputCapOf(format, request), most),
  };
}

/** The request with what its server wants to be told, so that it goes on with the last message. */
function prefilled(encoded: JsonObject, target: Target): JsonObject {
  const { message, request } = prefillOf(target) ?? {};
  const messages = listOf(encoded['messages']);
  const last = messages.at(-1);
  if (message === undefined || !isObject(last)) return { ...encoded, ...request };
  return { ...encoded, ...request, messages: [...messages.slice(0, -1), { ...last, ...message }] };
}

/** What may not be said of the prompt cache: marks that were refused, and a key that only marks would speak for. */
function unwantedAt(
  { conversation }: Translating,
  { marks, refused }: { marks: boolean; refused: Known['refused'] },
): Concept[] {
  const unwanted: Concept[] = refused.includes(CACHE_CONTROL) ? ['cacheMarks'] : [];
  const { cacheKey, cacheMarks } = conversation.names;
  if (cacheKey !== undefined && cacheKey === cacheMarks && !marks) unwanted.push('cacheKey');
  return unwanted;
}

/** The request with marks for the prompt cache, where its vendor wants them. */
function markedFor(
  { conversation }: Translating,
  encoded: JsonObject,
  shared: boolean,
  dialect: Dialect,
): JsonObject {
  return conversation.markCache?.(encoded, shared, dialect) ?? encoded;
}

/** What may be long and no answer looks at, of the formats that do not repeat the request in it. */
const long = ['messages', 'system', 'contents', 'systemInstruction', 'system_instruction', 'prompt'] as const;

/** What an answer may need of the request. The rest would outlive the wait for it, and be moved by the collector again and again. */
function withoutTurns(request: JsonObject): JsonObject {
  const kept = { ...request };
  for (const name of long) delete kept[name];
  if (Array.isArray(kept['tools'])) kept['tools'] = [];
  return kept;
}

function loweredCap(asked: ReturnType<typeof outputCapOf>, most: number): string | null {
  return asked === null || asked.cap <= most ? null : `${asked.name}=${most}`;
}

/** What a member of the target's request stands for. */
function conceptsOf(path: string, { conversation: { names } }: Translating): Concept[] {
  return (Object.keys(names) as Concept[]).filter((one) => names[one] === path.replace(/\.effort$/, ''));
}

/** Whose sealed reasoning a target can read. */
export function ownerOf({ connection, model }: Target): string {
  return sealOwner(connection.id, model);
}

export type Translating = Codec & { conversation: ConversationCodec; stream: StreamCodec };

/** The codec of a format that takes part in translation. */
export function conversationCodec(format: WireFormat): Translating {
  const codec = codecOf(format);
  const { conversation, stream } = codec;
  if (conversation === null || stream === null)
    throw new GatewayError('format_not_supported', `${format} is not translated`);
  return { ...codec, conversation, stream };
}
