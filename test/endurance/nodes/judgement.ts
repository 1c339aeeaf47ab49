import postgres from 'postgres';
import { windowOf } from '../../../src/budgets/window.ts';
import type { Outcome } from './client.ts';
import type { Repeated } from './events.ts';
import type { TwoNodesReport } from './report.ts';
import { growthOf, type Samples } from './usage.ts';
import type { Disturbance, Fault, World } from './world.ts';

/** By then what a receiver has got is written down as handled, also after the database was away: it is tried again every second. */
const RECORDED_MS = 3_000;
/** How much longer a gateway that was cut off has connections of before, on which nothing is answered. */
const SILENT_MS = 6_000;
/** What is missing of an answer that ended so shortly before a kill was ending just then. */
const LOST_BY_KILL_MS = 1_000;

interface Row {
  id: string;
  outcome: string;
  upstream_request_id: string | null;
}

interface Evidence {
  readonly outcomes: readonly Outcome[];
  readonly samples: Samples;
  readonly limit: number;
}

export async function judge(
  { database, disturbances, faults, timeline, upstream }: World,
  { limit, outcomes, samples }: Evidence,
): Promise<Omit<TwoNodesReport, 'processes' | 'memory' | 'events' | 'repeated' | 'repeatedByKill'>> {
  const rows = await ledgerOf(database.url);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const touches = (
    { begunAt, endedAt, node }: Outcome,
    kinds: readonly Disturbance['kind'][],
    marginMs = 0,
  ) =>
    disturbances.some(
      (one) =>
        one.node === node &&
        kinds.includes(one.kind) &&
        one.from - marginMs <= endedAt &&
        one.to + marginMs >= begunAt,
    );
  const told = ({ begunAt, detail, ending, endedAt, node, plan }: Outcome) =>
    `${plan.nonce} at gateway ${node}: ${ending} ${detail} after ${Math.round(endedAt - begunAt)} ms`;
  const wrong = outcomes.filter(({ ending }) => ending === 'wrong' || ending === 'hung');
  const unexplained = outcomes.filter(
    (one) =>
      (one.ending === 'cut' && one.plan.cutAfter === null && !touches(one, ['killed', 'worker killed'])) ||
      (one.ending === 'refused' && !touches(one, ['killed', 'stopped', 'paused', 'worker killed'], 50)),
  );
  // What was under way when its gateway was killed has not finished.
  const answered = outcomes.filter(
    (one) =>
      one.id !== null &&
      one.id !== '' &&
      (one.ending === 'cut' ? !touches(one, ['killed', 'worker killed']) : one.ending !== 'hung'),
  );
  const missing = answered.filter(({ id }) => !byId.has(id ?? ''));
  const byKill = missing.filter((one) => touches(one, ['killed', 'worker killed'], LOST_BY_KILL_MS));
  const answers = rows.flatMap(({ upstream_request_id: id }) => (id === null ? [] : [id]));
  const limited = [...upstream.arrivals].filter(([nonce]) => nonce.startsWith('limited-'));
  // A run may go on past midnight, where the budget begins anew.
  const sentByDay = Object.values(
    countsOf(limited.map(([, [at = 0]]) => String(windowOf('day').bucketAt(at)))),
  );
  return {
    requests: outcomes.length,
    endings: countsOf(outcomes.map(({ ending }) => ending)),
    errors: countsOf(
      outcomes
        .filter(({ ending }) => ending === 'error')
        // Why a model is not found is worth a look.
        .map(({ detail }) => (detail.startsWith('404') ? detail : detail.split(' ').slice(0, 2).join(' '))),
    ),
    faults,
    wrong: wrong.slice(0, 10).map(told),
    unexplained: unexplained.slice(0, 10).map(told),
    ledgerRows: rows.length,
    missing: missing.length - byKill.length,
    missingRows: missing
      .filter((one) => !byKill.includes(one))
      .slice(0, 10)
      .map((one) => `${one.id} ${told(one)}; ${faultsAround(timeline, one.endedAt, one.endedAt)}`),
    missingByKill: byKill.length,
    missingByKillRows: byKill
      .slice(0, 10)
      .map((one) => `${one.id} ${told(one)}; ${faultsAround(timeline, one.endedAt, one.endedAt)}`),
    doubledRows: rows.length - byId.size + (answers.length - new Set(answers).size),
    otherOutcome: outcomes
      .filter(({ ending, id }) => ending === 'complete' && (byId.get(id ?? '')?.outcome ?? 'ok') !== 'ok')
      .slice(0, 10)
      .map((one) => `${told(one)}: ${byId.get(one.id ?? '')?.outcome}`),
    sentTwice: outcomes.filter(
      ({ plan }) => plan.cutAfter === null && (upstream.arrivals.get(plan.nonce)?.length ?? 0) > 1,
    ).length,
    budget: {
      limit,
      sentByDay,
      overspent: sentByDay.reduce((sum, sent) => sum + Math.max(0, sent - limit), 0),
    },
    heapGrowthMiB: growthOf(samples.memory.used),
    samples: samples.memory.used.length,
  };
}

/**
 * An event that a receiver got shortly before its gateway was killed comes again: the gateway had no time to write down that it was
 * handled. While the database does not answer it has none for longer.
 */
export function judgeRepeats(
  { disturbances, timeline }: World,
  repeated: readonly Repeated[],
): Pick<TwoNodesReport, 'repeated' | 'repeatedByKill'> {
  const unexplained = repeated.filter(({ at: [first = 0, second = 0] }) => {
    let recordedBy = first + RECORDED_MS;
    for (const { from, name, to } of timeline) {
      const end = name.includes('parted') ? to + SILENT_MS : to;
      if (/database|Redis|NATS|disk/.test(name) && from <= recordedBy && end >= first)
        recordedBy = end + RECORDED_MS;
    }
    return !disturbances.some(
      ({ from, kind, to }) => kind === 'killed' && from <= Math.min(second, recordedBy) && to >= first,
    );
  });
  const told = ({ at, id, trigger }: Repeated) => {
    const [first = 0, ...more] = at;
    const again = more.map((time) => Math.round(time - first)).join(', ');
    return `${id} at ${trigger} again after ${again} ms; ${faultsAround(timeline, first, more.at(-1) ?? first)}`;
  };
  return {
    repeatedByKill: repeated.length - unexplained.length,
    repeated: unexplained.slice(0, 10).map(told),
  };
}

/** The faults from ten seconds before a time until ten seconds after another, as text, with times in milliseconds since the first. */
function faultsAround(timeline: readonly Fault[], since: number, until: number): string {
  return timeline
    .filter(({ from, to }) => from <= until + 10_000 && to >= since - 10_000)
    .map(({ from, name, to }) => `${name} from ${Math.round(from - since)} to ${Math.round(to - since)} ms`)
    .join('; ');
}

async function ledgerOf(url: string): Promise<Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await sql.unsafe<Row[]>('select id, outcome, upstream_request_id from requests'))];
  } finally {
    await sql.end({ timeout: 1 });
  }
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}
