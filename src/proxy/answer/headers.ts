import type { IncomingHttpHeaders } from 'node:http';
import type { RequestFacts } from '../request/facts.ts';
import type { OutgoingRequest } from '../request/outgoing.ts';
import { clientHeaders } from '../upstream/headers.ts';

/** Of a request that was sent, what its answer says of where it came from. */
export type AnsweredBy = Pick<OutgoingRequest, 'target' | 'attempt' | 'dropped' | 'translation'>;

/** What is said of the request itself. */
type HeaderFacts = Pick<RequestFacts, 'codec' | 'exchange' | 'reservation'>;

/**
 * The request's id and the headers that say where an answer came from, flat.
 * @param upstream what the client gets of the upstream's headers
 */
function gatewayHeaders(
  { codec, exchange }: HeaderFacts,
  { attempt, dropped, target, translation }: AnsweredBy,
  upstream: IncomingHttpHeaders,
): string[] {
  const { connection, model, provider } = target;
  const headers = [
    'x-request-id',
    exchange.id,
    'x-gateway-provider',
    provider.id,
    'x-gateway-connection',
    headerText(connection.name),
    'x-gateway-model',
    headerText(model),
    'x-gateway-attempts',
    String(attempt),
  ];
  // Where Anthropic's clients look for the id; the vendor's own is passed on.
  if (codec.format === 'anthropic-messages' && upstream['request-id'] === undefined)
    headers.push('request-id', exchange.id);
  const lowered = translation?.lowered ?? null;
  if (lowered !== null) headers.push('x-gateway-lowered', lowered);
  if (translation?.addsTurn === true) headers.push('x-gateway-added', 'user-turn');
  if (target.deprecated === true) headers.push('x-gateway-deprecated', headerText(model));
  if (dropped.length > 0) headers.push('x-gateway-dropped', headerList(dropped));
  return headers;
}

/** The headers of a stream that a keep-alive opens, flat: the target that will answer is not known yet. */
export function openingHeaders({
  codec,
  exchange: { id },
}: Pick<RequestFacts, 'codec' | 'exchange'>): string[] {
  const formatHeaders = codec.format === 'anthropic-messages' ? ['request-id', id] : [];
  return ['x-request-id', id, ...formatHeaders];
}

/**
 * Adds the request's id, where the answer came from, and what is left of the gateway's limits to the headers of an
 * upstream, flat. What the upstream says of the same limits is about another account than the client's.
 */
export function addGatewayHeaders(
  headers: string[],
  facts: HeaderFacts,
  by: AnsweredBy,
  upstream: IncomingHttpHeaders = {},
): void {
  const limits = facts.reservation?.headers() ?? [];
  if (limits.length > 0) {
    for (let index = headers.length - 2; index >= 0; index -= 2)
      if (ofLimits(headers[index])) headers.splice(index, 2);
  }
  headers.push(...gatewayHeaders(facts, by, upstream), ...limits);
}

/**
 * The headers of a translated answer, flat, without those about its body: the upstream's limits and hints, and where the
 * answer came from.
 */
export function translatedHeaders(
  facts: HeaderFacts,
  by: AnsweredBy,
  status: number,
  upstream: IncomingHttpHeaders,
): string[] {
  const { 'content-type': _, 'cache-control': __, ...rest } = upstream;
  const headers = clientHeaders(status, rest);
  addGatewayHeaders(headers, facts, by, upstream);
  return headers;
}

function ofLimits(name: string | undefined): boolean {
  return name !== undefined && (name.startsWith('x-ratelimit-') || name.startsWith('anthropic-ratelimit-'));
}

const MAX_LIST = 1_000;

function headerList(names: readonly string[]): string {
  const text = names.map((name) => name.replace(/[^\x21-\x2b\x2d-\x7e]/g, '?')).join(',');
  return text.length > MAX_LIST ? `${text.slice(0, MAX_LIST)}...` : text;
}

/** Header values are Latin-1 without control characters (RFC 9110, 5.5); a name outside that is percent-encoded, lone surrogates as U+FFFD. */
function headerText(text: string): string {
  return /^[\x20-\x7e]*$/.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
