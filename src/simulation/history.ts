import { msPerToken, ownTimes, type PastRequest, upstreamFailed } from './past-request.ts';

/** How a target did, as far as the ledger shows. Durations in milliseconds; null where nothing is known. */
export interface TargetStatistics {
  requests: number;
  /** Share of its requests that failed by its own fault. */
  failureRate: number;
  ttftMs: number | null;
  msPerToken: number | null;
  /** How long it took to fail. */
  failureMs: number;
}

export interface History {
  /** What is known of a model at a connection; where that never answered, of the model at its provider. Null: nothing. */
  of(target: Target): TargetStatistics | null;
}

/** Of so many requests, the latest, a median is made. */
const KEPT = 512;

interface Record {
  requests: number;
  failures: number;
  ttft: number[];
  pace: number[];
  failureMs: number[];
}

/** Gathers what `past` says of each target. */
export function historyOf(past: Iterable<PastRequest>): History {
  const records = new Map<string, Record>();
  const note = (target: Target, event: Event) => {
    for (const key of [atConnection(target.connectionId, target.model), atProvider(target)]) {
      const record = records.get(key) ?? { requests: 0, failures: 0, ttft: [], pace: [], failureMs: [] };
      records.set(key, record);
      count(record, event);
    }
  };
  for (const request of past) {
    const { connectionId, durationMs, failedAt, model, outcome, provider } = request;
    for (const attempt of failedAt ?? []) note(attempt, { failedMs: attempt.durationMs });
    if (connectionId === null || model === null || provider === null) continue;
    // One that the caller left, or made wrong, says nothing of the target.
    if (outcome === 'ok') note({ connectionId, model, provider }, { answered: request });
    else if (failedAt === null && upstreamFailed(request))
      note({ connectionId, model, provider }, { failedMs: durationMs });
  }
  const experiences = new Map([...records].map(([key, record]) => [key, experienceOf(record)]));
  return {
    of: (target) =>
      experiences.get(atConnection(target.connectionId, target.model)) ??
      experiences.get(atProvider(target)) ??
      null,
  };
}

interface Target {
  connectionId: string;
  provider: string;
  model: string;
}

type Event = { failedMs: number } | { answered: PastRequest };

const atConnection = (id: string, model: string): string => `connection ${id} ${model}`;
const atProvider = ({ model, provider }: Target): string => `provider ${provider} ${model}`;

function count(record: Record, event: Event): void {
  const index = record.requests % KEPT;
  record.requests += 1;
  if ('failedMs' in event) {
    record.failureMs[record.failures % KEPT] = event.failedMs;
    record.failures += 1;
    return;
  }
  const { ttftMs } = ownTimes(event.answered);
  if (ttftMs !== null) record.ttft[index] = ttftMs;
  const each = msPerToken(event.answered);
  if (each !== null) record.pace[index] = each;
}

function experienceOf({ failureMs, failures, pace: paces, requests, ttft }: Record): TargetStatistics {
  return {
    requests,
    failureRate: failures / requests,
    ttftMs: percentile(ttft, 0.5),
    msPerToken: percentile(paces, 0.5),
    failureMs: percentile(failureMs, 0.5) ?? 0,
  };
}

/** The value below which the share `part` of the values lies (nearest rank); null for none. Holes are passed over. */
export function percentile(values: readonly number[], part: number): number | null {
  const sorted = Float64Array.from(values.filter(() => true)).sort();
  if (sorted.length === 0) return null;
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? null;
}
