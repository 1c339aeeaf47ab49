import { all, both, type Lane, loopJob, measure } from '../lane.ts';
import type { Format, Plan, RequestSize } from '../plan.ts';

const sizes: Readonly<Record<RequestSize, { title: string; connections: number; max: number }>> = {
  '1k': { title: '1 KB', connections: 64, max: 1 },
  '30k': { title: '30 KB', connections: 64, max: 1 },
  '300k': { title: '300 KB', connections: 16, max: 1 },
  '1m': { title: '1 MB', connections: 16, max: 1.15 },
  '8m': { title: '8 MB', connections: 8, max: 1.15 },
};

/**
 * CPU per relayed request at full speed. Enough requests in flight that the measured core never idles: waking an idle
 * core costs a virtual machine more than a request does.
 */
function requestLane(format: Format, request: RequestSize, modelAt: Plan['modelAt']): Lane {
  const { connections, max, title } = sizes[request];
  const plan: Plan = { kind: 'json', client: format, upstream: format, request, modelAt, answerBytes: 1_200 };
  const usual = format === 'chat' && modelAt === 'first';
  const end = modelAt === 'first' ? '' : ', model last';
  const what = `${format}, ${title} body${end}`;
  return {
    id: `relayed-${format}-${request}${modelAt === 'first' ? '' : '-last'}`,
    rows: [
      {
        metric: 'cpu',
        title: `CPU per request, ${what}`,
        unit: 'µs',
        digits: 1,
        target: { kind: 'ratio', max },
      },
      { metric: 'rate', title: `requests per second, ${what}`, unit: '/s', digits: 0, target: null },
    ],
    plans: [plan],
    fresh: false,
    sides: usual ? all : both,
    onDemand: !usual,
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

/** Latency with one request in flight; the direct figure is what the mock and the load generator take themselves. */
function latencyLane(): Lane {
  const plan: Plan = {
    kind: 'json',
    client: 'chat',
    upstream: 'chat',
    request: '30k',
    modelAt: 'first',
    answerBytes: 1_200,
  };
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

const agentFormats: readonly Format[] = ['chat', 'messages', 'responses'];
const agentSizes: readonly RequestSize[] = ['1k', '30k', '300k', '1m'];

export const requestLanes: readonly Lane[] = [
  ...agentFormats.flatMap((format) =>
    agentSizes.flatMap((size) => [requestLane(format, size, 'first'), requestLane(format, size, 'last')]),
  ),
  requestLane('chat', '8m', 'first'),
  latencyLane(),
];
