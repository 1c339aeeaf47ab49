import { setImmediate as nextTurn } from 'node:timers/promises';
import type { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';
import { optionsOf } from '../combos/combo-row.ts';
import { type ComboRecord, defaultOptions } from '../combos/combo-schema.ts';
import { compileCombos } from '../combos/pool/compile.ts';
import type { Pool } from '../combos/pool/pool.ts';
import type { Routes } from '../combos/routing/resolve.ts';
import type { Resource, Row } from '../http/resource.ts';
import { GatewayError } from '../lib/error.ts';
import { newId } from '../lib/id.ts';
import type { Store } from '../store/database.ts';
import { comboOrder } from './combo-order.ts';
import { historyOf } from './history.ts';
import { pastRequests } from './past-requests.ts';
import { createReplay } from './replay.ts';
import { resultOf } from './result.ts';
import { MOST_REQUESTS, newSimulationInput, simulationRow } from './schema.ts';

export interface SimulationsInput {
  store: Pick<Store, 'db' | 'kind'>;
  /** The connections, combos and aliases as requests see them at this moment. */
  routes(): Routes;
  catalog(): Pick<Catalog, 'priceOf'>;
  /** Milliseconds since the epoch. */
  now(): number;
}

type Input = z.infer<typeof newSimulationInput>;

const WEEK_MS = 7 * 86_400_000;
/** The latest ones, in memory. */
const KEPT = 20;
/** Requests that are replayed before others get their turn. */
const STEP = 100;
/** No combo can have it, so it hides none. */
const DESCRIBED = 'the described combo';

/** What the requests of the last days would have cost and come to with a combo, before it is stored. Nothing is sent. */
export function simulationsResource(input: SimulationsInput): Resource {
  const simulations = new Map<string, Row>();
  return {
    name: 'simulations',
    title: 'Simulations',
    summary:
      'What past requests would have cost with a combo, and which would have failed. The latest simulations are kept in memory.',
    record: simulationRow,
    read: 'combos:read',
    list: async () => [...simulations.values()],
    find: async (id) => simulations.get(id) ?? null,
    create: {
      permission: 'combos:operate',
      perMinute: 30,
      input: newSimulationInput,
      async run(body) {
        const row = await simulate(input, newSimulationInput.parse(body));
        simulations.set(row.id, row);
        for (const id of [...simulations.keys()].slice(0, -KEPT)) simulations.delete(id);
        return { row };
      },
    },
  };
}

async function simulate({ catalog, now, routes, store }: SimulationsInput, input: Input): Promise<Row> {
  const { limit = MOST_REQUESTS, model } = input;
  const { combo, pool } = poolOf(input, routes());
  const since = input.since === undefined ? now() - WEEK_MS : Date.parse(input.since);
  const past = await pastRequests(store, { since, limit });
  const replay = createReplay({
    history: historyOf(past),
    order: comboOrder(pool, catalog()),
    maxAttempts: pool.options.maxAttempts,
  });
  for (const [index, request] of past.entries()) {
    if (index % STEP === 0) await nextTurn();
    if (model === undefined || request.requestedModel === model) replay.take(request);
  }
  const about = { strategy: pool.strategy, since, truncated: past.length >= limit };
  return {
    id: newId('sim'),
    combo,
    created_at: new Date(now()).toISOString(),
    ...resultOf(about, replay.result()),
  };
}

/** The combo as requests would see it if it were stored. @throws GatewayError for one that does not exist */
function poolOf(
  { combo, options = {}, strategy, targets }: Input,
  routes: Routes,
): { combo: string | null; pool: Pool } {
  const stored = combo === undefined ? null : storedCombo(combo, routes);
  if (stored === null && targets === undefined)
    throw new GatewayError('invalid_request', 'Name a combo, or give targets', { param: 'targets' });
  const record: ComboRecord = {
    id: stored?.id ?? DESCRIBED,
    name: stored?.name ?? DESCRIBED,
    strategy: strategy ?? stored?.strategy ?? 'priority',
    targets:
      targets?.map((one) =>
        typeof one === 'string'
          ? { target: one, weight: 1 }
          : { target: one.target, weight: one.weight ?? 1 },
      ) ??
      stored?.targets ??
      [],
    options: { ...defaultOptions, ...stored?.options, ...optionsOf(options) },
    active: false,
    createdAt: 0,
    updatedAt: 0,
  };
  const others = routes.combos.records.filter(({ name }) => name !== record.name);
  const pool = compileCombos([...others, record], routes).byName.get(record.name);
  if (pool === undefined) throw new Error('a combo that is compiled has a pool');
  return { combo: stored?.name ?? null, pool };
}

/** @throws GatewayError */
function storedCombo(idOrName: string, { combos }: Routes): ComboRecord {
  const { records } = combos;
  const combo = records.find(({ id }) => id === idOrName) ?? records.find(({ name }) => name === idOrName);
  if (combo !== undefined) return combo;
  throw new GatewayError('invalid_request', `There is no combo "${idOrName}"`, { param: 'combo' });
}
