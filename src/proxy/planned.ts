import type { Plan } from '../combos/routing.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { Snapshot } from '../snapshot.ts';
import type { ProxyContext } from './context.ts';
import type { NamedInPath } from './dispatch/call.ts';
import { askedTier } from './inbound/asked-tier.ts';
import type { LedgerFacts } from './metering/entry.ts';
import { refuseLoop } from './inbound/loop.ts';
import { requestedModel } from './inbound/request.ts';
import type { Surface } from './inbound/routes.ts';
import { requestTags } from './inbound/tags.ts';
import { refuseOtherModels } from './json/model-fields.ts';
import { turnOf } from './responses-state/response-state.ts';

/** What a path says of the requests that it takes. */
export type AskedSurface = Pick<Extract<Surface, { kind: 'relay' }>, 'format' | 'named'> & {
  kind?: 'relay' | 'compact';
};

/** A model request, whatever brought it. */
export interface Asked {
  exchange: AnyExchange;
  read(): Promise<readonly Buffer[]>;
}

/** A request that was read, and where it would go. */
export interface Planned {
  /** The model as the caller named it. */
  requested: string;
  named: NamedInPath | null;
  plan: Plan;
  /** The request with what it refers to put in, and its targets. */
  taken: Awaited<ReturnType<typeof turnOf>>;
  snapshot: Snapshot;
}

/**
 * Reads a request and finds its targets. `facts` are told what is known of it, also when it is refused then.
 * @throws GatewayError
 */
export async function planned(
  context: ProxyContext,
  facts: LedgerFacts,
  { exchange, read }: Asked,
  { format, kind, named }: AskedSurface,
): Promise<Planned> {
  const { principal } = facts;
  refuseLoop(exchange, context.instance);
  const body = await read();
  const model =
    named === undefined ? requestedModel(body) : { value: named.model, start: 0, end: 0, pieces: body };
  facts.requestedModel = model.value;
  facts.askedTier = askedTier(format, body, exchange.request.headers);
  const tagged = { exchange, principal, requestedModel: model.value };
  facts.tags = requestTags(context.config, tagged);
  const snapshot = context.snapshot();
  const plan = context.routing.plan(snapshot.routes, {
    requested: model.value,
    format,
    principal,
    headers: exchange.request.headers,
    body: model.pieces,
  });
  if (isLimited(context, facts, plan))
    refuseOtherModels({ body: model.pieces, inPath: named?.model ?? null, keyName: principal.name });
  const { targets } = plan;
  const taken = await turnOf(context, principal, { endpoint: kind === 'compact', format, model, targets });
  facts.comboId = plan.comboId;
  facts.trace = plan.trace;
  const byPath =
    named === undefined ? null : { ...named, array: named.stream && !asksForEvents(exchange.query) };
  return { requested: model.value, named: byPath, plan, taken, snapshot };
}

/** Whether it matters for a request which model runs: its key may use some only, or a budget is charged for it. */
function isLimited({ limits }: ProxyContext, { principal, tags }: LedgerFacts, { comboId }: Plan): boolean {
  const { keyId, models } = principal;
  return models !== null || limits.isPriced({ keyId, comboId, tags });
}

/** Google streams one JSON array unless events are asked for. */
function asksForEvents(query: string): boolean {
  return new URLSearchParams(query).get('alt') === 'sse';
}
