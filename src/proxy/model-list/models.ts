import type { Principal } from '../../access/authenticate.ts';
import { allowsModel } from '../../access/keys/allowed-models.ts';
import type { Abilities } from '../../catalog/abilities.ts';
import type { ModelInfo } from '../../catalog/model-info.ts';
import { offeredModels } from '../../catalog/offered.ts';
import type { ModelPrice, Rate } from '../../catalog/price.ts';
import { allowsListedName, factsOfName, type ListedName, listedNames } from '../../combos/routing/listed.ts';
import type { Route } from '../../combos/routing/resolve.ts';
import { answeredFormat } from '../../combos/target.ts';
import { GatewayError } from '../../lib/error.ts';
import { plainDecimal } from '../../lib/trailing.ts';
import type { Snapshot } from '../../snapshot.ts';

/**
 * One listed model in the shape that serves OpenAI's, Anthropic's and Claude Code's readers at once. Its size, price and
 * abilities stand where OpenRouter's list has them, which many tools read.
 */
export interface ListedModel {
  id: string;
  object: 'model';
  type: 'model';
  display_name: string;
  created: number;
  created_at: string;
  owned_by: string;
  /** Tokens, under both names that clients look for. */
  context_window: number | null;
  context_length: number | null;
  /** What it takes; missing where that is not known. */
  architecture?: { input_modalities: readonly string[]; output_modalities?: readonly string[] };
  supported_parameters?: string[];
  /** The most tokens of output; missing where that is not known. */
  top_provider?: { context_length: number | null; max_completion_tokens: number };
  /** `true` when the model is no longer offered to new clients. */
  deprecated?: true;
  /** USD per token, as decimal text, before any tier; null when no price is known. */
  pricing: Readonly<Record<string, string>> | null;
}

interface ListEntry {
  model: ListedModel;
  /** Whether it is listed for clients of the messages format, who are shown what speaks it. */
  anthropic: boolean;
}

/** Every id that `principal` may ask for: combos and aliases, and each model as `connection/model`. All of them route. */
export function listModels(snapshot: Snapshot, principal: Principal): ListedModel[] {
  return listed(snapshot, principal).map(({ model }) => model);
}

/** @param at when prices are to hold, in milliseconds since the epoch */
function listed(snapshot: Snapshot, principal: Principal, at: number = Date.now()): ListEntry[] {
  const entries: ListEntry[] = [];
  for (const name of listedNames(snapshot.routes)) {
    const reaches = ({ provider }: Route) => answeredFormat(provider, 'anthropic-messages') !== null;
    const anthropic = name.pool.candidates.some(reaches);
    if (allowsListedName(principal, name)) entries.push({ model: describeName(name, at), anthropic });
  }
  const seen = new Set<string>();
  for (const route of snapshot.routes.ordered) {
    const anthropic = route.provider.formats['anthropic-messages'] !== undefined;
    for (const model of offeredModels(route.connection, route.provider, snapshot.catalog)) {
      const id = `${route.connection.name}/${model}`;
      if (seen.has(id) || !mayRun(principal, route, model)) continue;
      seen.add(id);
      entries.push({ model: describe(id, model, route, snapshot, at), anthropic });
    }
  }
  return entries;
}

function mayRun({ models }: Principal, { connection, provider }: Route, model: string): boolean {
  return (
    models === null || allowsModel(models, { connection: connection.name, provider: provider.id, model })
  );
}

interface Facts {
  id: string;
  name: string;
  owner: string;
  createdAt: number;
  contextWindow: number | null;
  info: ModelInfo | null;
  abilities: Abilities;
  price: ModelPrice | null;
}

function describe(id: string, model: string, route: Route, { catalog }: Snapshot, at: number): ListedModel {
  const { connection, provider } = route;
  const described = catalog.describe(provider, model);
  const name = described?.name ?? model;
  return rowOf({
    id,
    name: provider.category === 'demo' ? `${name} (built-in demo)` : `${name} (${connection.name})`,
    owner: provider.id,
    createdAt: connection.createdAt,
    contextWindow: described?.contextWindow ?? null,
    info: described,
    abilities: catalog.abilities(provider, model),
    price: catalog.priceOf(provider, model, at),
  });
}

/** A combo takes what each of its targets takes, and costs what the one costs that answers. */
function describeName(listed: ListedName, at: number): ListedModel {
  const { createdAt, id, kind, pool } = listed;
  const all = pool.candidates.map((candidate) => candidate.abilities());
  return rowOf({
    id,
    name: `${id} (${kind === 'auto' ? `combo ${pool.name}` : kind})`,
    owner: 'modelgate',
    createdAt,
    ...factsOfName(listed, at),
    info: null,
    abilities: { ...common(all, 'images'), ...common(all, 'tools') },
  });
}

function common(all: readonly Abilities[], ability: keyof Abilities): Abilities {
  if (all.some((one) => one[ability] === false)) return { [ability]: false };
  return all.every((one) => one[ability] === true) ? { [ability]: true } : {};
}

function rowOf({ abilities, contextWindow, createdAt, id, info, name, owner, price }: Facts): ListedModel {
  const parameters = parametersOf(abilities, info);
  return {
    id,
    object: 'model',
    type: 'model',
    display_name: name,
    created: Math.floor(createdAt / 1000),
    created_at: new Date(createdAt).toISOString(),
    owned_by: owner,
    context_window: contextWindow,
    context_length: contextWindow,
    ...architectureOf(abilities, info),
    ...(parameters.length > 0 && { supported_parameters: parameters }),
    ...(typeof info?.outputLimit === 'number' && {
      top_provider: { context_length: contextWindow, max_completion_tokens: info.outputLimit },
    }),
    ...(info?.deprecated === true && { deprecated: true as const }),
    pricing: price === null ? null : pricesOf(price),
  };
}

function architectureOf({ images }: Abilities, info: ModelInfo | null): Pick<ListedModel, 'architecture'> {
  const input = info?.inputModalities ?? null;
  const output = info?.outputModalities ?? null;
  if (input === null && images === undefined) return {};
  return {
    architecture: {
      input_modalities: input ?? (images ? ['text', 'image'] : ['text']),
      ...(output !== null && { output_modalities: output }),
    },
  };
}

function parametersOf({ tools }: Abilities, info: ModelInfo | null): string[] {
  return [
    ...(tools === true ? ['tools', 'tool_choice'] : []),
    ...(info?.reasoning === true ? ['reasoning'] : []),
    ...(info?.structuredOutput === true ? ['structured_outputs'] : []),
  ];
}

function pricesOf({
  audioInput,
  cacheRead,
  cacheWrite5m,
  input,
  output,
  reasoning,
}: ModelPrice): Record<string, string> {
  const rates = {
    prompt: input,
    completion: output,
    input_cache_read: cacheRead ?? null,
    input_cache_write: cacheWrite5m ?? null,
    audio: audioInput ?? null,
    internal_reasoning: reasoning ?? null,
  };
  return Object.fromEntries(
    Object.entries(rates).flatMap(([name, rate]) => (rate === null ? [] : [[name, perToken(rate)]])),
  );
}

/** From USD per million, without the exponent and the noise of floating point. */
function perToken(rate: Rate): string {
  const base = typeof rate === 'number' ? rate : rate.base;
  return plainDecimal(base / 1_000_000, 12);
}

export interface ListQuery {
  /** True when the client sent `anthropic-version`: only what its format reaches is listed. */
  anthropic: boolean;
  query: string;
}

/** The body of `GET /v1/models`: OpenAI's list with Anthropic's paging fields (`limit`, `after_id`, `before_id`). */
export function modelList(snapshot: Snapshot, principal: Principal, { anthropic, query }: ListQuery): object {
  const all = listed(snapshot, principal);
  let models = anthropic
    ? all.filter((one) => one.anthropic).map(({ model }) => forModelPicker(model))
    : all.map(({ model }) => model);
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
  const model = listModels(snapshot, principal).find((model) => model.id === plain);
  if (model !== undefined) return { ...model, id };
  throw new GatewayError(
    'model_not_found',
    `No connection offers the model "${id.slice(0, 200)}": GET /v1/models lists what there is`,
    {
      param: 'model',
    },
  );
}

/** Claude Code offers only ids that contain "claude" or "anthropic", so the others are listed below `claude/`. */
function forModelPicker(model: ListedModel): ListedModel {
  return /claude|anthropic/i.test(model.id) ? model : { ...model, id: `claude/${model.id}` };
}
