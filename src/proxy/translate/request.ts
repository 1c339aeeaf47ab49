import { continued, isContinuable } from '../../codecs/adapt/continuation.ts';
import type { ConversationCodec, StreamCodec } from '../../codecs/codec.ts';
import { reasoningOwner } from '../../codecs/encrypted-reasoning/owner.ts';
import { codecOf } from '../../codecs/index.ts';
import { isObject, type JsonObject, listOf, parseObject } from '../../codecs/json/values.ts';
import { fitSchema } from '../../codecs/schema/fit.ts';
import { translateConversation, withoutTurns } from '../../codecs/translate/request.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/resolve.ts';
import { GatewayError } from '../../lib/error.ts';
import { providerDialect } from '../../providers/dialect.ts';
import { joinedBriefly } from '../json/joined.ts';
import { textTokens } from '../metering/meter.ts';
import type { RequestInFormat } from '../request/outgoing.ts';
import { conversationOf, echoOf } from '../responses-state/response-state.ts';
import type { Asked, Known } from './asked.ts';
import { jsonBytes } from './json-bytes.ts';
import { carryLongTexts, holdsCarried } from './long-texts.ts';
import { prefillOf } from './prefill.ts';
import type { TranslationRoute } from './settled-conversation.ts';
import type { Translate } from './settled-request.ts';
import { withoutStandIns } from './stand-ins.ts';
import { markedTurns, translationRoute } from './translation-route.ts';

/** A request in the target's format, and what is needed to bring its answer back. */
export interface TranslatedRequest extends RequestInFormat {
  /** Pieces that other requests may have too: nobody writes into them. */
  body: readonly Buffer[];
}

const nothing: Known = {
  refused: [],
  most: null,
  begun: '',
  fit: fitSchema,
  cacheMarks: true,
  settled: null,
};

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
    const bytes = joinedBriefly(asked.body);
    const route = known.settled === null ? null : translationRoute(asked, format, known);
    const settled = route === null ? null : goingOn(bytes, asked, format, known, route);
    if (settled !== null) return settled;
    const body = bytes.toString('utf8');
    const carried = carrying(asked, format, known, body);
    const { isAgents, ...made } = carried ?? inFull(asked, format, known, body);
    // What is stored of a response has every turn in it.
    const isStored = asked.responseState && made.request['store'] !== false;
    if (route !== null && isAgents && !isStored) known.settled?.note(bytes, route);
    return made;
  } catch (error) {
    // JSON can be read to any depth and written only as deep as the stack goes.
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError('invalid_json', 'The request body is nested too deeply to be translated');
  }
}

/** Whether a body that was read as text has characters that are no ASCII. */
function isWide(text: string, { body }: Pick<Asked, 'body'>): boolean {
  return text.length < body.reduce((sum, { length }) => sum + length, 0);
}

type Noted = TranslatedRequest & { isAgents: boolean };

function inFull(asked: Asked, format: WireFormat, known: Known, body: string): Noted {
  const { made, ...rest } = translated(asked, format, known, requestIn(body, asked));
  return { ...rest, body: [jsonBytes(JSON.stringify(made), isWide(body, asked))] };
}

/** With what was translated of it before; null where nothing was, or the whole of it may say what is wrong with it. */
function goingOn(
  bytes: Buffer,
  asked: Asked,
  format: WireFormat,
  known: Known,
  route: TranslationRoute,
): TranslatedRequest | null {
  try {
    const settled = known.settled?.translate(bytes, route, (request, conversation) => {
      const { made, ...rest } = translated(asked, format, known, request, conversation);
      return { body: made, rest };
    });
    if (!settled) return null;
    const { isAgents: _, ...rest } = settled.rest;
    return { ...rest, request: withoutStandIns(rest.request), body: settled.body };
  } catch (error) {
    if (error instanceof GatewayError || error instanceof RangeError) return null;
    throw error;
  }
}

/** With its long texts passing by; null where there are none, or they might be looked into. */
function carrying(asked: Asked, format: WireFormat, known: Known, body: string): Noted | null {
  const [from, to] = [codecOf(format), codecOf(asked.target.format)];
  // Whether a request is too short for a prompt cache must not depend on what is carried.
  const isBlind =
    from.conversation?.opaqueText === 'read' &&
    to.conversation?.opaqueText === 'written' &&
    markedTurns(asked.target, known) === 0;
  const carried = isBlind && !asked.responseState ? carryLongTexts(body) : null;
  if (carried === null) return null;
  const request = requestIn(carried.body, asked);
  const { messages: _, system: __, ...others } = request;
  if (holdsCarried(others)) return null;
  const { made, ...rest } = translated(asked, format, known, request);
  const whole = carried.putBack(JSON.stringify(made));
  return whole === null ? null : { ...rest, body: [jsonBytes(whole, isWide(body, asked))] };
}

/** The request as its format's decoder takes it. @throws GatewayError `invalid_json` */
export function requestIn(body: string, { named }: Pick<Asked, 'named'>): JsonObject {
  const sent = parseObject(body);
  if (sent === null) throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  return named === null ? sent : { ...sent, model: named.model, stream: named.stream };
}

function translated(
  { target, responseState = null }: Asked,
  format: WireFormat,
  { begun, cacheMarks, fit, most, refused }: Known,
  request: JsonObject,
  { see, shared }: Partial<Parameters<Translate<unknown>>[1]> = {},
): Omit<Noted, 'body'> & { made: JsonObject } {
  const { body, conversation, ...rest } = translateConversation(request, {
    from: conversationCodec(format),
    to: conversationCodec(target.format),
    model: target.model,
    dialect: providerDialect(target.provider),
    owner: ownerOf(target),
    fit,
    shared,
    refused,
    most,
    cacheMarks,
    complete(read) {
      see?.(read);
      const whole = responseState === null ? read : conversationOf(read, responseState);
      return begun === '' ? whole : continued(whole, begun, textTokens(Buffer.byteLength(begun)));
    },
    amend: (encoded) => (begun === '' ? encoded : prefilled(encoded, target)),
  });
  const { includeUsage, messages, stream, tools } = conversation;
  return {
    ...rest,
    made: body,
    request: responseState === null ? withoutTurns(request) : echoOf(request, responseState),
    stream,
    includeUsage,
    continuable: stream && isContinuable(conversation),
    isAgents: tools.length > 0 && messages.some(({ role }) => role === 'assistant'),
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

/** Whose sealed reasoning a target can read. */
export function ownerOf({ connection, model }: Target): string {
  return reasoningOwner(connection.id, model);
}

type ConversingCodec = Codec & { conversation: ConversationCodec; stream: StreamCodec };

/** The codec of a format that takes part in translation. @throws GatewayError `format_not_supported` */
export function conversationCodec(format: WireFormat): ConversingCodec {
  const codec = codecOf(format);
  if (!isConversing(codec)) throw new GatewayError('format_not_supported', `${format} is not translated`);
  return codec;
}

function isConversing(codec: Codec): codec is ConversingCodec {
  return codec.conversation !== null && codec.stream !== null;
}
