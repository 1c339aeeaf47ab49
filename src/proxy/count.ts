import type { Principal } from '../access/authenticate.ts';
import { codecOf } from '../codecs/index.ts';
import { type JsonObject, parseObject } from '../codecs/json/values.ts';
import type { Conversation } from '../codecs/model/conversation.ts';
import { type Counting, countedRequest } from '../codecs/usage/counting.ts';
import { conversationTokens } from '../codecs/usage/token-estimate.ts';
import type { WireFormat } from '../codecs/wire-format.ts';
import type { Target } from '../combos/routing/resolve.ts';
import { readBody } from '../http/body/body.ts';
import { sendJson } from '../http/send.ts';
import type { HttpExchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import type { ProxyContext } from './context.ts';
import { joined } from './json/joined.ts';
import { newFacts } from './metering/entry.ts';
import { type IncomingRequest, localFacts, planRequest } from './prologue.ts';
import { conversationCodec, translateRequest } from './translate/request.ts';
import { readUpstreamError } from './upstream/error.ts';
import { fetchUpstream } from './upstream/fetch.ts';
import { redactSecrets } from './upstream/redaction.ts';
import { extendPath, modelSegments, requestTo } from './upstream/request.ts';

/** What is asked to be counted: the format of the question, and the model where the path names it. */
export interface CountQuestion {
  format: WireFormat;
  named?: { model: string };
}

interface Question {
  context: ProxyContext;
  exchange: HttpExchange;
  format: WireFormat;
  counting: Counting;
  /** The request to count, its model as the client named it. */
  request: JsonObject;
  target: Target;
}

/** Statuses of a server that does not count; others are answers to the question. */
const noCountStatuses: ReadonlySet<number> = new Set([404, 405, 501]);

/**
 * Tells how many tokens a request would be: the provider's own count where it counts, else an estimate, which the
 * header `x-gateway-estimated: true` marks. No ledger entry is made, for nothing is used.
 * @throws GatewayError to be rendered in the dialect of the path
 */
export async function countTokens(
  context: ProxyContext,
  exchange: HttpExchange,
  { format, named }: CountQuestion,
  principal: Principal,
): Promise<void> {
  const { limits } = context.config;
  const read = async () =>
    ({ kind: 'body', pieces: await readBody(exchange.request, { limitBytes: limits.bodyBytes }) }) as const;
  const incoming: IncomingRequest = {
    exchange,
    principal,
    format,
    isFree: true,
    read,
    ...(named === undefined ? {} : { named: { ...named, stream: false } }),
  };
  const { facts, resolved } = await planRequest(context, localFacts(newFacts(incoming)), incoming);
  const body = parseObject(joined(resolved.model.pieces).toString('utf8'));
  const counting = codecOf(format).counting;
  if (body === null || counting === undefined)
    throw new GatewayError('invalid_json', 'The request body is not a valid JSON object');
  const request: JsonObject = { ...countedRequest(body), model: facts.requestedModel };
  const [target] = resolved.targets;
  const question: Question = { context, exchange, format, counting, request, target };
  const providerCount = await countAtProvider(question);
  const tokens = providerCount ?? conversationTokens(conversationOf(question));
  const headers = {
    ...(providerCount === null ? { 'x-gateway-estimated': 'true' } : {}),
    ...(format === 'anthropic-messages' ? { 'request-id': exchange.id } : {}),
  };
  sendJson(exchange, 200, counting.write(Math.max(1, Math.ceil(tokens))), {
    'x-gateway-provider': target.provider.id,
    ...headers,
  });
}

function conversationOf({ format, request }: Question): Conversation {
  return conversationCodec(format).conversation.decodeRequest(request);
}

/** The count of the provider itself; null when it does not count. @throws GatewayError for what the provider refuses */
async function countAtProvider(question: Question): Promise<number | null> {
  const { context, exchange, target } = question;
  const counting = codecOf(target.format).counting;
  if (counting === undefined || !target.provider.counts?.includes(target.format)) return null;
  const body = JSON.stringify(counting.ask(requestFor(question), target.model));
  const inPath = conversationCodec(target.format).pathOf !== null;
  const end = `${inPath ? `/${modelSegments(target.model)}` : ''}${counting.path}`;
  const request = requestTo(context, {
    exchange,
    target,
    body: [Buffer.from(body)],
    freshSocket: false,
    translated: target.format !== question.format,
    pathOf: (path) => extendPath(path, end),
  });
  const onAbort = (abort: () => void) => void exchange.response.on('close', abort);
  const answer = await fetchUpstream(context, request, onAbort);
  if (noCountStatuses.has(answer.status)) return null;
  if (answer.status >= 300) {
    const { format } = target;
    const redact = (text: string) => redactSecrets(context, target.connection, text);
    throw readUpstreamError({ ...answer, format, target, redact }).error;
  }
  const tokens = counting.read(parseObject(answer.body.toString('utf8')) ?? {});
  if (tokens === null)
    throw new GatewayError(
      'upstream_protocol',
      'The upstream answered the request for a token count without a count',
    );
  return tokens;
}

/** The request in the words of the target; fields of no format go along where it is the client's own. */
function requestFor({ format, request, target }: Question): JsonObject {
  if (target.format !== format) {
    const body = [Buffer.from(JSON.stringify(request))];
    const translated = translateRequest({ body, named: null, target }, format, { cacheMarks: false });
    return parseObject(joined(translated.body).toString('utf8')) ?? {};
  }
  if (conversationCodec(format).pathOf === null) return { ...request, model: target.model };
  const { model: _, stream: __, ...rest } = request;
  return rest;
}
