import type { CloudEvent } from '../cloudevents/event.ts';

export interface Failure {
  readonly reason: 'exhausted' | 'nonretryable';
  readonly trigger: string;
  readonly channel: string;
  readonly attempts: number;
  readonly status: number | null;
  readonly error: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

const LONGEST_ERROR = 1_024;

/** The event, unchanged but for the extensions that tell why nobody got it. */
export function deadLetterOf({ attributes, data }: CloudEvent, failure: Failure): CloudEvent {
  const { at, attempts, channel, error, reason, status, trigger } = failure;
  return {
    attributes: {
      ...attributes,
      dlreason: reason,
      dltrigger: trigger,
      dlchannel: channel,
      dlattempts: attempts,
      ...(status === null ? {} : { dlstatus: status }),
      dlerror: error.slice(0, LONGEST_ERROR),
      dltime: new Date(at).toISOString(),
    },
    data,
  };
}
