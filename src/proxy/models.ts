import type { Principal } from '../access/authenticate.ts';
import { allowsModel } from '../access/authenticate.ts';
import { offeredModels } from '../catalog/offered.ts';
import type { Route } from '../combos/resolve.ts';
import { GatewayError } from '../lib/error.ts';
import type { Snapshot } from '../snapshot.ts';

/** One listed model in the shape that serves OpenAI's, Anthropic's and Claude Code's readers at once. */
export interface ListedModel {
  id: string;
  object: 'model';
  type: 'model';
  display_name: string;
  created: number;
  created_at: string;
  owned_by: string;
  context_window: number | null;
}

/** Every model that `principal` may ask for, as `connection/model`; each of these ids routes. */
export function listModels(snapshot: Snapshot, principal: Principal): ListedModel[] {
  const listed: ListedModel[] = [];
  const seen = new Set<string>();
  for (const route of snapshot.routes.ordered) {
    for (const model of offeredModels(route.connection, route.provider, snapshot.catalog)) {
      const id = `${route.connection.name}/${model}`;
      if (seen.has(id) || !allowsModel(principal, id, [`${route.provider.id}/${model}`])) continue;
      seen.add(id);
      listed.push(describe(id, model, route, snapshot));
    }
  }
  return listed;
}

function describe(
  id: string,
  model: string,
  { connection, provider }: Route,
  { catalog }: Snapshot,
): ListedModel {
  const known = catalog.describe(provider, model);
  const name = known?.name ?? model;
  return {
    id,
    object: 'model',
    type: 'model',
    display_name: provider.category === 'demo' ? `${name} (built-in demo)` : `${name} (${connection.name})`,
    created: Math.floor(connection.createdAt / 1000),
    created_at: new Date(connection.createdAt).toISOString(),
    owned_by: provider.id,
    context_window: known?.contextWindow ?? null,
  };
}

export interface ListQuery {
  /** True when the caller sent `anthropic-version`: only what its format reaches is listed. */
  anthropic: boolean;
  query: string;
}

/** The body of `GET /v1/models`: OpenAI's list with Anthropic's paging fields (`limit`, `after_id`, `before_id`). */
export function modelList(snapshot: Snapshot, principal: Principal, { anthropic, query }: ListQuery): object {
  let models = listModels(snapshot, principal);
  if (anthropic) models = models.filter((model) => speaksMessages(model.id, snapshot)).map(forModelPicker);
  const parameters = new URLSearchParams(query);
  const after = parameters.get('after_id');
  const before = parameters.get('before_id');
  if (after !== null) models = models.slice(models.findIndex((model) => model.id === after) + 1);
  if (before !== null)
    models = models.slice(
      0,
      Math.max(
        0,
        models.findIndex((model) => model.id === before),
      ),
    );
  const limit = Number(parameters.get('limit'));
  const page = Number.isInteger(limit) && limit > 0 ? models.slice(0, limit) : models;
  return {
    object: 'list',
    data: page,
    has_more: page.length < models.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** The body of `GET /v1/models/{id}`. */
export function oneModel(snapshot: Snapshot, principal: Principal, id: string): object {
  const plain =
    id.startsWith('claude/') && !snapshot.routes.byName.has('claude') ? id.slice('claude/'.length) : id;
  const found = listModels(snapshot, principal).find((model) => model.id === plain);
  if (found !== undefined) return { ...found, id };
  throw new GatewayError(
    'model_not_found',
    `No connection offers the model "${id.slice(0, 200)}": GET /v1/models lists what there is`,
    {
      param: 'model',
    },
  );
}

function speaksMessages(id: string, { routes }: Snapshot): boolean {
  const route = routes.byName.get(id.slice(0, id.indexOf('/')));
  return route?.provider.formats['anthropic-messages'] !== undefined;
}

/** Claude Code offers only ids that contain "claude" or "anthropic", so the others are listed below `claude/`. */
function forModelPicker(model: ListedModel): ListedModel {
  return /claude|anthropic/i.test(model.id) ? model : { ...model, id: `claude/${model.id}` };
}
