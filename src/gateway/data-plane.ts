import type { Agents } from '../agents/open.ts';
import type { AgentRegistry } from '../agents/registry/open.ts';
import { usedKeyLimits } from '../budgets/used-key-limits.ts';
import { cacheShare, createAnswerCache } from '../cache/answers.ts';
import { createRouting } from '../combos/routing/routing.ts';
import type { Config } from '../config.ts';
import { keyUsageBy, usageOfKey } from '../ledger/key-usage.ts';
import { randomText } from '../lib/id.ts';
import { createSteadyClock } from '../lib/time/clock.ts';
import { traceparentOf } from '../proxy/metering/entry.ts';
import { createUpstreamQuirks } from '../proxy/quirks/upstream-quirks.ts';
import type { SurfaceContext } from '../proxy/surface.ts';
import type { openRecords } from '../records.ts';
import type { openSnapshots } from '../state.ts';
import type { Store } from '../store/database.ts';
import type { AccessLog } from '../telemetry/access-log.ts';
import type { OpenTelemetry } from '../telemetry/otlp/open.ts';
import { latePlaces, lateResponses } from '../workers/late-responses.ts';
import type { WorkerPool } from './worker-pool.ts';

export interface DataPlaneInput
  extends Pick<
    SurfaceContext,
    'accounts' | 'gate' | 'hosts' | 'instance' | 'pools' | 'record' | 'tokens' | 'watch'
  > {
  config: Config;
  store: Store;
  snapshots: Pick<Awaited<ReturnType<typeof openSnapshots>>, 'current' | 'limits'>;
  ledger: Pick<Awaited<ReturnType<typeof openRecords>>['ledger'], 'replaceEstimate'>;
  responses: Pick<SurfaceContext, 'places'> & { memory: SurfaceContext['responses'] };
  agents: Pick<Agents, 'ask'>;
  agentRegistry: Pick<AgentRegistry, 'check'>;
  /** Null where nothing is sent by OTLP. */
  otel: Pick<OpenTelemetry, 'traceparent'> | null;
  /** Null where requests are not logged. */
  access: Pick<AccessLog, 'identify'> | null;
  pool: WorkerPool;
}

/** What the data plane of this process works with. What workers have answered a moment ago is taken in before it is read. */
export function createDataPlaneContext(input: DataPlaneInput): SurfaceContext {
  const { access, agentRegistry, agents, config, ledger, otel, pool, responses, snapshots, store } = input;
  const { accounts, gate, hosts, instance, pools, record, tokens, watch } = input;
  const flushWorkers = async () => pool.workers?.flush();
  return {
    config,
    snapshot: snapshots.current,
    routing: createRouting({
      healthView: accounts,
      random: Math.random,
      now: Date.now,
      onAffinityEntry: (session, entry) => pool.workers?.tell({ kind: 'session', place: { session, entry } }),
    }),
    pools,
    watch,
    answers: createAnswerCache({ ...cacheShare(config), now: createSteadyClock() }),
    ...createUpstreamQuirks(),
    limits: snapshots.limits,
    tokens,
    accounts,
    record,
    onIdentified: ({ request }, { keyId, name }) => access?.identify(request, keyId, name),
    async usageOf(keyId, since) {
      await flushWorkers();
      return {
        ...(await usageOfKey(store, keyId, since)),
        limits: await usedKeyLimits(store, snapshots.limits, keyId, Date.now()),
      };
    },
    usageBy: (keyId, query) => keyUsageBy(store, keyId, query),
    async replaceEstimate(id, useOf) {
      await flushWorkers();
      return ledger.replaceEstimate(id, useOf);
    },
    handover: null,
    gate,
    askAgent(request) {
      agentRegistry.check(request);
      return agents.ask(request);
    },
    responses: config.workers > 1 ? lateResponses(responses.memory, flushWorkers) : responses.memory,
    places: config.workers > 1 ? latePlaces(responses.places, flushWorkers) : responses.places,
    hosts,
    traceparent:
      otel === null || config.otel?.traces === null
        ? null
        : (exchange, attempt) => otel.traceparent(exchange.id, traceparentOf({ exchange }), attempt),
    instance,
    now: Date.now,
    owner: { key: `sk-local-${randomText(32)}`, principal: { keyId: 'local', name: 'local', models: null } },
  };
}
