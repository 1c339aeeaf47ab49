import { both, type Lane, loopJob, measure } from '../lane.ts';
import type { Plan, RequestSize } from '../plan.ts';

const one: Plan = {
  kind: 'json',
  client: 'chat',
  upstream: 'chat',
  request: '1k',
  modelAt: 'first',
  answerBytes: 1_200,
};

/** From exec to the last byte of the first answer. */
const coldLane: Lane = {
  id: 'cold',
  rows: [
    {
      metric: 'first',
      title: 'cold start to the first answer',
      unit: 'ms',
      digits: 0,
      target: { kind: 'added', max: 120 },
    },
    { metric: 'cpu', title: 'CPU of a cold start', unit: 'ms', digits: 0, target: null },
  ],
  plans: [one],
  fresh: true,
  sides: both,
  rounds: (scale) => scale.coldStarts,
  async sample(side, { load }) {
    const { latency } = await load.loop(loopJob(side, one, { connections: 1, count: 1, seconds: 10 }));
    const cpu = (await side.subject?.cpu()) ?? 0;
    return { first: (side.subject?.readyMs ?? 0) + latency.p50 / 1_000, cpu: cpu / 1_000 };
  },
};

/** The same of an installation's first start, which has to compile everything. */
const firstStartLane: Lane = {
  ...coldLane,
  id: 'first-start',
  compiled: false,
  rows: coldLane.rows.map((row) => ({ ...row, title: `${row.title}, nothing compiled`, target: null })),
};

/** Resident memory of a new process: after one request, and with streams open that get one frame a second. */
function memoryLane(): Lane {
  const held: Plan = {
    kind: 'sse',
    client: 'chat',
    upstream: 'chat',
    request: '1k',
    modelAt: 'first',
    frames: 60,
    intervalMs: 1_000,
    textBytes: 24,
    framesPerWrite: 1,
  };
  return {
    id: 'memory',
    rows: [
      {
        metric: 'idle',
        title: 'memory when idle',
        unit: 'MB',
        digits: 1,
        target: { kind: 'ratio', max: 1.1 },
      },
      {
        metric: 'open',
        title: 'memory with the streams open',
        unit: 'MB',
        digits: 1,
        target: null,
      },
      {
        metric: 'each',
        title: 'memory per open stream',
        unit: 'KB',
        digits: 1,
        target: { kind: 'ratio', max: 1.1 },
      },
    ],
    plans: [one, held],
    fresh: true,
    sides: both,
    rounds: (scale) => Math.min(3, scale.rounds),
    async sample(side, { load, scale }) {
      await load.loop(loopJob(side, one, { connections: 1, count: 1, seconds: 10 }));
      const idle = (await side.subject?.rss()) ?? 0;
      const { connections: _, seconds: __, ...base } = loopJob(side, held, { connections: 0, seconds: 0 });
      const { release } = await load.hold({ ...base, kind: 'hold', streams: scale.streams });
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      const open = (await side.subject?.rss()) ?? 0;
      await release();
      return { idle: idle / 1e6, open: open / 1e6, each: (open - idle) / 1e3 / scale.streams };
    },
  };
}

/** What the first 1,000 requests of a process cost it, while the compiler has yet to see its code; the start is not counted. */
function firstRequestsLane(request: RequestSize, title: string): Lane {
  const plan: Plan = { ...one, request };
  const count = 1_000;
  return {
    id: `first-1000-${request}`,
    rows: [
      {
        metric: 'cpu',
        title: `CPU per request, first 1,000, ${title} body`,
        unit: 'µs',
        digits: 0,
        target: { kind: 'ratio', max: 1.3 },
      },
    ],
    plans: [plan],
    fresh: true,
    sides: both,
    rounds: (scale) => scale.coldStarts,
    async sample(side, context) {
      const job = loopJob(side, plan, { connections: 8, count, seconds: 60 });
      const { cpuMicros } = await measure(side, context, job);
      return { cpu: cpuMicros / count };
    },
  };
}

/** They want the core for themselves. */
export const processLanes: readonly Lane[] = [
  coldLane,
  firstStartLane,
  memoryLane(),
  firstRequestsLane('1k', '1 KB'),
  firstRequestsLane('30k', '30 KB'),
];
