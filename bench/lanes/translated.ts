import { both, type Lane, loopJob, measure, type Side } from '../lane.ts';
import { type Format, formats, type Plan } from '../plan.ts';

const target = { kind: 'ratio', max: 2 } as const;

/** What translation costs: requests of one format to an upstream of another, against the same requests relayed. */
function translatedLane(client: Format, upstream: Format, request: '1k' | '30k' | '300k'): Lane {
  const planOf = (side: Side): Plan => ({
    kind: 'json',
    client,
    upstream: side.relays ? client : upstream,
    request,
    modelAt: 'first',
    answerBytes: 1_200,
  });
  const connections = request === '300k' ? 16 : 64;
  return {
    id: `translated-${client}-${upstream}-${request}`,
    rows: [
      {
        metric: 'cpu',
        title: `CPU per request, ${client} to ${upstream}, ${request.slice(0, -1)} KB body`,
        unit: 'µs',
        digits: 1,
        target,
      },
    ],
    plans: [],
    fresh: false,
    sides: both,
    againstRelay: true,
    onDemand: client !== 'messages' || upstream !== 'chat',
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      await load.loop(loopJob(side, planOf(side), { connections, seconds: 0, count: scale.warmUp }));
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
    client: side.relays ? 'chat' : 'messages',
    upstream: 'chat',
    request: '1k',
    modelAt: 'first',
    frames: 500,
    intervalMs: 0,
    textBytes: 24,
    framesPerWrite,
  });
  const connections = 8;
  return {
    id,
    rows: [
      {
        metric: 'cpu',
        title: `CPU per frame, messages from chat, ${title}`,
        unit: 'µs',
        digits: 2,
        target,
      },
    ],
    plans: [],
    fresh: false,
    sides: both,
    againstRelay: true,
    rounds: (scale) => scale.rounds,
    async warmUp(side, { load, scale }) {
      const count = Math.ceil(scale.warmUp / 40);
      await load.loop(loopJob(side, planOf(side), { connections, seconds: 0, count }));
    },
    async sample(side, context) {
      const job = loopJob(side, planOf(side), { connections, seconds: context.scale.seconds });
      const { result, cpuMicros } = await measure(side, context, job);
      return { cpu: cpuMicros / result.frames };
    },
  };
}

const pairs = formats.flatMap((client) =>
  formats.filter((upstream) => upstream !== client).map((upstream) => [client, upstream] as const),
);

export const translatedLanes: readonly Lane[] = [
  translatedLane('messages', 'chat', '1k'),
  ...pairs.flatMap(([client, upstream]) => [
    translatedLane(client, upstream, '30k'),
    translatedLane(client, upstream, '300k'),
  ]),
  translatedStreamLane('translated-burst', 'burst', 25),
  translatedStreamLane('translated-single', 'a frame a write', 1),
];
