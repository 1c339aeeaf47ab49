import type { Principal } from '../access/authenticate.ts';
import { readBody } from '../http/body/body.ts';
import type { Exchange } from '../http/server/server.ts';
import { GatewayError } from '../lib/error.ts';
import { throughCache } from './answer-cache/cached.ts';
import type { ProxyContext } from './context.ts';
import { callerGone, endOfError } from './dispatch/call.ts';
import { runCall } from './dispatch/run.ts';
import { dryRun, isDryRun } from './dry-run.ts';
import { admit } from './inbound/admit.ts';
import { type LedgerFacts, ledgerEntry, newFacts } from './metering/entry.ts';
import { type Asked, type AskedSurface, planned } from './planned.ts';

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

/**
 * Serves one model request of `format`: read, resolve, attempt, relay, record. Errors before the first
 * attempt are thrown for the surface to render; later ones are answered here.
 * @throws GatewayError
 */
export async function proxyBody(
  context: ProxyContext,
  asked: Asked,
  surface: AskedSurface,
  principal: Principal,
): Promise<void> {
  const { exchange } = asked;
  const { format } = surface;
  const facts = newFacts({ exchange, format, principal });
  if (isDryRun(exchange.request.headers)) return dryRun(context, facts, asked, surface);
  await recordingRefusals(context, facts, async () => {
    const { named, plan, requested, snapshot, taken } = await planned(context, facts, asked, surface);
    const cached = await throughCache(context, { facts, body: taken.model.pieces, named, plan });
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
      requested,
      span: { start: taken.model.start, end: taken.model.end },
      named,
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
      context.record(ledgerEntry(facts, end, null, context.now()), facts.trace, facts);
    }
    throw error;
  }
}
