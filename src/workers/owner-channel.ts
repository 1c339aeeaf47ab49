import { buildOnDisk } from './build.ts';
import { type Answers, type Channel, createChannel } from './channel.ts';
import type {
  OwnerEvent,
  OwnerQuestions,
  WorkerEvent,
  WorkerQuestions,
  WorkerReady,
  WorkerStart,
} from './message.ts';
import { sizeOf } from './size.ts';

export type OwnerChannel = Channel<WorkerEvent, OwnerQuestions>;

export interface OwnerChannelInput {
  hear(event: OwnerEvent): void;
  answers: Answers<WorkerQuestions>;
  onError(error: unknown): void;
}

/** For how long what is told may wait for more. Messages have a price: fifty a second cost little. */
const TELL_MS = 20;

/**
 * What this process is to do, and the channel to the process that has started it.
 * @param gone called when that process has ended
 */
export async function receiveStart(
  gone: () => void,
): Promise<{ start: WorkerStart; connect(input: OwnerChannelInput): OwnerChannel }> {
  process.once('disconnect', gone);
  const start = await new Promise<WorkerStart>((resolve) => {
    process.once('message', (message: { start: WorkerStart }) => resolve(message.start));
    const ready: WorkerReady = { build: buildOnDisk() };
    process.send?.(ready, undefined, undefined, () => {});
  });
  return {
    start,
    connect(input) {
      const channel: OwnerChannel = createChannel({
        ...input,
        delayMs: TELL_MS,
        sizeOf,
        isUrgent,
        send(message, taken) {
          // It fails when the owner is gone, which ends this process anyway.
          if (process.connected) process.send?.(message, undefined, undefined, taken);
        },
      });
      process.on('message', channel.receive);
      return channel;
    },
  };
}

/** What decides over the next request, which may follow at another worker, and what has waited already. */
function isUrgent(event: WorkerEvent): boolean {
  switch (event.kind) {
    case 'health-state':
    case 'session':
    // They were gathered for some milliseconds.
    case 'finished':
    case 'access-logged':
      return true;
    case 'settled':
      return event.isMore;
    default:
      return false;
  }
}
