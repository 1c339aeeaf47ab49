import type { IncomingHttpHeaders } from 'node:http';
import type { Principal } from '../../access/authenticate.ts';
import { textCost } from '../../catalog/cost.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { HealthView } from '../../health/health-view.ts';
import type { ComboOptions } from '../combo-schema.ts';
import {
  type CandidatesByFormat,
  candidatesByFormat,
  type FormatCandidate,
} from '../pool/candidates-by-format.ts';
import type { Candidate } from '../pool/pool.ts';
import { type Affinity, type AffinityEntry, createAffinity } from '../sessions/affinity.ts';
import { type Session, sessionOf } from '../sessions/session.ts';
import type { Target } from '../target.ts';
import type { Trace } from '../trace.ts';
import { filterCandidates } from './filter-candidates.ts';
import { ordered } from './order.ts';
import { featuresOf, type RequestFeatures } from './request-features.ts';
import { grantingNames, type ResolvedModel, type Routes } from './resolve.ts';
import { createResolver } from './resolver.ts';

/** A request that is looking for its targets. */
export interface RoutingRequest {
  /** The model id that was asked for. */
  requested: string;
  format: WireFormat;
  principal: Principal;
  headers: IncomingHttpHeaders;
  /** Empty where the body is not there yet. */
  body: readonly Buffer[];
}

/** Where a request goes, and why. */
export interface RoutingPlan {
  /** Best first. Those whose account is not ready stand behind the others, the soonest first. */
  targets: readonly [Target, ...Target[]];
  options: ComboOptions;
  /** The combo that was asked for; null for a model by its own id. */
  comboId: string | null;
  /** The first model of the combo, which would have answered without its strategy; null for a model by its own id. */
  first: Pick<Target, 'provider' | 'model'> | null;
  trace: Trace;
  /** Told of the target that answered, so that the next request of the session goes there. */
  remember(target: Target): void;
}

export interface RoutingInput {
  healthView: HealthView;
  /** From 0 up to, but not including, 1. */
  random(): number;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Called with where a session was answered, when that is new. Default: nothing is called. */
  onAffinityEntry?(session: string, entry: AffinityEntry): void;
}

/** What the strategies and the sessions need from one request to the next. */
export interface Routing {
  /**
   * The targets of a requested model, best first, and the trace of how they were found.
   * @throws GatewayError `no_combo_configured`, `model_not_found`, `format_not_supported`, `model_not_allowed`
   */
  plan(routes: Routes, question: RoutingRequest): RoutingPlan;
  /** Takes over where another process of the gateway had a session answered. */
  takeSession(session: string, entry: AffinityEntry): void;
}

/** Output tokens that a request is assumed to get where costs are compared: a usual turn of a coding agent. */
const ASSUMED_OUTPUT = 1_000;
/** Input tokens of a request whose bytes do not tell. */
const ASSUMED_INPUT = 10_000;

export function createRouting({ now, healthView, random, onAffinityEntry }: RoutingInput): Routing {
  const affinity = createAffinity({ now });
  const keep = (session: string, entry: AffinityEntry): void => {
    const isNews = onAffinityEntry !== undefined && affinity.isNews(session, entry);
    affinity.keep(session, entry);
    if (isNews) onAffinityEntry(session, entry);
  };
  const resolve = createResolver();
  const turns = new Map<string, number>();
  const turnOf = (comboId: string): number => {
    const turn = turns.get(comboId) ?? 0;
    turns.set(comboId, turn + 1);
    return turn;
  };

  return {
    takeSession: affinity.keep,
    plan(routes, question) {
      const { body, format, principal, requested } = question;
      const resolved = resolve(requested, routes);
      const { pool } = resolved;
      const byFormat = candidatesByFormat(pool, format);
      const trace = newTrace(requested, resolved, byFormat);
      const features = featuresOf(body);
      const names = grantingNames(requested, resolved);
      const { ready, waiting } = filterCandidates(
        byFormat,
        { requested, names, format, principal, features: features, healthView },
        trace.skipped,
      );
      const costOf = (candidate: Candidate) => assumedCost(candidate, features, now());
      let places = ordered(byFormat, ready, { healthView, random, turnOf, costOf });
      let remember = nothing;
      if (ready.length + waiting.length > 1 && pool.options.affinity) {
        const session = sessionKey(question);
        if (session !== null) {
          const { continues, key } = session;
          const index = continues ? placeAt(affinity.of(key), places) : -1;
          places = startingAt(index, places);
          trace.affinity = index === -1 ? null : (places[0]?.candidate.name ?? null);
          remember = remembering(keep, key);
        }
      }
      if (waiting.length > 0) places = [...places, ...waiting];
      trace.candidates = places.map(({ candidate }) => candidate.name);
      const [first, ...others] = places.map(({ target }) => target);
      if (first === undefined) throw new Error('a request was left without a target, and without an error');
      if (ready.length > 0) remember(first);
      const comboId = pool.name === null ? null : pool.id;
      return {
        targets: [first, ...others],
        options: pool.options,
        comboId,
        first: comboId === null ? null : (pool.candidates[0] ?? null),
        trace,
        remember,
      };
    },
  };
}

/** Made out here, for a function that is kept keeps all that is in sight where it is made: the request's bytes. */
const nothing: RoutingPlan['remember'] = () => {};

function remembering(keep: Affinity['keep'], key: string): RoutingPlan['remember'] {
  return ({ connection, model }) => keep(key, { connectionId: connection.id, model });
}

/** Sessions of different keys, and for different models, have nothing to do with one another. */
function sessionKey({ body, format, headers, principal, requested }: RoutingRequest): Session | null {
  const session = sessionOf(headers, format, body);
  if (session === null) return null;
  return { ...session, key: `${principal.keyId} ${requested} ${session.key}` };
}

function placeAt(entry: AffinityEntry | null, places: readonly FormatCandidate[]): number {
  if (entry === null) return -1;
  const { connectionId, model } = entry;
  return places.findIndex((place) => place.connectionId === connectionId && place.model === model);
}

/** The places with the one at `index` before all others; as they are for -1. */
function startingAt(index: number, places: readonly FormatCandidate[]): readonly FormatCandidate[] {
  const first = places[index];
  return first === undefined ? places : [first, ...places.slice(0, index), ...places.slice(index + 1)];
}

function newTrace(requested: string, { pool, via }: ResolvedModel, { skipped }: CandidatesByFormat): Trace {
  return {
    requested,
    via,
    combo: pool.name,
    strategy: pool.name === null ? null : pool.strategy,
    candidates: [],
    skipped: [...pool.missing, ...skipped],
    affinity: null,
    attempts: [],
  };
}

function assumedCost(candidate: Candidate, features: RequestFeatures, now: number): number | null {
  const price = candidate.priceAt(now);
  return price === null ? null : textCost(price, features.tokens() ?? ASSUMED_INPUT, ASSUMED_OUTPUT);
}
