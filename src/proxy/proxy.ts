import type { Principal } from '../access/authenticate.ts';
import { codecOf } from '../codecs/index.ts';
import { readBody } from '../http/body/body.ts';
import { type BodyMemory, bodyMemory } from '../http/body/memory.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { lookUpAnswer } from './answer-cache/cached.ts';
import type { ProxyContext } from './context.ts';
import { finish } from './dispatch/finish.ts';
import { runRequest } from './dispatch/run.ts';
import { dryRun, isDryRun } from './dry-run.ts';
import { admit } from './inbound/admit.ts';
import type { Surface } from './inbound/routes.ts';
import { newFacts } from './metering/entry.ts';
import { pricesAt } from './metering/price.ts';
import { type Asked, type Note, planned, unrecorded } from './prologue.ts';
import { clientGone, endOfError } from './request/end.ts';
import type { LedgerFacts } from './request/facts.ts';
import { readMedia } from './upload/read-media.ts';

/** What a path says of the requests that it takes. */
export type AskedSurface = Pick<Extract<Surface, { kind: 'relay' }>, 'format' | 'named'> & {
  kind?: 'relay' | 'compact';
};

/** A model request whose body is at hand, or can be read. */
export interface WithBody {
  exchange: AnyExchange;
  read(): Promise<readonly Buffer[]>;
  /** The memory of what was read, where nobody else uses it. Default: it is left to the garbage collector. */
  memoryOf?(pieces: readonly Buffer[]): BodyMemory | null;
}

/** Serves one model request that came by HTTP. @throws GatewayError as `proxyBody` does */
export function proxyRequest(
  context: ProxyContext,
  exchange: Exchange,
  surface: AskedSurface,
  principal: Principal,
): Promise<void> {
  const { media } = codecOf(surface.format);
  if (media !== undefined)
    return serve(context, {
      ...asked(exchange, surface, principal),
      read: () => readMedia(context.config, exchange, media),
    });
  const read = () => readBody(exchange.request, { limitBytes: context.config.limits.bodyBytes });
  return proxyBody(context, { exchange, read, memoryOf: bodyMemory }, surface, principal);
}

/**
 * Serves one model request of `format`: read, resolve, attempt, relay, record. Errors before the first
 * attempt are thrown for the surface to render; later ones are answered here.
 * @throws GatewayError
 */
export async function proxyBody(
  context: ProxyContext,
  { exchange, memoryOf = () => null, read }: WithBody,
  surface: AskedSurface,
  principal: Principal,
): Promise<void> {
  const request: Asked = {
    ...asked(exchange, surface, principal),
    async read() {
      const pieces = await read();
      return { kind: 'body', pieces, memory: memoryOf(pieces) };
    },
  };
  if (isDryRun(exchange.request.headers)) await dryRun(context, request);
  else await serve(context, request);
}

function asked(
  exchange: AnyExchange,
  { format, kind, named }: AskedSurface,
  principal: Principal,
): Omit<Asked, 'read'> {
  return {
    exchange,
    principal,
    format,
    compacts: kind === 'compact',
    ...(named === undefined ? {} : { named }),
  };
}

async function serve(context: ProxyContext, request: Asked): Promise<void> {
  await recordingRefusals(context, newFacts(request), async (note) => {
    const { facts, memory, model, named, plan, snapshot, resolved, upload } = await planned(
      context,
      note,
      request,
    );
    if (upload === null && context.handover?.takes(plan.targets) === true)
      return context.handover.pass(request.exchange, model.pieces);
    const { pieces: body, start, end } = resolved.model;
    const cached = upload === null ? await lookUpAnswer(context, { facts, body, named, plan }) : null;
    if (cached?.kind === 'answered') return;
    const asking = { facts, body, targets: resolved.targets, trace: plan.trace, snapshot };
    const admitted = await admit(context, asking).catch((error) => {
      cached?.refused();
      throw error;
    });
    runRequest(context, {
      facts: {
        exchange: cached?.exchange ?? facts.exchange,
        format: facts.format,
        principal: facts.principal,
        requestedModel: facts.requestedModel,
        comboId: facts.comboId,
        trace: plan.trace,
        tags: facts.tags,
        askedTier: facts.askedTier,
        targets: admitted.targets,
        reservation: admitted.reservation,
        codec: codecOf(facts.format),
        named,
        responseState: resolved.responseState,
        upload,
        plan,
        catalog: snapshot.catalog,
        price: pricesAt(snapshot.catalog, facts.exchange.startedAt),
      },
      body: { pieces: body, span: { start, end }, model: facts.requestedModel },
      memory,
      ...(cached === null ? {} : { cache: cached.ended }),
    });
  });
}

/** Does `work`; an error that ends a request before it has a target gets its ledger entry here. */
async function recordingRefusals<T>(
  context: ProxyContext,
  first: LedgerFacts,
  work: (note: Note) => Promise<T>,
): Promise<T> {
  const note = unrecorded(first);
  try {
    return await work(note);
  } catch (error) {
    if (error instanceof GatewayError) {
      const end = error.code === 'client_closed' ? clientGone(false) : endOfError(error, false);
      finish(context, { facts: note({}), end, run: null });
    }
    throw error;
  }
}
