import type { Principal } from '../access/authenticate.ts';
import { readBody } from '../http/body.ts';
import type { AnyExchange, Exchange } from '../http/server.ts';
import { GatewayError } from '../lib/error.ts';
import { admit } from './admit.ts';
import { throughCache } from './cached.ts';
import { callerGone, endOfError } from './call.ts';
import type { ProxyContext } from './context.ts';
import { type LedgerFacts, ledgerEntry } from './entry.ts';
import { refuseLoop } from './loop.ts';
import { requestedModel } from './request.ts';
import { turnOf } from './responses-turn.ts';
import type { Surface } from './routes.ts';
import { runCall } from './run.ts';

/** What a path says of the requests that it takes. */
export type AskedSurface = Pick<Extract<Surface, { kind: 'relay' }>, 'format' | 'named'> & {
  kind?: 'relay' | 'compact';
};

/** Serves one model request that came by HTTP. @throws GatewayError as `proxyBody` does */
export function proxyRequest(
  context: ProxyContext,
  exchange: Exchange,
  surface: AskedSurface,
  principal: Principal,
): Promise<void> {
  const read = () => readBody(exchange.request, { limitBytes: context.config.limits.bodyBytes });
  return proxyBody(context, { exchange, read }, surface, principal);
}

/** A model request, whatever brought it. */
export interface Asked {
  exchange: AnyExchange;
  read(): Promise<readonly Buffer[]>;
}

/**
 * Serves one model request of `format`: read, resolve, attempt, relay, record. Errors before the first
 * attempt are thrown for the surface to render; later ones are answered here.
 * @throws GatewayError
 */
export async function proxyBody(
  context: ProxyContext,
  { exchange, read }: Asked,
  { format, kind, named }: AskedSurface,
  principal: Principal,
): Promise<void> {
  const facts: LedgerFacts = {
    exchange,
    format,
    principal,
    requestedModel: null,
    comboId: null,
    trace: null,
  };
  await recordingRefusals(context, facts, async () => {
    refuseLoop(exchange, context.instance);
    const body = await read();
    const model =
      named === undefined
        ? requestedModel(body, { strict: principal.models !== null })
        : { value: named.model, start: 0, end: 0, pieces: body };
    facts.requestedModel = model.value;
    const snapshot = context.snapshot();
    const plan = context.routing.plan(snapshot.routes, {
      ...{ requested: model.value, format, principal },
      ...{ headers: exchange.request.headers, body: model.pieces },
    });
    const { targets } = plan;
    const taken = await turnOf(context, principal, { endpoint: kind === 'compact', format, model, targets });
    facts.comboId = plan.comboId;
    facts.trace = plan.trace;
    const byPath =
      named === undefined ? null : { ...named, array: named.stream && !asksForEvents(exchange.query) };
    const cached = await throughCache(context, {
      ...{ facts, body: taken.model.pieces, named: byPath, plan },
    });
    if (cached?.kind === 'answered') return;
    const callFacts = cached === null ? facts : { ...facts, exchange: cached.exchange };
    const asking = { facts, body: taken.model.pieces, targets: taken.targets, trace: plan.trace, snapshot };
    const admitted = await admit(context, asking).catch((error) => {
      cached?.refused();
      throw error;
    });
    runCall(context, {
      facts: callFacts,
      body: taken.model.pieces,
      requested: model.value,
      span: { start: taken.model.start, end: taken.model.end },
      named: byPath,
      turn: taken.turn,
      ...admitted,
      plan,
      snapshot,
      ...(cached === null ? {} : { ended: cached.ended }),
    });
  });
}

/** Does `work`; an error that ends a request before it has a target gets its ledger entry here. */
export async function recordingRefusals<T>(
  context: ProxyContext,
  facts: LedgerFacts,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GatewayError) {
      const end = error.code === 'client_closed' ? callerGone(false) : endOfError(error, false);
      context.record(ledgerEntry(facts, end, null, context.now()), facts.trace);
    }
    throw error;
  }
}

/** Google streams one JSON array unless events are asked for. */
function asksForEvents(query: string): boolean {
  return new URLSearchParams(query).get('alt') === 'sse';
}
