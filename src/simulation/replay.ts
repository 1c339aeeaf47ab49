import { createHash } from 'node:crypto';
import type { Usage } from '../codecs/wire-format.ts';
import type { HealthView } from '../health/health-view.ts';
import { outputTokens } from '../ledger/buckets.ts';
import { type History, percentile } from './history.ts';
import { ownTimes, type PastRequest, upstreamFailed } from './past-request.ts';
import { simulatedHealthView } from './simulated-health-view.ts';

/** A target as a replay sees it. */
export interface ReplayTarget {
  connectionId: string;
  connection: string;
  provider: string;
  model: string;
  /** USD; null when no price is known. */
  costOf(usage: Usage, at: number): number | null;
}

/** What a combo would have received of a past request. */
export interface ReplayMoment {
  healthView: HealthView;
  /** From 0 up to, but not including, 1; the same for the same request each time. */
  random(): number;
}

export interface ReplayInput {
  /** Oldest first. */
  past: readonly PastRequest[];
  history: History;
  /** The targets in the order in which they would have been tried; none when the request could not have gone there. */
  order(request: PastRequest, moment: ReplayMoment): readonly ReplayTarget[];
  maxAttempts: number;
}

/** What some requests came to. Money in USD, durations in milliseconds. */
export interface ReplayOutcome {
  requests: number;
  failed: number;
  /** Attempts that led to another target. */
  fallbacks: number;
  /** Null when no cost is known. */
  costUsd: number | null;
  /** Requests without a known cost. */
  unpriced: number;
  p50Ms: number | null;
  p95Ms: number | null;
  ttftP50Ms: number | null;
  /** Requests whose duration is not known, because their target never answered before. */
  untimed: number;
}

export interface TargetShare extends Omit<ReplayTarget, 'costOf'> {
  requests: number;
  costUsd: number | null;
  /** Requests in the ledger that its failures and durations are taken from. */
  basedOn: number;
  failureRate: number | null;
}

export interface Replay {
  actual: ReplayOutcome;
  simulated: ReplayOutcome;
  /** Most used first. */
  targets: readonly TargetShare[];
  /** Requests that none of the combo's targets could have taken. */
  leftOut: number;
  /** Requests that would have gone where they went: their real outcome is what counts. */
  unchanged: number;
}

/**
 * Sends past requests to another combo, on paper: the same requests at the same times with the same usage. A target
 * that really served a request gets its real outcome. Another one gets its price for that usage, and fails and takes
 * its time as it did in the ledger on the whole. The same ledger gives the same result each time.
 */
export function replay({ past, ...input }: ReplayInput): Replay {
  const replaying = createReplay(input);
  for (const request of past) replaying.take(request);
  return replaying.result();
}

/** A replay that is handed its requests one by one, oldest first, so that others may have their turn in between. */
export function createReplay({ history, maxAttempts, order }: Omit<ReplayInput, 'past'>) {
  const [actual, simulated] = [tally(), tally()];
  const shares = new Map<string, TargetShare>();
  const world = simulatedHealthView(history);
  let leftOut = 0;
  let unchanged = 0;
  return {
    take(request: PastRequest): void {
      const random = seededBy(request.id);
      world.moveTo(request.startedAt);
      const targets = order(request, { healthView: world.healthView, random }).slice(0, maxAttempts);
      if (targets.length === 0) {
        leftOut += 1;
        return;
      }
      count(actual, asItWas(request));
      const { target, ...went } = attempt(request, targets, history, random);
      count(simulated, went);
      if (target === null) return;
      if (served(request, target)) unchanged += 1;
      world.begin(target.connectionId, request.startedAt, went.durationMs ?? 0);
      share(shares, target, went.costUsd, history);
    },
    result(): Replay {
      const targets = [...shares.values()].sort((a, b) => b.requests - a.requests);
      return { actual: outcomeOf(actual), simulated: outcomeOf(simulated), targets, leftOut, unchanged };
    },
  };
}

interface RequestResult {
  failed: boolean;
  fallbacks: number;
  costUsd: number | null;
  durationMs: number | null;
  ttftMs: number | null;
}

function asItWas({ attempts, costUsd, durationMs, outcome, ttftMs, usage }: PastRequest): RequestResult {
  const failed = outcome === 'failed';
  // One that failed before anything was used cost nothing.
  const cost = failed && usage === null ? 0 : costUsd;
  return { failed, fallbacks: Math.max(0, attempts - 1), costUsd: cost, durationMs, ttftMs };
}

function served({ connectionId, model }: PastRequest, target: ReplayTarget): boolean {
  return target.connectionId === connectionId && target.model === model;
}

function attempt(
  request: PastRequest,
  targets: readonly ReplayTarget[],
  history: History,
  random: () => number,
): RequestResult & { target: ReplayTarget | null } {
  const { startedAt, usage } = request;
  let waitedMs = 0;
  for (const [index, target] of targets.entries()) {
    const experience = history.of(target);
    const same = served(request, target);
    const failedMs = failureOf(request, target, experience, random());
    if (failedMs !== null) {
      waitedMs += failedMs;
      continue;
    }
    const costUsd = same ? request.costUsd : usage === null ? null : target.costOf(usage, startedAt);
    const own = ownTimes(request);
    const [ttft, whole] = same
      ? [own.ttftMs, own.durationMs]
      : [experience?.ttftMs ?? null, expected(experience, usage)];
    return {
      target,
      failed: false,
      fallbacks: index,
      costUsd,
      durationMs: whole === null ? null : waitedMs + whole,
      ttftMs: ttft === null ? null : waitedMs + ttft,
    };
  }
  const fallbacks = targets.length - 1;
  return { target: null, failed: true, fallbacks, costUsd: 0, durationMs: waitedMs, ttftMs: null };
}

/** After how long the request fails there; null when it does not. What really happened to it counts before what is likely. */
function failureOf(
  request: PastRequest,
  target: ReplayTarget,
  history: ReturnType<History['of']>,
  drawn: number,
): number | null {
  const { connectionId, model } = target;
  const there = (request.failedAt ?? []).filter(
    (attempt) => attempt.connectionId === connectionId && attempt.model === model,
  );
  if (served(request, target) && request.outcome !== 'failed') return null;
  if (there.length > 0) return there.reduce((sum, { durationMs }) => sum + durationMs, 0);
  if (served(request, target)) return upstreamFailed(request) ? request.durationMs : null;
  return history !== null && drawn < history.failureRate ? history.failureMs : null;
}

function expected(history: ReturnType<History['of']>, usage: Usage | null): number | null {
  if (history === null || history.ttftMs === null || history.msPerToken === null || usage === null)
    return null;
  return history.ttftMs + history.msPerToken * outputTokens(usage);
}

interface Tally {
  requests: number;
  failed: number;
  fallbacks: number;
  costUsd: number;
  priced: number;
  durations: number[];
  ttfts: number[];
}

const tally = (): Tally => ({
  requests: 0,
  failed: 0,
  fallbacks: 0,
  costUsd: 0,
  priced: 0,
  durations: [],
  ttfts: [],
});

function count(sums: Tally, { costUsd, durationMs, failed, fallbacks, ttftMs }: RequestResult): void {
  sums.requests += 1;
  sums.fallbacks += fallbacks;
  if (failed) sums.failed += 1;
  if (costUsd !== null) {
    sums.costUsd += costUsd;
    sums.priced += 1;
  }
  if (durationMs !== null) sums.durations.push(durationMs);
  if (ttftMs !== null) sums.ttfts.push(ttftMs);
}

function outcomeOf({ costUsd, durations, failed, fallbacks, priced, requests, ttfts }: Tally): ReplayOutcome {
  return {
    requests,
    failed,
    fallbacks,
    costUsd: priced === 0 ? null : costUsd,
    unpriced: requests - priced,
    p50Ms: percentile(durations, 0.5),
    p95Ms: percentile(durations, 0.95),
    ttftP50Ms: percentile(ttfts, 0.5),
    untimed: requests - durations.length,
  };
}

function share(
  shares: Map<string, TargetShare>,
  target: ReplayTarget,
  costUsd: number | null,
  history: History,
): void {
  const { connection, connectionId, model, provider } = target;
  const key = `${connectionId}/${model}`;
  const experience = history.of(target);
  const sums = shares.get(key) ?? {
    connectionId,
    connection,
    provider,
    model,
    requests: 0,
    costUsd: null,
    basedOn: experience?.requests ?? 0,
    failureRate: experience?.failureRate ?? null,
  };
  const cost = costUsd === null ? sums.costUsd : (sums.costUsd ?? 0) + costUsd;
  shares.set(key, { ...sums, requests: sums.requests + 1, costUsd: cost });
}

/** Numbers that look random and depend on the text alone (mulberry32, seeded by a hash). */
function seededBy(text: string): () => number {
  let state = createHash('sha256').update(text).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
