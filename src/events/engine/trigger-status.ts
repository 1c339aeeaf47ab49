import type { GateStatus } from '../strategies/gate.ts';
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

/** How a trigger is doing, with what waits for it in its channels. */
export async function triggerStatus({
  consumers,
  context,
  definition,
}: RunningTrigger): Promise<TriggerStatus> {
  const { activity, gate } = context;
  const { id } = definition.trigger;
  const each = [...consumers.values()].map(async ({ channel, channelId, consumer }) => {
    const { waiting } = await channel.depth(id).catch(() => ({ waiting: null }));
    return { channel: channelId, waiting, ...consumer.status() };
  });
  return {
    id,
    paused: activity.paused(),
    counters: activity.counters,
    lastError: activity.lastError,
    gate: gate.status(),
    consumers: await Promise.all(each),
  };
}
