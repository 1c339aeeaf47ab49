import type { Http2Exchange } from '../../../http/http2/exchange.ts';
import type { Exchange } from '../../../http/server/server.ts';
import { GatewayError } from '../../../lib/error.ts';
import { admit, errorOf, sendAnswer } from '../../app.ts';
import type { ManagementContext } from '../../context.ts';
import { securityHeaders } from '../../guard/security-headers.ts';
import { refusal } from '../../refusal.ts';
import type { EventServiceHandler } from './handler.ts';
import { isEventServicePath } from './paths.ts';
import { callRefusal, grpcType } from './refusal.ts';

/**
 * The service `modelgate.events.v1.EventConfigService`, by Connect and gRPC-Web over HTTP/1.1, and by gRPC too over HTTP/2, where
 * the transport of OpenSergo is too. The protocols' library is loaded with the first call.
 */
export interface EventService {
  /** Never throws. */
  serve(exchange: Exchange | Http2Exchange): Promise<void>;
  /** Ends streams. */
  close(): void;
}

export function openEventService(context: ManagementContext): EventService {
  const closed = new AbortController();
  let handler: Promise<EventServiceHandler> | null = null;
  const open = async (): Promise<EventServiceHandler> => {
    const { createEventServiceHandler } = await import('./handler.ts');
    return createEventServiceHandler({
      events: context.events,
      auth: context.auth,
      watchers: context.streams.watchers,
      record: (change) => context.audit({ kind: 'change', change }),
      closed: closed.signal,
      now: context.now,
      warn: context.warn,
    });
  };
  return {
    async serve(exchange) {
      try {
        checkPath(exchange);
        const caller = await admit(context, exchange);
        handler ??= open();
        (await handler).serve(exchange, caller);
      } catch (error) {
        refuse(context, exchange, error);
      }
    },
    close: () => closed.abort(),
  };
}

/** Everything comes here that came by HTTP/2. @throws GatewayError */
function checkPath({ path, request }: Exchange | Http2Exchange): void {
  if (isEventServicePath(path)) return;
  throw grpcType(request.headers['content-type']) === null
    ? new GatewayError(
        'http_version_not_supported',
        'Over HTTP/2 the gateway serves gRPC only: send this request by HTTP/1.1',
      )
    : new GatewayError('method_not_allowed', `There is no such gRPC method: ${path.slice(0, 200)}`);
}

function refuse(context: ManagementContext, exchange: Exchange | Http2Exchange, thrown: unknown): void {
  const error = errorOf(context, thrown);
  const { id, request, response } = exchange;
  if (response.headersSent) return;
  const shaped = callRefusal(error, request.headers['content-type']);
  const headers = { ...refusal(error, id).headers, ...shaped.headers };
  // gRPC over HTTP/2 requires the end of the answer in the frame of its headers ("Trailers-Only").
  if (shaped.body === null && 'stream' in response)
    response.stream.respond(
      { ':status': shaped.status, ...securityHeaders, 'x-request-id': id, ...headers },
      { endStream: true },
    );
  else sendAnswer(exchange, { ...shaped, headers });
}
