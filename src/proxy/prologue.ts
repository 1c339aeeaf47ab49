import type { Principal } from '../access/authenticate.ts';
import type { WireFormat } from '../codecs/wire-format.ts';
import type { RoutingPlan } from '../combos/routing/routing.ts';
import type { BodyMemory } from '../http/body/memory.ts';
import type { AnyExchange } from '../http/exchange.ts';
import type { Snapshot } from '../snapshot.ts';
import type { ProxyContext } from './context.ts';
import { refuseLoop } from './inbound/loop.ts';
import { type RequestedModel, requestedModel } from './inbound/request.ts';
import { requestedTier } from './inbound/requested-tier.ts';
import { requestTags } from './inbound/tags.ts';
import { refuseOtherModels } from './json/model-fields.ts';
import type { LedgerFacts, NamedInPath } from './request/facts.ts';
import type { Upload } from './request/upload.ts';
import { type RequestWithState, withResponseState } from './responses-state/response-state.ts';

/** What the beginning of every model request does: read it, find its model, see who may ask for it, and plan where it goes. */

/** A body, or a form as far as its model. */
export type ReadRequest =
  | {
      kind: 'body';
      pieces: readonly Buffer[];
      /** Absent where it is left to the garbage collector. */
      memory?: BodyMemory | null;
    }
  | { kind: 'form'; upload: Upload };

/** A model request, whatever brought it. */
export interface IncomingRequest {
  readonly exchange: AnyExchange;
  readonly principal: Principal;
  readonly format: WireFormat;
  /** What its path says of it, where the model stands there. */
  readonly named?: { model: string; stream: boolean } | undefined;
  /** The request came to `/v1/responses/compact`. */
  readonly compacts?: boolean;
  /** It is not carried out, and nothing is charged for it. */
  readonly isFree?: boolean;
  read(): Promise<ReadRequest>;
}

/** Adds to what the ledger records of a request, also where the request is refused later. */
export type Note = (more: Partial<LedgerFacts>) => LedgerFacts;

/** A request that was read, and where it would go. */
export interface RoutedRequest {
  /** All that is known of it. */
  readonly facts: LedgerFacts & { requestedModel: string };
  readonly model: RequestedModel;
  readonly upload: Upload | null;
  /** Of the body, where it may be freed once the request is carried out. */
  readonly memory: BodyMemory | null;
  readonly plan: RoutingPlan;
  readonly snapshot: Snapshot;
}

/** The same with what it refers to put in, and the targets that can serve it so. */
export interface PlannedRequest extends RoutedRequest {
  readonly named: NamedInPath | null;
  readonly resolved: RequestWithState;
}

/**
 * Reads a request and finds its targets.
 * @throws GatewayError `loop_detected`, `invalid_json`, `missing_model`, and those of `Routing.plan` and `refuseOtherModels`
 */
export async function routeRequest(
  context: ProxyContext,
  note: Note,
  incoming: IncomingRequest,
): Promise<RoutedRequest> {
  refuseLoop(incoming.exchange, context.instance);
  return route(context, note, incoming, await incoming.read());
}

/** The same for a request that may refer to earlier ones. @throws GatewayError as `routeRequest` and `withResponseState` do */
export async function planRequest(
  context: ProxyContext,
  note: Note,
  incoming: IncomingRequest,
): Promise<PlannedRequest> {
  refuseLoop(incoming.exchange, context.instance);
  const request = route(context, note, incoming, await incoming.read());
  const { compacts = false, exchange, format, named, principal } = incoming;
  const { model, plan } = request;
  const resolved = withResponseState(context, principal, {
    endpoint: compacts,
    format,
    model,
    targets: plan.targets,
  });
  const inPath =
    named === undefined ? null : { ...named, array: named.stream && !asksForEvents(exchange.query) };
  return { ...request, named: inPath, resolved: resolved instanceof Promise ? await resolved : resolved };
}

/** @throws GatewayError as `routeRequest` does */
function route(
  context: ProxyContext,
  note: Note,
  incoming: IncomingRequest,
  read: ReadRequest,
): RoutedRequest {
  const { exchange, format, isFree = false, named, principal } = incoming;
  const { headers } = exchange.request;
  const body = read.kind === 'body' ? read.pieces : [];
  const upload = read.kind === 'form' ? read.upload : null;
  const memory = read.kind === 'body' ? (read.memory ?? null) : null;
  const inPath = named?.model ?? upload?.model ?? null;
  const model = inPath === null ? requestedModel(body) : { value: inPath, start: 0, end: 0, pieces: body };
  const requested = model.value;
  note({ requestedModel: requested, requestedTier: requestedTier(format, body, headers) });
  const tagged = { exchange, principal, requestedModel: requested };
  const tags = isFree ? [] : requestTags(context.config, tagged);
  note({ tags });
  const snapshot = context.snapshot();
  const { pieces } = model;
  const question = { requested, format, principal, headers, body: pieces };
  const plan = context.routing.plan(snapshot.routes, question);
  const { comboId, trace } = plan;
  const { keyId, models, name } = principal;
  // It matters which model runs where the key may use some only, or a budget is charged for it.
  const isCharged = !isFree && context.limits.isPriced({ keyId, comboId, tags });
  if (upload === null && (models !== null || isCharged))
    refuseOtherModels({ body: pieces, inPath: named?.model ?? null, keyName: name });
  const facts = { ...note({ comboId, trace }), requestedModel: requested };
  return { facts, memory, model, upload, plan, snapshot };
}

/** Where facts are recorded with the request alone. */
export function localFacts(first: LedgerFacts): Note {
  let facts = first;
  return (more) => {
    facts = { ...facts, ...more };
    return facts;
  };
}

/** Google streams one JSON array unless events are asked for. */
function asksForEvents(query: string): boolean {
  return new URLSearchParams(query).get('alt') === 'sse';
}
