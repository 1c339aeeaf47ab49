import { createContextValues } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { OpenSergoUniversalTransportService } from '../../../events/gen/io/opensergo/proto/transport/v1/transport_pb.ts';
import { EventConfigService } from '../../../events/gen/modelgate/events/v1/event_config_service_pb.ts';
import type { Http2Exchange } from '../../../http/http2/exchange.ts';
import type { Caller } from '../../../http/resource.ts';
import type { Exchange } from '../../../http/server/server.ts';
import { callerKey } from './calls.ts';
import { eventConfigService, type ServiceInput } from './service.ts';
import { type TransportServiceInput, transportService } from './transport-service.ts';

/** A configuration of a thousand routers takes a tenth of it. */
const MOST_BYTES = 4_194_304;

export interface EventServiceHandler {
  /** Answers in the protocol of Connect, in that of gRPC-Web, or over HTTP/2 in that of gRPC. */
  serve(exchange: Exchange | Http2Exchange, caller: Caller): void;
}

export interface HandlerInput extends ServiceInput, TransportServiceInput {
  /** Aborted when the gateway stops: streams end. */
  closed: AbortSignal;
}

export function createEventServiceHandler({ closed, ...input }: HandlerInput): EventServiceHandler {
  const callers = new WeakMap<object, Caller>();
  const serve = connectNodeAdapter({
    routes(router) {
      router.service(EventConfigService, eventConfigService(input));
      router.service(OpenSergoUniversalTransportService, transportService(input));
    },
    shutdownSignal: closed,
    readMaxBytes: MOST_BYTES,
    writeMaxBytes: 64 * MOST_BYTES,
    contextValues(request) {
      const values = createContextValues();
      const caller = callers.get(request);
      return caller === undefined ? values : values.set(callerKey, caller);
    },
  });
  return {
    serve({ id, request, response }, caller) {
      callers.set(request, caller);
      response.setHeader('x-request-id', id);
      serve(request, response);
    },
  };
}
