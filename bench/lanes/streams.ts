import { both, type Lane, loopJob, measure, type Side } from '../lane.ts';
import type { Plan } from '../plan.ts';

/** Streams as fast as they go, 25 frames in a write: what an upstream's backlog costs. */
function burstLane(): Lane {
  const plan: Plan = {
    kind: 'sse',
    client: 'chat',
    upstream: 'chat',
    request: '1k',
    modelAt: 'first',
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
    client: 'chat',
    upstream: 'chat',
    request: '1k',
    modelAt: 'first',
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

export const streamLanes: readonly Lane[] = [burstLane(), pacedLane()];
