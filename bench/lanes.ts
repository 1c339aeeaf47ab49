import { all, both, type Lane, loopJob, measure, type Side } from './lane.ts';
import type { Plan } from './plan.ts';

/**
 * CPU per request at full speed, by request size. Enough requests in flight that the measured core never
 * idles: waking an idle core costs a virtual machine more than a request does.
 */
function requestLane(request: Plan['request'], title: string, connections: number, max: number | null): Lane {
  const plan: Plan = { kind: 'json', request, answerBytes: 1_200 };
  const id = `cpu-${request}`;
  return {
    id,
    rows: [
      {
        metric: 'cpu',
        title: `CPU per request, ${title} body`,
        unit: 'µs',
        digits: 1,
        target: max === null ? null : { kind: 'ratio', max },
      },
      { metric: 'rate', title: `requests per second, ${title} body`, unit: '/s', digits: 0, target: null },
    ],
    plans: [plan],
    fresh: false,
    sides: all,
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      await load.loop(loopJob(side, plan, { connections, seconds: 10 * scale.seconds }));
    },
    async sample(side, context) {
      const job = loopJob(side, plan, { connections, seconds: context.scale.seconds });
      const { result, cpuMicros } = await measure(side, context, job);
      const values: Record<string, number> = { rate: result.completed / result.seconds };
      if (side.subject !== null) values['cpu'] = cpuMicros / result.completed;
      return values;
    },
  };
}

/** What translation costs: requests in Anthropic's format to a chat upstream, against relayed chat requests. */
function translatedLane(request: '1k' | '30k', title: string): Lane {
  const planOf = (side: Side): Plan => ({
    kind: 'json',
    request,
    answerBytes: 1_200,
    translated: side.name === 'gateway',
  });
  const connections = 64;
  return {
    id: `translated-${request}`,
    rows: [
      {
        metric: 'cpu',
        title: `translated, against relayed: CPU per request, ${title} body`,
        unit: 'µs',
        digits: 1,
        target: { kind: 'ratio', max: 2.5 },
      },
    ],
    plans: [],
    fresh: false,
    sides: both,
    againstRelay: true,
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      await load.loop(loopJob(side, planOf(side), { connections, seconds: 10 * scale.seconds }));
    },
    async sample(side, context) {
      const job = loopJob(side, planOf(side), { connections, seconds: context.scale.seconds });
      const { result, cpuMicros } = await measure(side, context, job);
      return { cpu: cpuMicros / result.completed };
    },
  };
}

/** The same for streams: every frame is read, understood and written anew. */
function translatedStreamLane(id: string, title: string, framesPerWrite: number): Lane {
  const planOf = (side: Side): Plan => ({
    kind: 'sse',
    request: '1k',
    frames: 500,
    intervalMs: 0,
    textBytes: 24,
    framesPerWrite,
    translated: side.name === 'gateway',
  });
  const connections = 8;
  return {
    id,
    rows: [
      {
        metric: 'cpu',
        title: `translated, against relayed: CPU per frame, ${title}`,
        unit: 'µs',
        digits: 2,
        target: { kind: 'ratio', max: 2.5 },
      },
    ],
    plans: [],
    fresh: false,
    sides: both,
    againstRelay: true,
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      await load.loop(loopJob(side, planOf(side), { connections, seconds: 10 * scale.seconds }));
    },
    async sample(side, context) {
      const job = loopJob(side, planOf(side), { connections, seconds: context.scale.seconds });
      const { result, cpuMicros } = await measure(side, context, job);
      return { cpu: cpuMicros / result.frames };
    },
  };
}

/** Latency with one request in flight; the direct figure is what the mock and the load generator take themselves. */
function latencyLane(): Lane {
  const plan: Plan = { kind: 'json', request: '30k', answerBytes: 1_200 };
  return {
    id: 'latency',
    rows: [
      { metric: 'p50', title: 'latency p50, 30 KB body, 1 in flight', unit: 'µs', digits: 0, target: null },
      { metric: 'p99', title: 'latency p99, 30 KB body, 1 in flight', unit: 'µs', digits: 0, target: null },
    ],
    plans: [plan],
    fresh: false,
    sides: all,
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      await load.loop(loopJob(side, plan, { connections: 1, seconds: scale.seconds / 2 }));
    },
    async sample(side, { load, scale }) {
      const { latency } = await load.loop(loopJob(side, plan, { connections: 1, seconds: scale.seconds }));
      return { ...latency };
    },
  };
}

/** Streams as fast as they go, 25 frames in a write: what an upstream's backlog costs. */
function burstLane(): Lane {
  const plan: Plan = {
    kind: 'sse',
    request: '1k',
    frames: 500,
    intervalMs: 0,
    textBytes: 24,
    framesPerWrite: 25,
  };
  return {
    id: 'burst',
    rows: [
      {
        metric: 'cpu',
        title: 'CPU per frame, burst',
        unit: 'µs',
        digits: 2,
        target: { kind: 'ratio', max: 1 },
      },
      { metric: 'rate', title: 'frames per second, burst', unit: '/s', digits: 0, target: null },
    ],
    plans: [plan],
    fresh: false,
    sides: both,
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      await load.loop(loopJob(side, plan, { connections: 8, seconds: 10 * scale.seconds }));
    },
    async sample(side, context) {
      const job = loopJob(side, plan, { connections: 8, seconds: context.scale.seconds });
      const { result, cpuMicros } = await measure(side, context, job);
      return { cpu: cpuMicros / result.frames, rate: result.frames / result.seconds };
    },
  };
}

/** 100 streams, each with one frame in 20 ms, as models write: every frame comes alone. */
function pacedLane(): Lane {
  const planFor = (seconds: number): Plan => ({
    kind: 'sse',
    request: '1k',
    frames: Math.max(5, Math.round(seconds * 50)),
    intervalMs: 20,
    textBytes: 24,
    framesPerWrite: 1,
  });
  const job = (side: Side, seconds: number) =>
    loopJob(side, planFor(seconds), { connections: 100, count: 100, seconds, spreadMs: 200 });
  return {
    id: 'paced',
    rows: [
      {
        metric: 'cpu',
        title: 'CPU per frame, 100 streams at 50/s',
        unit: 'µs',
        digits: 2,
        target: { kind: 'ratio', max: 1 },
      },
      { metric: 'first', title: 'first byte p50, 100 streams', unit: 'µs', digits: 0, target: null },
    ],
    plans: [],
    fresh: false,
    sides: both,
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      await load.loop(job(side, scale.seconds));
    },
    async sample(side, context) {
      const { result, cpuMicros } = await measure(side, context, job(side, 3 * context.scale.seconds));
      return { cpu: cpuMicros / result.frames, first: result.firstByte.p50 };
    },
  };
}

/** Resident memory of a new process: after one request, and with streams open that get one frame a second. */
function memoryLane(): Lane {
  const one: Plan = { kind: 'json', request: '1k', answerBytes: 1_200 };
  const held: Plan = {
    kind: 'sse',
    request: '1k',
    frames: 60,
    intervalMs: 1_000,
    textBytes: 24,
    framesPerWrite: 1,
  };
  return {
    id: 'memory',
    rows: [
      { metric: 'idle', title: 'memory when idle', unit: 'MB', digits: 1, target: null },
      {
        metric: 'open',
        title: 'memory with the streams open',
        unit: 'MB',
        digits: 1,
        target: { kind: 'ratio', max: 1.2 },
      },
      { metric: 'each', title: 'memory per open stream', unit: 'KB', digits: 1, target: null },
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

/** From exec to the last byte of the first answer. */
function coldLane(): Lane {
  const plan: Plan = { kind: 'json', request: '1k', answerBytes: 1_200 };
  return {
    id: 'cold',
    rows: [
      {
        metric: 'first',
        title: 'cold start to the first answer',
        unit: 'ms',
        digits: 0,
        target: { kind: 'added', max: 300 },
      },
      { metric: 'cpu', title: 'CPU of a cold start', unit: 'ms', digits: 0, target: null },
    ],
    plans: [plan],
    fresh: true,
    sides: both,
    rounds: (scale) => scale.coldStarts,
    async sample(side, { load }) {
      const { latency } = await load.loop(loopJob(side, plan, { connections: 1, count: 1, seconds: 10 }));
      const cpu = (await side.subject?.cpu()) ?? 0;
      return { first: (side.subject?.readyMs ?? 0) + latency.p50 / 1_000, cpu: cpu / 1_000 };
    },
  };
}

/** Fresh lanes first: they want the core for themselves. */
export const lanes: readonly Lane[] = [
  coldLane(),
  memoryLane(),
  requestLane('1k', '1 KB', 64, 1),
  requestLane('30k', '30 KB', 64, 1),
  requestLane('500k', '500 KB', 16, null),
  requestLane('1m', '1 MB', 16, 1.3),
  requestLane('8m', '8 MB', 8, 1.3),
  burstLane(),
  pacedLane(),
  latencyLane(),
  translatedLane('1k', '1 KB'),
  translatedLane('30k', '30 KB'),
  translatedStreamLane('translated-burst', 'burst', 25),
  translatedStreamLane('translated-single', 'a frame a write', 1),
];
