import type { OutgoingHttpHeaders } from 'node:http';
import type { FallbackAction } from '../../config.ts';
import type { EventProblem } from '../../events/cloudevents/problem.ts';
import type { Receipt } from '../../events/ingest/ingest.ts';
import type { Exchange } from '../../http/server/server.ts';
import { type ErrorCode, GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import { changeFailures, json, ref, text } from '../openapi/fixed.ts';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { problem } from '../problem.ts';
import type { EventsRoute } from './route.ts';

/**
 * Consents to being sent events (CloudEvents webhooks, abuse protection). Whoever sends them needs a token all the same, so that
 * consent gives nothing away.
 */
export function eventHandshake(headers: Exchange['request']['headers']): Answer {
  const origin = headers['webhook-request-origin'];
  const consent =
    typeof origin === 'string' && origin !== ''
      ? { 'webhook-allowed-origin': origin, 'webhook-allowed-rate': '*' }
      : {};
  return { status: 204, body: null, headers: { allow: 'POST, OPTIONS', ...consent } };
}

function headersOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  const headers: [string, string][] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2)
    headers.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? '']);
  return headers;
}

function invalid(problems: readonly EventProblem[], requestId: string): Answer {
  const [first] = problems;
  const code = codeOf(first?.code);
  const error = new GatewayError(code, `This is not an event: ${first?.message ?? 'it cannot be read'}`, {
    ...(first === undefined || first.path === '' ? {} : { param: first.path }),
  });
  return { status: error.status, body: { ...problem(error, requestId), problems }, headers: {} };
}

function codeOf(code: EventProblem['code'] | undefined): ErrorCode {
  if (code === 'too_large') return 'request_too_large';
  return code === 'unsupported_format' ? 'unsupported_content_type' : 'invalid_event';
}

function noSource(named: string | null, index: number): GatewayError {
  return named === null
    ? new GatewayError(
        'invalid_request',
        `Event ${index} names no source of the configuration: name one with ?source=, or in the event’s own source`,
        { param: 'source' },
      )
    : new GatewayError('not_found', `There is no HTTP source "${named.slice(0, 100)}"`, { param: 'source' });
}

const isKept = ({ outcome }: Receipt): boolean => outcome === 'accepted' || outcome === 'spooled';

/** 202 when every event is kept; else the reason of the first that is not, and which those are. */
function answerOf(receipts: readonly Receipt[], requestId: string): Answer {
  const refused = receipts.flatMap((receipt, index) => (isKept(receipt) ? [] : [{ index, ...receipt }]));
  const accepted = receipts.length - refused.length;
  const events = receipts.map(({ id, outcome, source }) => ({ id, source, outcome }));
  const [first] = refused;
  if (first === undefined) return { status: 202, body: { accepted, events }, headers: {} };
  if (first.fallback !== null) return fallbackAnswer(first.fallback, first.retryAfterMs);
  const waits = refused.flatMap(({ retryAfterMs }) => (retryAfterMs === null ? [] : [retryAfterMs]));
  const error = refusalOf(first, waits.length === 0 ? null : Math.max(...waits), accepted, receipts.length);
  return {
    status: error.status,
    body: {
      ...problem(error, requestId),
      accepted,
      events,
      not_accepted: refused.map(({ id, index, outcome, source }) => ({ index, id, source, outcome })),
    },
    headers: error.retryAfter === null ? {} : { 'retry-after': String(error.retryAfter) },
  };
}

/** The answer that a fault tolerance rule names. It says when to come back, unless it does so itself. */
function fallbackAnswer({ body, headers, status }: FallbackAction, retryAfterMs: number | null): Answer {
  const later: OutgoingHttpHeaders = {};
  if (retryAfterMs !== null) later['retry-after'] = String(secondsOf(retryAfterMs));
  const answer = { status, body: null, headers: { ...later, ...headers } };
  if (body === null) return answer;
  return typeof body === 'string'
    ? { ...answer, content: { type: 'text/plain; charset=utf-8', bytes: body } }
    : { ...answer, body };
}

const secondsOf = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function refusalOf(
  { outcome, source }: Receipt,
  waitMs: number | null,
  accepted: number,
  all: number,
): GatewayError {
  const options = waitMs === null ? {} : { retryAfter: secondsOf(waitMs) };
  const which = all === 1 ? 'The event was' : `${all - accepted} of ${all} events were`;
  const message = `${which} not accepted: ${reasons[outcome]} (source "${source}")`;
  return new GatewayError(codes[outcome], message, options);
}

const codes: Readonly<Record<Receipt['outcome'], ErrorCode>> = {
  accepted: 'internal_error',
  spooled: 'internal_error',
  dropped: 'event_not_accepted',
  full: 'event_not_accepted',
  unavailable: 'event_not_accepted',
  circuit_open: 'event_not_accepted',
  unknown: 'event_not_accepted',
  rate_limited: 'rate_limit_exceeded',
  too_many_at_once: 'rate_limit_exceeded',
  too_large: 'request_too_large',
};

const reasons: Readonly<Record<Receipt['outcome'], string>> = {
  accepted: 'accepted',
  spooled: 'spooled',
  dropped: 'the storage is full, and drops new events',
  full: 'there is no room for it',
  unavailable: 'a channel does not take it',
  circuit_open: 'the circuit breaker is open',
  unknown: 'its channel has not answered yet; send it again with the same id',
  rate_limited: 'the rate limit is reached',
  too_many_at_once: 'as many as may be sent at a time are under way',
  too_large: 'it is too large',
};

const receipts: JsonSchema = {
  type: 'object',
  required: ['accepted', 'events'],
  properties: {
    accepted: { type: 'integer', description: 'How many events are stored' },
    events: {
      type: 'array',
      items: {
        type: 'object',
        required: ['id', 'source', 'outcome'],
        properties: { id: text, source: text, outcome: { type: 'string', enum: Object.keys(codes) } },
      },
    },
  },
};
const event: JsonSchema = {
  type: 'object',
  description: 'An event of CloudEvents 1.0 in its JSON format',
  required: ['specversion', 'id', 'source', 'type'],
  properties: { specversion: text, id: text, source: text, type: text },
};

const refusedByLimit = {
  description:
    'A limit refuses the events. The answer is an error, or that of the `HttpRequestFallbackAction` of a fault tolerance rule',
  content: {
    'application/json': { schema: { anyOf: [ref('Problem'), { type: 'object' as const }] } },
    'text/plain': { schema: text },
  },
};

/** Receives events: the HTTP binding of CloudEvents, binary, structured and batched. */
export const ingestRoutes: readonly EventsRoute[] = [
  {
    method: 'POST',
    path: '',
    permission: 'events:send',
    parameters: [
      {
        name: 'source',
        description:
          'The id of the source in the configuration; else the one that the event’s own `source` names, or the only one',
      },
      { name: 'access_token', description: 'A token, for senders that cannot set headers' },
    ],
    operation: () => ({
      operationId: 'send_events',
      summary: 'Send an event, or a batch of events',
      requestBody: {
        required: true,
        description:
          'Structured or batched; any other type is the data of a binary event, whose attributes are the headers `ce-…`',
        content: {
          'application/cloudevents+json': { schema: event },
          'application/cloudevents-batch+json': { schema: { type: 'array', items: event } },
        },
      },
      responses: {
        202: { description: 'Every event is stored', content: json(receipts) },
        ...changeFailures,
        429: refusedByLimit,
        503: refusedByLimit,
        default: refusedByLimit,
      },
    }),
    async run({ body, caller, events, exchange, params }) {
      const message = { headers: headersOf(exchange.request.rawHeaders), body };
      const sourceId = params.get('source');
      const maySend = (id: string) => caller.reaches('events', { id });
      const received = await events.ingest.receive(message, sourceId, maySend);
      switch (received.kind) {
        case 'invalid':
          return invalid(received.problems, exchange.id);
        case 'no-source':
          throw noSource(sourceId, received.event);
        case 'forbidden':
          throw new GatewayError(
            'forbidden',
            `The selectors of this token do not let it send for the source "${received.source}"`,
          );
        case 'refused': {
          const { fallback, reason, retryAfterMs } = received;
          if (fallback !== null) return fallbackAnswer(fallback, retryAfterMs);
          throw new GatewayError(
            codes[reason],
            `No event was accepted: ${reasons[reason]} for requests that bring events`,
            {
              retryAfter: secondsOf(retryAfterMs),
            },
          );
        }
        case 'received':
          return answerOf(received.receipts, exchange.id);
      }
    },
  },
];
