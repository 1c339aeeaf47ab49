import type { CachedAnswer } from '../../cache/answers.ts';
import { cacheableRequest } from '../../cache/cacheable-request.ts';
import { codecOf } from '../../codecs/index.ts';
import { noUsage } from '../../codecs/wire-format.ts';
import type { RoutingPlan } from '../../combos/routing/routing.ts';
import type { AnyExchange } from '../../http/exchange.ts';
import { pairs } from '../../http/flat-headers.ts';
import type { ProxyContext } from '../context.ts';
import { type FinishedRun, finish } from '../dispatch/finish.ts';
import type { RunSummary } from '../metering/entry.ts';
import { finishFields } from '../metering/finish-reason.ts';
import { Recorder } from '../metering/recorder.ts';
import { clientGone, type RequestEnd } from '../request/end.ts';
import type { LedgerFacts, NamedInPath } from '../request/facts.ts';

/** A request that might have been answered before. */
export interface CacheQuestion {
  facts: LedgerFacts;
  body: readonly Buffer[];
  named: NamedInPath | null;
  /** The options of the requested combo, and its targets for this request. */
  plan: Pick<RoutingPlan, 'options' | 'trace'>;
}

/** What the cache says to a request. */
export type CacheAnswer =
  /** It was answered, and is recorded. */
  | { kind: 'answered' }
  /**
   * It is to be carried out, to this exchange: then `ended` is called with the outcome, or `refused` where it was not.
   */
  | { kind: 'ask'; exchange: AnyExchange; ended: FinishedRun['cache']; refused(): void };

/** What an answer may have at most to be kept: an answer that is larger passes through in pieces. */
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Looks an opted-in request up among the answers that are kept, or waits for the same one that is under way. Null for all
 * other requests, at once and without looking at them.
 */
export function lookUpAnswer(context: ProxyContext, question: CacheQuestion): Promise<CacheAnswer> | null {
  const ttl = cacheTtl(question);
  return ttl === null ? null : lookUp(context, question, ttl);
}

async function lookUp(
  context: ProxyContext,
  question: CacheQuestion,
  ttl: NonNullable<ReturnType<typeof cacheTtl>>,
): Promise<CacheAnswer> {
  const { facts } = question;
  const { answers } = context;
  const key = keyOf(question);
  if (key === null) {
    answers.countBypass();
    return forward(question, null, 'bypass');
  }
  const fresh = /\bno-cache\b/i.test(facts.exchange.request.headers['cache-control'] ?? '');
  const result = answers.find(key, { ...ttl, fresh });
  switch (result.kind) {
    case 'hit':
      return answerFromCache(context, facts, result.answer, result.ageMs);
    case 'wait': {
      const answer = await result.answer;
      if (facts.exchange.response.destroyed) {
        finish(context, { facts: { ...facts, trace: null }, end: clientGone(false), run: null });
        return { kind: 'answered' };
      }
      return answer === null ? forward(question, null, 'miss') : answerFromCache(context, facts, answer, 0);
    }
    case 'lead':
      return forward(question, result.keep, 'miss');
  }
}

/** For how long the key and the combo, the shorter of the two, let an answer be reused; null when neither allows it. */
function cacheTtl({ facts, plan: { options } }: CacheQuestion): { ttlMs: number | null } | null {
  const { cacheTtlMs: ofKey = null } = facts.principal;
  if (!options.cache) return ofKey === null ? null : { ttlMs: ofKey };
  const ttls = [ofKey, options.cacheTtlMs].filter((ttl) => ttl !== null);
  return { ttlMs: ttls.length === 0 ? null : Math.min(...ttls) };
}

/** The key of a request that may be looked up; null for one that may not. */
function keyOf({ body, facts, named, plan }: CacheQuestion): string | null {
  const { exchange, format, principal, requestedModel } = facts;
  const { headers } = exchange.request;
  const cacheHeader = String(headers['x-gateway-cache'] ?? '').toLowerCase();
  const noStore = /\bno-store\b/i.test(headers['cache-control'] ?? '');
  // A message on a WebSocket has no head of its own, and no copy of what was said can be sent again on it.
  if (cacheHeader === 'off' || noStore || exchange.response.req === undefined) return null;
  const path = named === null ? '' : `${named.stream} ${named.array}`;
  const headerValues = ['anthropic-beta', 'anthropic-version', 'openai-beta'].map((name) =>
    String(headers[name] ?? ''),
  );
  const targets = plan.trace.candidates.map(({ connectionId, model }) => `${connectionId}/${model}`).sort();
  const scope = {
    keyId: principal.keyId,
    format,
    path,
    requested: requestedModel ?? '',
    targets,
    headers: headerValues,
  };
  const cacheable = cacheableRequest(scope, body);
  if (cacheable === null || cacheable.stored) return null;
  const byDefault = codecOf(format).stream?.byDefault === true;
  const streams = named?.stream ?? (byDefault ? cacheable.stream !== false : cacheable.stream === true);
  return (streams || cacheable.tools) && cacheHeader !== 'on' ? null : cacheable.key;
}

function forward(
  { facts }: CacheQuestion,
  keep: ((answer: CachedAnswer | null) => void) | null,
  state: 'miss' | 'bypass',
): CacheAnswer {
  const { exchange } = facts;
  const maxBytes = keep === null ? 0 : MAX_BYTES;
  const recorder = new Recorder(exchange.response, { extra: ['x-gateway-cache', state], maxBytes });
  return {
    kind: 'ask',
    exchange: { ...exchange, response: recorder },
    refused: () => keep?.(null),
    ended(end, summary) {
      const recorded = end.outcome === 'ok' ? recorder.recorded() : null;
      keep?.(recorded?.status === 200 ? answerOf(recorded, end, summary) : null);
    },
  };
}

function answerOf(
  { body, headers, status }: NonNullable<ReturnType<Recorder['recorded']>>,
  end: RequestEnd,
  { finishReason, target: { connection, model, provider } }: RunSummary,
): CachedAnswer {
  const source = { connectionId: connection.id, connection: connection.name, provider: provider.id, model };
  return {
    status,
    headers: reusable(headers),
    body,
    source: { ...source, streamed: end.streamed, finishReason },
  };
}

/** Headers that are also valid for later clients of the answer: what it is, and where it came from. */
const reusableHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'cache-control',
  'x-gateway-provider',
  'x-gateway-connection',
  'x-gateway-model',
  'x-gateway-dropped',
  'x-gateway-added',
  'x-gateway-deprecated',
  'x-gateway-lowered',
]);

function reusable(headers: readonly string[]): string[] {
  const named = [...pairs(headers)].map(([name, value]) => [name.toLowerCase(), value] as const);
  return named.filter(([name]) => reusableHeaders.has(name)).flat();
}

/** Sends an answer that was made for another request. It costs nothing. */
function answerFromCache(
  context: ProxyContext,
  facts: LedgerFacts,
  answer: CachedAnswer,
  ageMs: number,
): CacheAnswer {
  const { exchange } = facts;
  const { body, headers, source, status } = answer;
  exchange.response.writeHead(status, [
    ...headers,
    'content-length',
    String(body.length),
    'x-request-id',
    exchange.id,
    'x-gateway-cache',
    'hit',
    'age',
    String(Math.floor(ageMs / 1000)),
    'x-gateway-attempts',
    '0',
    'x-gateway-cost-usd',
    '0',
  ]);
  exchange.response.end(body);
  const end: RequestEnd = {
    status,
    outcome: 'ok',
    error: null,
    streamed: source.streamed,
    usage: { ...noUsage },
    estimated: false,
  };
  const { connection, connectionId, model, provider } = source;
  const cached = { connection, connectionId, provider, model, ...finishFields(source.finishReason) };
  finish(context, { facts: { ...facts, trace: null }, end, run: null, cached });
  return { kind: 'answered' };
}
