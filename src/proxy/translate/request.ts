import { continued, isContinuable } from '../../codecs/adapt/continuation.ts';
import type { ConversationCodec, StreamCodec } from '../../codecs/codec.ts';
import { reasoningOwner } from '../../codecs/encrypted-reasoning/owner.ts';
import { codecOf } from '../../codecs/index.ts';
import { isObject, type JsonObject, listOf, parseObject } from '../../codecs/json/values.ts';
import { fitSchema } from '../../codecs/schema/fit.ts';
import { translateConversation, withoutTurns } from '../../codecs/translate/request.ts';
import type { Codec } from '../../codecs/wire-codec.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { GatewayError } from '../../lib/error.ts';
import { providerDialect } from '../../providers/dialect.ts';
import { joinedBriefly } from '../json/joined.ts';
import { textTokens } from '../metering/meter.ts';
import type { RequestInFormat } from '../request/outgoing.ts';
import { conversationOf, echoOf } from '../responses-state/response-state.ts';
import { jsonBytes } from './json-bytes.ts';
import { carryLongTexts, hasMark } from './long-texts.ts';
import { prefillOf } from './prefill.ts';
import type { TranslationRoute } from './settled-conversation.ts';
import type { Translate } from './settled-request.ts';
import { withoutStandIns } from './stand-ins.ts';
import type { TranslationInput, TranslationOptions } from './translation-input.ts';
import { markedTurns, translationRoute } from './translation-route.ts';

/** A request in the target's format, and what is needed to bring its answer back. */
export interface TranslatedRequest extends RequestInFormat {
  /** Pieces that other requests may share: they must not be changed. */
  body: readonly Buffer[];
}

const defaults: TranslationOptions = {
  refusedFields: [],
  outputCap: null,
  prefix: '',
  fit: fitSchema,
  cacheMarks: true,
  settled: null,
};

/**
 * Translates a request from the client's format to the target's.
 * @throws GatewayError `invalid_json`, `invalid_request`, `not_translatable`
 */
export function translateRequest(
  input: TranslationInput,
  format: WireFormat,
  options: Partial<TranslationOptions> = {},
): TranslatedRequest {
  return translate(input, format, { ...defaults, ...options });
}

function translate(
  input: TranslationInput,
  format: WireFormat,
  options: TranslationOptions,
): TranslatedRequest {
  try {
    const bytes = joinedBriefly(input.body);
    const route = options.settled === null ? null : translationRoute(input, format, options);
    const settled = route === null ? null : translateSettled(bytes, input, format, options, route);
    if (settled !== null) return settled;
    const body = bytes.toString('utf8');
    const carried = translateWithoutTexts(input, format, options, body);
    const { isAgents, ...encoded } = carried ?? translateWhole(input, format, options, body);
    // What is stored of a response has every turn in it.
    const isStored = input.responseState && encoded.request['store'] !== false;
    if (route !== null && isAgents && !isStored) options.settled?.note(bytes, route);
    return encoded;
  } catch (error) {
    // JSON can be read to any depth and written only as deep as the stack goes.
    if (!(error instanceof RangeError)) throw error;
    throw new GatewayError('invalid_json', 'The request body is nested too deeply to be translated');
  }
}

/** Whether a body that was read as text has characters that are no ASCII. */
function isWide(text: string, { body }: Pick<TranslationInput, 'body'>): boolean {
  return text.length < body.reduce((sum, { length }) => sum + length, 0);
}

type TranslationResult = TranslatedRequest & { isAgents: boolean };

function translateWhole(
  input: TranslationInput,
  format: WireFormat,
  options: TranslationOptions,
  body: string,
): TranslationResult {
  const { encoded, ...rest } = translateObject(input, format, options, requestIn(body, input));
  return { ...rest, body: [jsonBytes(JSON.stringify(encoded), isWide(body, input))] };
}

/** With what was translated of it before; null where nothing was, or the whole of it may say what is wrong with it. */
function translateSettled(
  bytes: Buffer,
  input: TranslationInput,
  format: WireFormat,
  options: TranslationOptions,
  route: TranslationRoute,
): TranslatedRequest | null {
  try {
    const settled = options.settled?.translate(bytes, route, (request, conversation) => {
      const { encoded, ...rest } = translateObject(input, format, options, request, conversation);
      return { body: encoded, rest };
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
function translateWithoutTexts(
  input: TranslationInput,
  format: WireFormat,
  options: TranslationOptions,
  body: string,
): TranslationResult | null {
  const [from, to] = [codecOf(format), codecOf(input.target.format)];
  // Whether a request is too short for a prompt cache must not depend on what is carried.
  const ignoresTexts =
    from.conversation?.opaqueText === 'read' &&
    to.conversation?.opaqueText === 'written' &&
    markedTurns(input.target, options) === 0;
  const carried = ignoresTexts && !input.responseState ? carryLongTexts(body) : null;
  if (carried === null) return null;
  const request = requestIn(carried.body, input);
  const { messages: _, system: __, ...others } = request;
  if (hasMark(others)) return null;
  const { encoded, ...rest } = translateObject(input, format, options, request);
  const whole = carried.putBack(JSON.stringify(encoded));
  return whole === null ? null : { ...rest, body: [jsonBytes(whole, isWide(body, input))] };
}

/** The request as its format's decoder takes it. @throws GatewayError `invalid_json` */
export function requestIn(body: string, { named }: Pick<TranslationInput, 'named'>): JsonObject {
  const request = parseObject(body);
  if (request === null) throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  return named === null ? request : { ...request, model: named.model, stream: named.stream };
}

function translateObject(
  { target, responseState = null }: TranslationInput,
  format: WireFormat,
  { prefix, cacheMarks, fit, outputCap, refusedFields }: TranslationOptions,
  request: JsonObject,
  { amend, onConversation, shared, unknownTurns }: Partial<Parameters<Translate<unknown>>[1]> = {},
): Omit<TranslationResult, 'body'> & { encoded: JsonObject } {
  const { body, conversation, ...rest } = translateConversation(request, {
    from: conversationCodec(format),
    to: conversationCodec(target.format),
    model: target.model,
    dialect: providerDialect(target.provider),
    owner: ownerOf(target),
    fit,
    shared,
    unknownTurns,
    refused: refusedFields,
    most: outputCap,
    cacheMarks,
    complete(read) {
      onConversation?.(read);
      const whole = responseState === null ? read : conversationOf(read, responseState);
      return prefix === '' ? whole : continued(whole, prefix, textTokens(Buffer.byteLength(prefix)));
    },
    amend(encoded) {
      const amended = amend?.(encoded) ?? encoded;
      return prefix === '' ? amended : withPrefill(amended, target);
    },
  });
  const { includeUsage, messages, stream, tools } = conversation;
  return {
    ...rest,
    encoded: body,
    request: responseState === null ? withoutTurns(request) : echoOf(request, responseState),
    stream,
    includeUsage,
    continuable: stream && isContinuable(conversation),
    isAgents: tools.length > 0 && messages.some(({ role }) => role === 'assistant'),
  };
}

/** The request with what its server requires to continue the last message. */
function withPrefill(encoded: JsonObject, target: Target): JsonObject {
  const { message, request } = prefillOf(target) ?? {};
  const messages = listOf(encoded['messages']);
  const last = messages.at(-1);
  if (message === undefined || !isObject(last)) return { ...encoded, ...request };
  return { ...encoded, ...request, messages: [...messages.slice(0, -1), { ...last, ...message }] };
}

/** Whose encrypted reasoning a target can read. */
export function ownerOf({ connection, model }: Target): string {
  return reasoningOwner(connection.id, model);
}

type TranslatableCodec = Codec & { conversation: ConversationCodec; stream: StreamCodec };

/** The codec of a format that takes part in translation. @throws GatewayError `format_not_supported` */
export function conversationCodec(format: WireFormat): TranslatableCodec {
  const codec = codecOf(format);
  if (!isTranslatable(codec)) throw new GatewayError('format_not_supported', `${format} is not translated`);
  return codec;
}

function isTranslatable(codec: Codec): codec is TranslatableCodec {
  return codec.conversation !== null && codec.stream !== null;
}
