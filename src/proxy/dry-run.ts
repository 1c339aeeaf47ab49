import type { IncomingHttpHeaders } from 'node:http';
import { relayedHistory } from '../codecs/history/relayed.ts';
import type { Target } from '../combos/routing/resolve.ts';
import { nameOf } from '../combos/target.ts';
import type { AnyExchange } from '../http/exchange.ts';
import { sendJson } from '../http/send.ts';
import { GatewayError } from '../lib/error.ts';
import { providerDialect } from '../providers/dialect.ts';
import type { ProxyContext } from './context.ts';
import { newFacts } from './metering/entry.ts';
import { type IncomingRequest, localFacts, type PlannedRequest, planRequest } from './prologue.ts';
import { rememberedOutputCap } from './quirks/output-caps.ts';
import { translateRequest } from './translate/request.ts';
import { unknownBetas } from './upstream/model-in-path.ts';
import { requestTo } from './upstream/request.ts';

/** Requests a dry run: the answer describes what would happen, and nothing is sent. */
const dryRunHeader = 'x-gateway-dry-run';

/** What one target of a request would be sent. */
interface DryRunTarget {
  connection: string;
  provider: string;
  model: string;
  format: string;
  /** Whether its own format is the client's, and the very bytes would pass. */
  relayed: boolean;
  /** As in `x-gateway-dropped`. */
  dropped: readonly string[];
  /** As in `x-gateway-lowered`. */
  lowered: string | null;
  /** As in `x-gateway-added`. */
  added: 'user-turn' | null;
  /** Why it cannot be asked. */
  error: { code: string; message: string; param: string | null } | null;
}

export function isDryRun(headers: IncomingHttpHeaders): boolean {
  return headers[dryRunHeader] !== undefined;
}

/**
 * For paths that know no dry run: what was not to be sent is never sent because of that.
 * @throws GatewayError `invalid_request`
 */
export function refuseDryRun({ headers }: { headers: IncomingHttpHeaders }): void {
  if (!isDryRun(headers)) return;
  throw new GatewayError(
    'invalid_request',
    `${dryRunHeader} works only with POST on paths for conversations, prompts or texts: leave it out here`,
    { param: dryRunHeader },
  );
}

/**
 * Answers with what would become of a request at each of its targets, best first: what they would not be sent, and why
 * one cannot be asked. It goes the way of every request up to the first attempt, and no further: nothing is sent to a
 * provider, charged, counted, kept or written down.
 * @throws GatewayError as for the request itself
 */
export async function dryRun(context: ProxyContext, incoming: IncomingRequest): Promise<void> {
  const request = await planRequest(context, localFacts(newFacts(incoming)), incoming);
  const { facts, plan, resolved } = request;
  sendJson(incoming.exchange, 200, {
    object: 'gateway.dry_run',
    model: facts.requestedModel,
    format: incoming.format,
    combo: plan.trace.combo,
    targets: resolved.targets.map((target) => atTarget(context, request, target)),
    skipped: plan.trace.skipped.map(({ connection, detail, model, provider, reason }) => ({
      connection,
      provider,
      model,
      reason,
      detail,
    })),
  });
}

function atTarget(context: ProxyContext, request: PlannedRequest, target: Target): DryRunTarget {
  const { facts, resolved } = request;
  const relayed = target.format === facts.format && resolved.responseState?.compacts !== true;
  const { connection, model, provider } = nameOf(target);
  const row = { connection, provider, model, format: target.format, relayed };
  try {
    checkUsable(context, facts.exchange, target, !relayed);
    const losses = relayed
      ? { dropped: droppedByRelay(context, request, target), lowered: null, added: null }
      : droppedByTranslation(context, request, target);
    return { ...row, ...losses, error: null };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, message, param } = error;
    return { ...row, dropped: [], lowered: null, added: null, error: { code, message, param } };
  }
}

/** @throws GatewayError for a connection without an address, or whose credential cannot be used */
function checkUsable(
  context: ProxyContext,
  exchange: AnyExchange,
  target: Target,
  translated: boolean,
): void {
  requestTo(context, { exchange, target, body: [], pathOf: (path) => path, translated, freshSocket: false });
}

function droppedByRelay(
  { refusedFields }: ProxyContext,
  { facts: { exchange }, resolved }: PlannedRequest,
  target: Target,
): string[] {
  const { dropped } = relayedHistory(resolved.model.pieces, {
    format: target.format,
    model: target.model,
    dialect: providerDialect(target.provider),
    refused: refusedFields.of(target),
  });
  const rule = target.provider.modelInPath?.[target.format];
  return [...new Set([...dropped, ...(rule === undefined ? [] : unknownBetas(exchange, rule))])];
}

/** @throws GatewayError `not_translatable` and what else is wrong with a request */
function droppedByTranslation(
  { fitSchema, outputCaps, refusedFields }: ProxyContext,
  { facts: { format }, named, plan, resolved }: PlannedRequest,
  target: Target,
): Pick<DryRunTarget, 'dropped' | 'lowered' | 'added'> {
  const incoming = { body: resolved.model.pieces, named, target, responseState: resolved.responseState };
  const { addsTurn, dropped, lowered } = translateRequest(incoming, format, {
    fit: fitSchema,
    refusedFields: refusedFields.of(target),
    outputCap: rememberedOutputCap(outputCaps, target),
    cacheMarks: target.format !== format && plan.options.cacheMarks && target.connection.cacheMarks,
  });
  return { dropped, lowered, added: addsTurn ? 'user-turn' : null };
}
