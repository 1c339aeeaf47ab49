import { z } from 'zod';
import { keyStore } from '../../access/store.ts';
import type { Config } from '../../config.ts';
import type { ConnectionRecord } from '../../connections/schema.ts';
import { totals } from '../../ledger/report.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { collection } from '../gateway/api.ts';
import type { RunningGateway } from '../gateway/client.ts';
import { listBudgets, subjectText } from '../resources/budgets.ts';
import { connectionRecords } from '../setup/connect.ts';
import { count, dollars, duration, iso, localTime, printable } from '../terminal/text.ts';
import { version } from '../version.ts';

const dayMs = 86_400_000;

export const statusCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  about: 'Exit 0 whether or not the gateway runs; see `running` in the JSON document.',
  examples: [
    {
      command: 'gateway status --json',
      does: '{"running","url","version","keys","connections","last_24_hours",…}',
    },
  ],
  run: async (_, context) => {
    const config = await settings(context);
    const running = await context.findGateway();
    const keys = await keyCounts(context);
    const records = await connectionRecords(context);
    const problems = records.flatMap(problemOf);
    const document = {
      running: running !== null,
      url: running?.url ?? null,
      pid: running?.pid ?? null,
      version: running?.version ?? version(),
      started_at: running === null ? null : iso(running.startedAt),
      uptime_seconds: running === null ? null : Math.round((context.now() - running.startedAt) / 1000),
      data_dir: await context.dataDir(),
      auth_required: config?.authRequired ?? null,
      data_plane: running === null ? null : await dataPlane(running),
      keys,
      connections: {
        total: records.length,
        active: records.filter(({ active }) => active).length,
        failed: problems.length,
        problems,
      },
      budgets: await budgetStates(context),
      last_24_hours: await lastDay(context),
    };
    context.io.result(document, () => people(document));
    return 0;
  },
};

/** Null where `config.json` is wrong, which is reported: a running gateway keeps what it has read. */
async function settings({ config, io }: Context): Promise<Config | null> {
  try {
    return await config();
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    io.note(error.message);
    return null;
  }
}

interface Problem {
  name: string;
  status: string;
  error: string | null;
}

/** What the last test of a connection, or the opening of its credential, found wrong. */
function problemOf({ lastError, name, status }: ConnectionRecord): Problem[] {
  if (status === 'failed') return [{ name, status, error: lastError }];
  if (status !== 'needs-re-entry') return [];
  const error = 'its credential cannot be decrypted: enter it again with `gateway provider edit`';
  return [{ name, status, error }];
}

/** `running`, or why model requests are refused. */
async function dataPlane(gateway: RunningGateway): Promise<string> {
  const services = z.array(z.object({ id: z.string(), state: z.string() }));
  const all = services.parse(await collection(gateway, 'services'));
  return all.find(({ id }) => id === 'data-plane')?.state ?? 'unknown';
}

async function keyCounts(context: Context): Promise<{ total: number; usable: number }> {
  const store = await context.existingStore();
  return store === null ? { total: 0, usable: 0 } : keyStore(store, context.now).counts();
}

/** A budget that is used beyond its threshold. */
interface ReachedBudget {
  id: string;
  /** What it is of: `team core`. */
  of: string;
  metric: string;
  period: string | null;
  state: 'soft' | 'used_up';
  used_percent: number;
  /** When it was reached; null where that is not known. */
  reached_at: string | null;
  resets_at: string | null;
}

async function budgetStates(context: Context): Promise<StatusDocument['budgets']> {
  const budgets = await listBudgets(context);
  const reached = budgets.flatMap((budget): ReachedBudget[] => {
    const { id, metric, period, resets_at, state, used_percent } = budget;
    if (state === 'ok') return [];
    const reached_at = state === 'soft' ? budget.soft_reached_at : budget.limit_reached_at;
    return [{ id, of: subjectText(budget), metric, period, state, used_percent, reached_at, resets_at }];
  });
  return { total: budgets.length, reached };
}

interface StatusDocument {
  running: boolean;
  url: string | null;
  pid: number | null;
  version: string;
  uptime_seconds: number | null;
  data_dir: string;
  keys: { total: number; usable: number };
  data_plane: string | null;
  connections: { total: number; active: number; failed: number; problems: readonly Problem[] };
  /** All budgets, and those that are used beyond their threshold. */
  budgets: { total: number; reached: readonly ReachedBudget[] };
  last_24_hours: {
    requests: number;
    failed: number;
    aborted: number;
    input_tokens: number;
    output_tokens: number;
    /** Null: there were requests, and none has a known cost. */
    cost_usd: number | null;
    /** What the providers' prompt caches saved, less what storing in them cost; null: not known. */
    cache_savings_usd: number | null;
    /** Requests whose cost is not known, and their input and output tokens. */
    unpriced: number;
    unpriced_tokens: number;
  };
}

function budgetLine({
  metric,
  of,
  period,
  reached_at,
  resets_at,
  state,
  used_percent,
}: ReachedBudget): string {
  const since = reached_at === null ? '' : ` since ${localTime(Date.parse(reached_at))}`;
  const until = resets_at === null ? '' : `, resets ${localTime(Date.parse(resets_at))}`;
  const per = period === null ? '' : ` per ${period}`;
  const what = state === 'soft' ? `${used_percent} % used` : 'used up';
  return `  ${printable(of)}, ${metric}${per}: ${what}${since}${until}`;
}

function people(status: StatusDocument): string {
  const { budgets, keys, connections, last_24_hours: day } = status;
  const head = status.running
    ? `Running at ${status.url}, version ${status.version}, pid ${status.pid}, up ${duration((status.uptime_seconds ?? 0) * 1000)}`
    : 'Not running: start it with `gateway serve`';
  const stopped = status.data_plane !== null && status.data_plane !== 'running';
  return [
    head,
    ...(stopped ? [`Model requests are refused: the data plane is ${status.data_plane}`] : []),
    `Data directory   ${status.data_dir}`,
    `Gateway keys     ${keys.total} (${keys.usable} usable)`,
    `Connections      ${connections.total} (${connections.active} active, ${connections.failed} with a problem)`,
    ...connections.problems.map(({ error, name }) => `  ${printable(name)}: ${printable(error ?? 'failed')}`),
    ...(budgets.total === 0
      ? []
      : [`Budgets          ${budgets.total} (${budgets.reached.length} near or at the limit)`]),
    ...budgets.reached.map(budgetLine),
    `Last 24 hours    ${count(day.requests, 'request')}, ${day.failed} failed, ${spent(day)}`,
  ].join('\n');
}

/** What is known of the cost, and how much is not. */
function spent(day: StatusDocument['last_24_hours']): string {
  const { cache_savings_usd: saved, cost_usd, unpriced, unpriced_tokens } = day;
  const caches = saved === null || saved <= 0 ? '' : ` (prompt caches saved ${dollars(saved)})`;
  if (unpriced === 0) return `${dollars(cost_usd)}${caches}`;
  return `${dollars(cost_usd)} and ${count(unpriced, 'request')} (${count(unpriced_tokens, 'token')}) of unknown cost${caches}`;
}

const nothing = {
  requests: 0,
  failed: 0,
  aborted: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  cache_savings_usd: 0,
  unpriced: 0,
  unpriced_tokens: 0,
};

/** What the ledger counted in the last 24 hours. */
async function lastDay(context: Context): Promise<StatusDocument['last_24_hours']> {
  const store = await context.existingStore();
  if (store === null) return nothing;
  const counted = await totals(store, { since: context.now() - dayMs });
  return {
    requests: counted.requests,
    failed: counted.failed,
    aborted: counted.aborted,
    input_tokens: counted.inputTokens,
    output_tokens: counted.outputTokens,
    cost_usd: counted.costUsd,
    cache_savings_usd: counted.cacheSavingsUsd,
    unpriced: counted.unpriced,
    unpriced_tokens: counted.unpricedTokens,
  };
}
