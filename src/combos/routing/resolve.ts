import { GatewayError } from '../../lib/error.ts';
import type { Aliases, AliasMatch } from '../aliases/aliases.ts';
import { defaultOptions } from '../combo-schema.ts';
import { candidateOf } from '../pool/candidate.ts';
import type { Combos } from '../pool/compile.ts';
import type { ConnectionIndex, Route } from '../pool/connection-index.ts';
import { narrowed, type Pool } from '../pool/pool.ts';
import type { ResolvedBy } from '../trace.ts';

export type { Route } from '../pool/connection-index.ts';
export type { Target } from '../target.ts';

export interface Routes extends ConnectionIndex {
  /** Highest priority first. */
  ordered: readonly Route[];
  combos: Combos;
  aliases: Aliases;
}

/** What a requested id was found to mean. */
export interface ResolvedModel {
  pool: Pool;
  /** The names on the way, in order. */
  via: readonly { by: ResolvedBy; name: string }[];
}

/** More aliases one after the other than anybody means. */
const MAX_ALIASES = 8;

/**
 * What a requested model id stands for. `connection/model` and `provider/model` are final. Then: an alias of that very
 * name, a combo, an alias whose pattern fits, the active combo's targets of that model, the connections that list it
 * by priority, the built-in aliases for tools, and those whose provider's catalogue has it.
 * @throws GatewayError `no_combo_configured`, `model_not_found`
 */
export function resolve(requested: string, routes: Routes): ResolvedModel {
  const via: ResolvedModel['via'][number][] = [];
  const followed = new Set<string>();
  let id = requested;
  for (;;) {
    const step = stepOf(id, routes, followed);
    if (step === null) throw notFound(requested, id);
    via.push(step.via);
    if ('pool' in step) return { pool: step.pool, via };
    // Each alias once: a pattern may lead to an id that it fits itself.
    followed.add(step.via.name);
    id = step.id;
  }
}

/**
 * The names by which a key may have been given what a request resolved to: the combos and aliases on the way, and
 * `auto`. Connections, providers and patterns are none: what they lead to is judged by itself.
 */
export function grantingNames(requested: string, { via }: Pick<ResolvedModel, 'via'>): string[] {
  const names = via.flatMap(({ by, name }) => (grants[by] ? [name] : []));
  return requested === 'auto' ? ['auto', ...names] : names;
}

const grants: Readonly<Record<ResolvedBy, boolean>> = {
  alias: true,
  combo: true,
  'active-combo': true,
  connection: false,
  provider: false,
  listed: false,
  catalog: false,
  'claude-prefix': false,
};

type Step = { via: ResolvedModel['via'][number] } & ({ pool: Pool } | { id: string });

function stepOf(id: string, routes: Routes, followed: ReadonlySet<string>): Step | null {
  if (id === 'auto') return activeCombo(routes);
  const direct = directly(id, routes);
  if (direct !== null) return direct;
  const follow = (match: AliasMatch | null): Step | null =>
    match === null || followed.has(match.alias) || followed.size >= MAX_ALIASES
      ? null
      : { via: { by: 'alias', name: match.alias }, id: match.target };
  const { aliases } = routes;
  return (
    follow(aliases.exact(id)) ??
    namedCombo(id, routes) ??
    follow(aliases.pattern(id)) ??
    ofActiveCombo(id, routes) ??
    listedModel(id, routes) ??
    follow(understood(id, routes)) ??
    knownModel(id, routes)
  );
}

/** The built-in alias for an id that tools send, if its model exists. */
function understood(id: string, routes: Routes): AliasMatch | null {
  const match = routes.aliases.builtIn(id);
  if (match === null) return null;
  const leads = ofActiveCombo(match.target, routes) ?? listedModel(match.target, routes);
  return (leads ?? knownModel(match.target, routes)) === null ? null : match;
}

function activeCombo({ combos }: Routes): Step {
  const { active } = combos;
  if (active === null)
    throw new GatewayError(
      'no_combo_configured',
      'No combo is active, so "auto" has no meaning yet: name a model such as demo/echo, or set up a combo at /dashboard/combos',
      { param: 'model' },
    );
  return { via: { by: 'active-combo', name: active.name ?? '' }, pool: usable(active) };
}

function namedCombo(id: string, { combos }: Routes): Step | null {
  const pool = combos.byName.get(id);
  return pool === undefined ? null : { via: { by: 'combo', name: id }, pool: usable(pool) };
}

/** @throws GatewayError `model_not_found` for a combo whose targets are all gone */
function usable(pool: Pool): Pool {
  if (pool.members.length > 0) return pool;
  const why = pool.missing[0]?.detail ?? 'it has none';
  throw new GatewayError('model_not_found', `No target of the combo "${pool.name}" can be asked: ${why}`, {
    param: 'model',
  });
}

/** An id whose first part names a connection or provider. @throws GatewayError `model_not_found` */
function directly(id: string, routes: Routes): Step | null {
  const slash = id.indexOf('/');
  if (slash <= 0) return null;
  const prefix = id.slice(0, slash);
  const model = id.slice(slash + 1);
  const named = routes.byName.get(prefix);
  if (named !== undefined)
    return { via: { by: 'connection', name: prefix }, pool: poolOf([named], model, routes) };
  const ofProvider = routes.byProvider.get(prefix);
  if (ofProvider !== undefined)
    return { via: { by: 'provider', name: prefix }, pool: poolOf(ofProvider, model, routes) };
  if (routes.isProvider(prefix))
    throw new GatewayError(
      'model_not_found',
      `No connection to the provider "${prefix}" exists: add one with \`gateway provider add ${prefix}\``,
      { param: 'model' },
    );
  // Claude Code's model picker only shows ids that contain "claude", so every model is also listed below it.
  return prefix === 'claude' ? { via: { by: 'claude-prefix', name: id }, id: model } : null;
}

function ofActiveCombo(id: string, routes: Routes): Step | null {
  const { active } = routes.combos;
  const ofActive = active === null ? null : narrowed(active, ({ model }) => model === id);
  if (active === null || ofActive === null) return null;
  return { via: { by: 'active-combo', name: active.name ?? '' }, pool: ofActive };
}

/** The connections that list a model, and behind them those that may have it as well. */
function listedModel(id: string, routes: Routes): Step | null {
  const listing = routes.ordered.filter(({ connection }) => lists(connection, id));
  if (listing.length === 0) return null;
  const matching = [...listing, ...knowing(id, routes)];
  return { via: { by: 'listed', name: id }, pool: poolOf(matching, id, routes) };
}

function knownModel(id: string, routes: Routes): Step | null {
  const matching = knowing(id, routes);
  return matching.length === 0
    ? null
    : { via: { by: 'catalog', name: id }, pool: poolOf(matching, id, routes) };
}

/** The connections that do not list a model, and whose provider's catalogue has it. */
function knowing(id: string, { catalog, ordered }: Routes): Route[] {
  return ordered.filter(({ connection, provider }) => !lists(connection, id) && catalog.offers(provider, id));
}

/** Connections that have a model, as a combo that has no name and no wishes. */
function poolOf(matching: readonly Route[], model: string, routes: Routes): Pool {
  const candidates = matching.map((route) => candidateOf(route, model, routes));
  return {
    id: '',
    name: null,
    strategy: 'priority',
    options: defaultOptions,
    members: candidates.map((candidate) => ({ kind: 'model', candidate, weight: 1 })),
    missing: [],
    candidates,
    byFormat: null,
    depth: 1,
  };
}

function lists({ defaultModel, models }: Route['connection'], model: string): boolean {
  return defaultModel === model || (models?.includes(model) ?? false);
}

function notFound(requested: string, id: string): GatewayError {
  const led = id === requested ? '' : `, which "${printable(requested)}" leads to`;
  return new GatewayError(
    'model_not_found',
    `No connection offers the model "${printable(id)}"${led}: \`gateway models\` and GET /v1/models list what can be asked for, as connection/model`,
    { param: 'model' },
  );
}

/** Client-made text, made safe to repeat in an error: control characters out, length bounded. */
export function printable(text: string): string {
  const clean = text.replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
  return clean.length > 200 ? `${clean.slice(0, 200)}…` : clean;
}
