import type { Principal } from '../access/authenticate.ts';
import { codecOf } from '../codecs/index.ts';
import { readBody } from '../http/body/body.ts';
import { bodyMemory } from '../http/body/memory.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { HttpExchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { type CacheAnswer, lookUpAnswer } from './answer-cache/cached.ts';
import type { ProxyContext } from './context.ts';
import { finish } from './dispatch/finish.ts';
import { type PreparedRequest, runRequest } from './dispatch/run.ts';
import { dryRun, isDryRun } from './dry-run.ts';
import { type Admitted, admit } from './inbound/admit.ts';
import type { Surface } from './inbound/routes.ts';
import { newFacts } from './metering/entry.ts';
import { pricesAt } from './metering/price.ts';
import {
  type IncomingRequest,
  localFacts,
  type PlannedRequest,
  planRequest,
  type ReadRequest,
} from './prologue.ts';
import { clientGone, endOfError } from './request/end.ts';
import { readMedia } from './upload/read-media.ts';

/** What a path says of the requests that it takes. */
export type RequestSurface = Pick<Extract<Surface, { kind: 'relay' }>, 'format' | 'named'> & {
  kind?: 'relay' | 'compact';
};

/** A model request whose body is at hand, or can be read. */
export interface WithBody {
  exchange: AnyExchange;
  read(): Promise<readonly Buffer[]>;
}

/**
 * Serves one model request that came by HTTP: read, resolve, attempt, relay, record. Errors before the first
 * attempt are thrown for the surface to render; later ones are answered here.
 * @throws GatewayError
 */
export function proxyRequest(
  context: ProxyContext,
  exchange: HttpExchange,
  surface: RequestSurface,
  principal: Principal,
): Promise<void> {
  const { media } = codecOf(surface.format);
  if (media !== undefined)
    return serve(
      context,
      incomingRequest(exchange, surface, principal, () => readMedia(context.config, exchange, media)),
    );
  return serveOrPreview(
    context,
    incomingRequest(exchange, surface, principal, () => readWhole(context, exchange)),
  );
}

/** The same for one that came in another way. @throws GatewayError as `proxyRequest` does */
export function proxyBody(
  context: ProxyContext,
  { exchange, read }: WithBody,
  surface: RequestSurface,
  principal: Principal,
): Promise<void> {
  return serveOrPreview(
    context,
    incomingRequest(exchange, surface, principal, async () => ({ kind: 'body', pieces: await read() })),
  );
}

async function readWhole({ config }: ProxyContext, { request }: HttpExchange): Promise<ReadRequest> {
  const pieces = await readBody(request, { limitBytes: config.limits.bodyBytes });
  return { kind: 'body', pieces, memory: bodyMemory(pieces) };
}

function incomingRequest(
  exchange: AnyExchange,
  { format, kind, named }: RequestSurface,
  principal: Principal,
  read: IncomingRequest['read'],
): IncomingRequest {
  return { exchange, principal, format, named, compacts: kind === 'compact', read };
}

function serveOrPreview(context: ProxyContext, request: IncomingRequest): Promise<void> {
  return isDryRun(request.exchange.request.headers) ? dryRun(context, request) : serve(context, request);
}

/** An error that ends a request before it has a target gets its ledger entry here. */
async function serve(context: ProxyContext, request: IncomingRequest): Promise<void> {
  const note = localFacts(newFacts(request));
  /** Until the request is admitted: notifies requests that wait for the same answer that it does not come. */
  let refused: (() => void) | null = null;
  try {
    const ready = await planRequest(context, note, request);
    const { facts, model, named, plan, snapshot, resolved, upload } = ready;
    if (upload === null && context.handover?.takes(plan.targets) === true)
      return await context.handover.pass(request.exchange, model.pieces);
    const { pieces: body } = resolved.model;
    const lookUp = upload === null ? lookUpAnswer(context, { facts, body, named, plan }) : null;
    const cached = lookUp === null ? null : await lookUp;
    if (cached?.kind === 'answered') return;
    refused = cached?.refused ?? null;
    const entering = admit(context, { facts, body, targets: resolved.targets, trace: plan.trace, snapshot });
    const admitted = entering instanceof Promise ? await entering : entering;
    refused = null;
    runRequest(context, prepared(ready, admitted, cached));
  } catch (error) {
    refused?.();
    if (error instanceof GatewayError) {
      const end = error.code === 'client_closed' ? clientGone(false) : endOfError(error, false);
      finish(context, { facts: note({}), end, run: null });
    }
    throw error;
  }
}

function prepared(
  { facts, memory, named, plan, snapshot, resolved, upload }: PlannedRequest,
  { reservation, targets }: Admitted,
  cached: Extract<CacheAnswer, { kind: 'ask' }> | null,
): PreparedRequest {
  const { pieces, start, end } = resolved.model;
  return {
    facts: {
      exchange: cached?.exchange ?? facts.exchange,
      format: facts.format,
      principal: facts.principal,
      requestedModel: facts.requestedModel,
      comboId: facts.comboId,
      trace: plan.trace,
      tags: facts.tags,
      requestedTier: facts.requestedTier,
      targets,
      reservation,
      codec: codecOf(facts.format),
      named,
      responseState: resolved.responseState,
      upload,
      plan,
      catalog: snapshot.catalog,
      price: pricesAt(snapshot.catalog, facts.exchange.startedAt),
    },
    body: { pieces, span: { start, end }, model: facts.requestedModel },
    memory,
    ...(cached === null ? {} : { cache: cached.ended }),
  };
}
