import { allowsModel, type Principal } from '../access/authenticate.ts';
import { resolveTargets } from '../combos/resolve.ts';
import { readBody } from '../http/body.ts';
import type { Exchange } from '../http/server.ts';
import { GatewayError } from '../lib/error.ts';
import { callerGone, endOfError } from './call.ts';
import type { ProxyContext } from './context.ts';
import { type LedgerFacts, ledgerEntry } from './entry.ts';
import { viaHeader } from './headers.ts';
import { requestedModel } from './request.ts';
import type { Surface } from './routes.ts';
import { runCall } from './run.ts';

/**
 * Serves one model request of `format`: read, resolve, attempt, relay, record. Errors before the first
 * attempt are thrown for the surface to render; later ones are answered here.
 * @throws GatewayError
 */
export async function proxyRequest(
  context: ProxyContext,
  exchange: Exchange,
  { format, named }: Pick<Extract<Surface, { kind: 'relay' }>, 'format' | 'named'>,
  principal: Principal,
): Promise<void> {
  const facts: LedgerFacts = { exchange, format, principal, requestedModel: null };
  try {
    refuseLoop(exchange, context.instance);
    const body = await readBody(exchange.request, { limitBytes: context.config.limits.bodyBytes });
    const model =
      named === undefined
        ? requestedModel(body, { strict: principal.models !== null })
        : { value: named.model, start: 0, end: 0, pieces: body };
    facts.requestedModel = model.value;
    const snapshot = context.snapshot();
    const targets = resolveTargets(model.value, format, snapshot.routes);
    const allowed = targets.filter(({ connection, provider, model: id }) =>
      allowsModel(principal, model.value, [`${provider.id}/${id}`, `${connection.name}/${id}`]),
    );
    const first = allowed[0];
    if (first === undefined) {
      throw new GatewayError(
        'model_not_allowed',
        `The key "${principal.name}" may not use the model "${model.value}"`,
        { param: 'model' },
      );
    }
    runCall(context, {
      facts,
      body: model.pieces,
      requested: model.value,
      span: { start: model.start, end: model.end },
      named: named === undefined ? null : { ...named, array: named.stream && !asksForEvents(exchange.query) },
      targets: [first, ...allowed.slice(1)],
      snapshot,
    });
  } catch (error) {
    if (error instanceof GatewayError) {
      const end = error.code === 'client_closed' ? callerGone(false) : endOfError(error, false);
      context.record(ledgerEntry(facts, end, null, context.now()));
    }
    throw error;
  }
}

/** Google streams one JSON array unless events are asked for. */
function asksForEvents(query: string): boolean {
  return new URLSearchParams(query).get('alt') === 'sse';
}

function refuseLoop(exchange: Exchange, instance: string): void {
  const via = exchange.request.headers[viaHeader];
  if (typeof via !== 'string' || !via.split(',').some((hop) => hop.trim() === instance)) return;
  throw new GatewayError(
    'loop_detected',
    "This gateway received its own request: a connection's base URL points back at it",
  );
}
