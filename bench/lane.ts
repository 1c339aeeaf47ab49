import type { HoldJob, HoldResult, LoadMessage, LoopJob, LoopResult } from './load.ts';
import { type Format, type Plan, planName } from './plan.ts';
import type { Subject } from './subject.ts';

/** One who answers the load generator: the mock itself, the bare pass-through, or the gateway. */
export type SideName = 'direct' | 'peer' | 'gateway';

export interface Side {
  name: SideName;
  port: number;
  /** Null for the mock, which is not measured. */
  subject: Subject | null;
  headers: Readonly<Record<string, string>>;
  /** What stands before the plan in the model id, by the format of the upstream; null where there is no gateway. */
  modelPrefixes: Readonly<Record<Format, string>> | null;
  /** True for a gateway that is the measure of another one's translation: it gets the same requests to relay. */
  relays: boolean;
}

export interface Load {
  loop(job: LoopJob): Promise<LoopResult>;
  hold(job: HoldJob): Promise<{ held: HoldResult; release(): Promise<void> }>;
}

/** Sizes of one run. */
export interface Scale {
  rounds: number;
  seconds: number;
  /** Requests before the first sample of a process where the compiler needs so many, however long they take. */
  warmUp: number;
  /** Streams held open for the memory lane. */
  streams: number;
  coldStarts: number;
}

export interface LaneContext {
  load: Load;
  scale: Scale;
}

/** `ratio`: at most `max` times the pass-through. `added`: at most `max` units more than it. */
export type Target = { kind: 'ratio' | 'added'; max: number };

export interface Row {
  metric: string;
  title: string;
  unit: string;
  digits: number;
  target: Target | null;
}

export interface Lane {
  id: string;
  rows: readonly Row[];
  plans: readonly Plan[];
  /** A new process for every sample instead of one that stays. */
  fresh: boolean;
  /** False for a gateway whose compiled code no earlier start has kept. */
  compiled?: false;
  sides: readonly SideName[];
  /** The peer of this lane is another gateway, which relays. */
  againstRelay?: boolean;
  /** Not part of a run that does not name it. */
  onDemand?: boolean;
  rounds(scale: Scale): number;
  warmUp?(side: Side, context: LaneContext): Promise<void>;
  sample(side: Side, context: LaneContext): Promise<Record<string, number>>;
}

function pathOf({ client, kind }: Plan, model: string): string {
  if (client === 'chat') return '/v1/chat/completions';
  if (client !== 'gemini') return `/v1/${client}`;
  return `/v1beta/models/${model}:${kind === 'json' ? 'generateContent' : 'streamGenerateContent?alt=sse'}`;
}

export const both: readonly SideName[] = ['peer', 'gateway'];
export const all: readonly SideName[] = ['direct', ...both];

export function createLoad(process: Subject['process']): Load {
  function answer(message: LoadMessage): Promise<LoopResult | HoldResult> {
    const { promise, resolve, reject } = Promise.withResolvers<LoopResult | HoldResult>();
    const ended = () => reject(new Error('the load generator ended'));
    process.once('exit', ended);
    process.once('message', (result) => {
      process.off('exit', ended);
      resolve(result as LoopResult | HoldResult);
    });
    process.send(message);
    return promise;
  }
  return {
    async loop(job) {
      const result = await answer(job);
      if (result.kind !== 'loop') throw new Error('the load generator answered another job');
      check(job, result);
      return result;
    },
    async hold(job) {
      const held = await answer(job);
      if (held.kind !== 'held') throw new Error('the load generator answered another job');
      check(job, held);
      return {
        held,
        async release() {
          check(job, await answer({ kind: 'release' }));
        },
      };
    },
  };
}

/** A wrong, short or refused answer fails the lane: a figure of a broken path is worth nothing. */
function check(job: LoopJob | HoldJob, result: LoopResult | HoldResult): void {
  if (result.failed === 0) return;
  throw new Error(`${result.failed} answers failed on ${job.model}: ${result.reasons.join('; ')}`);
}

export function loopJob(
  side: Side,
  plan: Plan,
  rest: Pick<LoopJob, 'connections' | 'seconds' | 'count' | 'spreadMs'>,
): LoopJob {
  const name = planName(plan);
  const model = (side.modelPrefixes?.[plan.upstream] ?? '') + name;
  const base = { port: side.port, path: pathOf(plan, model), headers: side.headers, plan: name, model };
  return { kind: 'loop', ...base, ...rest };
}

export interface Measurement {
  result: LoopResult;
  cpuMicros: number;
}

export async function measure(side: Side, { load }: LaneContext, job: LoopJob): Promise<Measurement> {
  const before = (await side.subject?.cpu()) ?? 0;
  const result = await load.loop(job);
  const after = (await side.subject?.cpu()) ?? 0;
  return { result, cpuMicros: after - before };
}
