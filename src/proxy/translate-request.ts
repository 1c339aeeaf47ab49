import { adapt, wordsOf } from '../codecs/adapt.ts';
import type { Codec, ConversationCodec, StreamCodec } from '../codecs/codec.ts';
import { type Concept, concepts } from '../codecs/concept.ts';
import { continued, isContinuable } from '../codecs/continuation.ts';
import type { Conversation } from '../codecs/conversation.ts';
import { plainDialect } from '../codecs/dialect.ts';
import { codecOf } from '../codecs/index.ts';
import type { WireFormat } from '../codecs/model.ts';
import { hasMember, withoutMember } from '../codecs/optional-members.ts';
import { outputCapOf, withOutputCap } from '../codecs/output-cap.ts';
import { type FitSchema, fitSchema } from '../codecs/schema/fit.ts';
import { sealOwner } from '../codecs/seal-owner.ts';
import type { ToolNames } from '../codecs/tool-names.ts';
import { isObject, type JsonObject, listOf, parseObject } from '../codecs/values.ts';
import type { Target } from '../combos/resolve.ts';
import { GatewayError } from '../lib/error.ts';
import type { Call } from './call.ts';
import { carryLongTexts, holdsCarried } from './long-texts.ts';
import { joined, textTokens } from './meter.ts';
import { prefillOf } from './prefill.ts';
import { conversationOf, echoOf } from './responses-turn.ts';

/** A request in the target's format, and what is needed to bring its answer back. */
export interface TranslatedRequest {
  body: Buffer;
  /** What the target cannot say, in the caller's words. */
  dropped: string[];
  tools: ToolNames;
  /** The caller's request; of formats whose answers do not repeat it without its turns and tools. */
  request: JsonObject;
  stream: boolean;
  includeUsage: boolean;
  /** Whether another target could go on with its answer. */
  continuable: boolean;
  /** Whether the caller wants one call of a tool at most. */
  oneCall: boolean;
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
}

const nothing: Known = { refused: [], most: null, begun: '', fit: fitSchema };

/** The parts of a call that its translation is made from. */
type Asked = Pick<Call, 'body' | 'named' | 'target'> & { turn?: Call['turn'] };

/**
 * Translates a request from the caller's format to the target's.
 * @throws GatewayError `invalid_json`, `invalid_request`, `not_translatable`
 */
export function translateRequest(
  asked: Asked,
  format: WireFormat,
  known: Known = nothing,
): TranslatedRequest {
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
  const isBlind = from.conversation?.blindTo === 'read' && to.conversation?.blindTo === 'written';
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
  { begun, fit, most, refused }: Known,
  request: JsonObject,
): Omit<TranslatedRequest, 'body'> & { json: string } {
  const from = conversationCodec(format);
  const to = conversationCodec(target.format);
  const dialect = { ...plainDialect, ...target.provider.dialect };
  const read = from.conversation.decodeRequest(request);
  const whole = turn === null ? read : conversationOf(read, turn);
  const asked = begun === '' ? whole : continued(whole, begun, textTokens(Buffer.byteLength(begun)));
  const { conversation, dropped, tools } = adapt(asked, {
    ...{ from, to, dialect, owner: ownerOf(target), fit },
    model: target.model,
  });
  const unsaid: Concept[] = [];
  const plain = to.conversation.encodeRequest({ ...conversation, model: target.model }, dialect, unsaid);
  const capped = most === null ? plain : withOutputCap(target.format, plain, most);
  const encoded = begun === '' ? capped : prefilled(capped, target);
  const left = refused.filter((path) => hasMember(encoded, path));
  const kept = left.reduce(withoutMember, encoded);
  const refusedWords = left.map((path) => wordFor(path, from, to));
  return {
    json: JSON.stringify(kept),
    dropped: [...new Set([...dropped, ...wordsFor(unsaid, asked, from), ...refusedWords])].sort(),
    tools,
    request: turn === null ? withoutTurns(request) : echoOf(request, turn),
    stream: asked.stream,
    includeUsage: asked.includeUsage,
    continuable: asked.stream && isContinuable(asked),
    oneCall: concepts.parallelToolCalls.asked(asked),
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

/** What the caller calls those of the concepts that were asked for: a default that is not said is not missed. */
function wordsFor(unsaid: readonly Concept[], asked: Conversation, { conversation }: Translating): string[] {
  const words = wordsOf(conversation);
  return unsaid.filter((concept) => concepts[concept].asked(asked)).map((one) => words[one] ?? one);
}

/** What the caller calls a member of the target's request; its own name where the caller has no word for it. */
function wordFor(path: string, from: Translating, to: Translating): string {
  const { names: theirs } = to.conversation;
  const concept = (Object.keys(theirs) as Concept[]).find(
    (one) => theirs[one] === path.replace(/\.effort$/, ''),
  );
  return (concept && from.conversation.names[concept]) ?? path;
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
