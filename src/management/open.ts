import type { AccessControl } from '../access/access-control.ts';
import { tokensResource } from '../access/tokens/resource.ts';
import { usersResource } from '../access/users/resource.ts';
import { savedViewsResource } from '../access/views/resource.ts';
import type { Caller, Resource } from '../http/resource.ts';
import type { Exchange } from '../http/server/server.ts';
import { createKeyedMutex } from '../lib/keyed-mutex.ts';
import { createSteadyClock } from '../lib/time/clock.ts';
import type { Answer } from './answer.ts';
import { type ApiCall, admit, callApi, guard, refuse, serveManagement } from './app.ts';
import { attentionResource } from './attention/resource.ts';
import type { ManagementContext } from './context.ts';
import { type EventService, openEventService } from './events/connect/open.ts';
import { type EventsWatch, watchEvents } from './events/watch.ts';
import { createRateLimiter } from './guard/rate-limiter.ts';
import { serveMetrics } from './metrics/serve.ts';
import { openApiDocument } from './openapi/openapi.ts';
import { jsonBody } from './request-body.ts';

export interface ManagementInput
  extends Pick<
    ManagementContext,
    | 'audit'
    | 'cliTools'
    | 'events'
    | 'finishLogin'
    | 'hosts'
    | 'live'
    | 'metrics'
    | 'now'
    | 'once'
    | 'report'
    | 'streams'
    | 'trusted'
    | 'version'
    | 'warn'
  > {
  accessControl: AccessControl;
  /** What the other units show, beside users and tokens. */
  resources: readonly Resource[];
}

export interface Management {
  serve(exchange: Exchange): Promise<void>;
  /** Refuses such a request for where it comes from. @throws GatewayError */
  guard(exchange: Exchange): Promise<void>;
  /** Who makes a request to another surface for the users of this API. @throws GatewayError */
  admit(exchange: Exchange): Promise<Caller>;
  /** The body of such a request as JSON. @throws GatewayError */
  body(exchange: Exchange, caller: Pick<Caller, 'role'>): Promise<unknown>;
  /** The events that sources publish from now on, for a while. @throws GatewayError */
  watchEvents(caller: Caller, watch: EventsWatch): Promise<unknown[]>;
  /** Answers such a request with an error, in the shape of this API. */
  refuse(exchange: Exchange, error: unknown): void;
  /** Carries out a request to a collection for a caller, as if it had come over HTTP. @throws GatewayError */
  call(caller: Caller, call: ApiCall): Promise<Answer>;
  /** The service of gRPC and Connect for the configuration of events. */
  eventService: Pick<EventService, 'serve'>;
  /** Answers `/metrics`. Never throws. */
  serveMetrics(exchange: Exchange): Promise<void>;
  /** Ends answers that would go on as long as their clients are connected. */
  endStreams(): void;
}

/** Puts the management API together. */
export function openManagement(input: ManagementInput): Management {
  const { accessControl, version } = input;
  const { parts } = accessControl;
  const others = [usersResource(parts), tokensResource(parts), savedViewsResource(parts), ...input.resources];
  const attention = attentionResource({
    resources: others,
    drifted: input.cliTools.drifted,
    events: input.events.opened,
  });
  const resources = [...others, attention];
  // Made when it is first asked for: that takes as long as a tenth of the whole start.
  let document: object | null = null;
  const openapi = () => (document ??= openApiDocument(resources, version));
  const context: ManagementContext = {
    audit: input.audit,
    cliTools: input.cliTools,
    events: input.events,
    finishLogin: input.finishLogin,
    auth: accessControl,
    hosts: input.hosts,
    live: input.live,
    metrics: input.metrics,
    streams: input.streams,
    now: input.now,
    openapi,
    report: input.report,
    warn: input.warn,
    mutex: createKeyedMutex(),
    once: input.once,
    trusted: input.trusted,
    pace: createRateLimiter(createSteadyClock(input.now)),
    resources,
    version,
  };
  const eventService = openEventService(context);
  return {
    serve: (exchange) => serveManagement(context, exchange),
    guard: (exchange) => guard(context, exchange),
    endStreams() {
      input.streams.close();
      eventService.close();
    },
    eventService,
    serveMetrics: (exchange) =>
      serveMetrics(context, exchange).catch((error: unknown) => refuse(context, exchange, error)),
    admit: (exchange) => admit(context, exchange),
    body: jsonBody,
    refuse: (exchange, error) => refuse(context, exchange, error),
    watchEvents: (caller, watch) => watchEvents(context, caller, watch),
    call: (caller, call) => callApi(context, caller, call),
  };
}
