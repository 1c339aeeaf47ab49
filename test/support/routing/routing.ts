import { keyIndexOf } from '../../../src/access/keys/key-index.ts';
import { createCatalog } from '../../../src/catalog/catalog.ts';
import { type ComboRecord, type ComboTarget, defaultOptions } from '../../../src/combos/combo-schema.ts';
import type { Routes } from '../../../src/combos/routing/resolve.ts';
import { createRouting, type RoutingPlan, type RoutingRequest } from '../../../src/combos/routing/routing.ts';
import type { OpenConnection } from '../../../src/connections/schema.ts';
import type { HealthView } from '../../../src/health/health-view.ts';
import { buildSnapshot } from '../../../src/snapshot.ts';

/** Every account is ready, and nothing more is known of any. */
export const nothingKnown: HealthView = {
  conditionOf: () => ({ state: 'ready' }),
  inFlight: () => 0,
  recentUse: () => 0,
  latencyMs: () => null,
  latencyAgeMs: () => null,
  headroom: () => null,
};

/** A connection of that name and id at a provider. */
export function connectionAt(
  name: string,
  provider = 'openai-compatible',
  patch: Partial<OpenConnection> = {},
): OpenConnection {
  return {
    id: `id-${name}`,
    provider,
    name,
    authType: 'none',
    baseUrl: 'http://127.0.0.1:9',
    defaultModel: null,
    active: true,
    priority: 0,
    cacheMarks: true,
    billing: 'metered',
    models: null,
    modelsAt: null,
    modelsTriedAt: null,
    modelsError: null,
    status: 'untested',
    lastError: null,
    lastTestedAt: null,
    createdAt: 0,
    credential: null,
    ...patch,
  };
}

/** A combo of these targets; `x@3` has the weight 3. */
export function comboOf(
  name: string,
  targets: readonly string[],
  { options = {}, ...patch }: Partial<Omit<ComboRecord, 'options'>> & { options?: object } = {},
): ComboRecord {
  return {
    id: `id-${name}`,
    name,
    strategy: 'priority',
    targets: targets.map(targetOf),
    active: false,
    createdAt: 0,
    updatedAt: 0,
    ...patch,
    options: { ...defaultOptions, ...options },
  };
}

function targetOf(text: string): ComboTarget {
  const [target = '', weight = '1'] = text.split('@');
  return { target, weight: Number(weight) };
}

export interface World {
  connections?: readonly OpenConnection[];
  combos?: readonly ComboRecord[];
  /** Name → target. */
  aliases?: Readonly<Record<string, string>>;
}

/** What requests see of a gateway with these connections, combos and aliases. */
export function routesOf({ aliases = {}, combos = [], connections = [] }: World): Routes {
  return buildSnapshot({
    keys: keyIndexOf([]),
    connections,
    combos,
    catalog: createCatalog({ overrides: {} }),
    revision: 1,
    aliases: Object.entries(aliases).map(([name, target]) => ({
      id: `id-${name}`,
      name,
      target,
      createdAt: 0,
    })),
  }).routes;
}

export const anyone = { keyId: 'key', name: 'test', models: null };

export interface Asking extends Partial<Omit<RoutingRequest, 'body'>> {
  body?: unknown;
}

/** Plans requests for one world, with a clock that stands still. */
export function planner(
  world: World,
  healthView: Partial<HealthView> = {},
  random: () => number = () => 0.5,
) {
  const routes = routesOf(world);
  const routing = createRouting({
    healthView: { ...nothingKnown, ...healthView },
    random,
    now: () => 1_000_000,
  });
  return (requested: string, { body, ...asking }: Asking = {}): RoutingPlan =>
    routing.plan(routes, {
      requested,
      format: 'openai-chat',
      principal: anyone,
      headers: {},
      ...asking,
      body: body === undefined ? [] : [Buffer.from(JSON.stringify(body))],
    });
}

/** `connection/model` of each target. */
export function places({ targets }: Pick<RoutingPlan, 'targets'>): string[] {
  return targets.map(({ connection, model }) => `${connection.name}/${model}`);
}
