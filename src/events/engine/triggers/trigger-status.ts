import type { GateStatus } from '../../strategies/gate.ts';
import type { ConsumerStatus } from './consumer.ts';
import type { RunningTrigger } from './running-trigger.ts';
import type { LastError, Pause, TriggerCounters } from './trigger-activity.ts';

export interface TriggerStatus {
  readonly id: string;
  /** Null: it is not paused. */
  readonly paused: Pause | null;
  readonly counters: Readonly<TriggerCounters>;
  readonly lastError: LastError | null;
  readonly gate: GateStatus;
  readonly consumers: readonly (ConsumerStatus & {
    /** The id of a channel, or `replays` for dead letters that are handled again. */
    readonly channel: string;
    /** Messages that were not received yet; null where the channel cannot tell. */
    readonly waiting: number | null;
  })[];
}

/** How long a channel may take to tell what waits in it. Its message queue may be down. */
const DEPTH_MS = 2_000;

/** How a trigger is doing, with what waits for it in its channels. Never throws. */
export async function triggerStatus({
  consumers,
  context: { activity, gate },
  definition,
}: RunningTrigger): Promise<TriggerStatus> {
  const { id } = definition.trigger;
  const each = [...consumers.values()].map(async ({ channel, channelId, consumer }) => ({
    channel: channelId,
    waiting: await withinTime(channel.depth(id).then(({ waiting }) => waiting)),
    ...withoutStack(consumer.status()),
  }));
  return {
    id,
    paused: activity.paused(),
    counters: activity.counters,
    lastError: activity.lastError,
    gate: gate.status(),
    consumers: await Promise.all(each),
  };
}

/** @returns null for what fails or takes too long */
async function withinTime(asked: Promise<number | null>): Promise<number | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), DEPTH_MS);
  });
  try {
    return await Promise.race([asked.catch(() => null), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The log has where an error came from. */
function withoutStack({ channelError, ...status }: ConsumerStatus): ConsumerStatus {
  return { ...status, channelError: channelError?.split('\n', 1)[0] ?? null };
}
